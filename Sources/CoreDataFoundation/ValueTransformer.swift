// Value transformers, which Foundation on Linux lacks: from a value to another form and back, found by name.

import CoreDataValues
import Foundation
import Synchronization

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }

    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Lets an initialiser answer an instance that is there already.
public protocol TransformerMaking {}

extension TransformerMaking {
    init?(registered make: () -> ValueTransformer?) {
        guard let made = make() as? Self else { return nil }
        self = made
    }
}

/// Turns values into others, and back where it can.
///
/// A transformable attribute names one. Register an instance under that name before the first object is read or saved. Instances
/// are used from all contexts at once: they must not change.
open class ValueTransformer: NSObject, TransformerMaking {
    private struct Registered: @unchecked Sendable { let transformer: ValueTransformer }
    private struct Registry {
        var named: [String: Registered]
        /// Those that were found by the names of their classes.
        var byClass: [String: Registered] = [:]

        /// Of several of one class the one whose name the class's begins with, as `NSSecureUnarchiveFromDataTransformer` does. A
        /// constant's name that was taken for its value (`…TransformerName`) is understood.
        @inline(never)
        mutating func find(_ name: String) -> Registered? {
            let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
            let ofClass = named.sorted { $0.key < $1.key }.filter { _, entry in
                let type = type(of: entry.transformer)
                return String(describing: type) == bare || String(reflecting: type) == bare
            }
            let constant =
                bare.hasSuffix("TransformerName") ? named[String(bare.dropLast("TransformerName".count))] : nil
            let found = (ofClass.first { bare.hasPrefix($0.key) } ?? ofClass.first)?.value ?? constant
            byClass[name] = found
            return found
        }
    }
    private static let registry = Mutex(Registry(named: ValueTransformer.supplied))

    private static var supplied: [String: Registered] {
        [
            "NSNegateBoolean": Registered(transformer: NegateBoolean()),
            "NSIsNil": Registered(transformer: NilTest(wanted: true)),
            "NSIsNotNil": Registered(transformer: NilTest(wanted: false)),
            "NSUnarchiveFromData": Registered(transformer: NSSecureUnarchiveFromDataTransformer.allowing(nil)),
            "NSKeyedUnarchiveFromData": Registered(transformer: NSSecureUnarchiveFromDataTransformer.allowing(nil)),
            "NSSecureUnarchiveFromData": Registered(transformer: NSSecureUnarchiveFromDataTransformer()),
        ]
    }

    public override init() { super.init() }

    /// The transformer registered under a name, nil when there is none.
    public convenience init?(forName name: NSValueTransformerName) {
        self.init(registered: { ValueTransformer.registered(name.rawValue) })
    }

    /// The transformer of a name, else a registered one whose class is called so, with or without its module.
    package static func registered(_ name: String) -> ValueTransformer? {
        registry.withLock { $0.named[name] ?? $0.byClass[name] ?? $0.find(name) }?.transformer
    }

    /// Registers a transformer, in the place of a former one; nil takes the name away.
    open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        let entry = transformer.map { Registered(transformer: $0) }
        ValueTransformer.registry.withLock { registry in
            registry.named[name.rawValue] = entry
            registry.byClass = [:]
        }
    }

    open class func valueTransformerNames() -> [NSValueTransformerName] {
        ValueTransformer.registry.withLock { $0.named.keys.sorted() }.map { NSValueTransformerName($0) }
    }

    /// The class of what `transformedValue(_:)` answers.
    open class func transformedValueClass() -> AnyClass { NSObject.self }
    /// Whether `reverseTransformedValue(_:)` can be asked.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Whether the data of equal values are equal, of every process that writes the store. Then predicates compare stored bytes, by an index
    /// where there is one; else each row's value is made and compared. Ours.
    open class func givesEqualDataForEqualValues() -> Bool { false }

    /// The value in its other form; nil when it has none.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// The value of another form; nil when it stands for none.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        guard Self.allowsReverseTransformation() else {
            misuse("\(Self.self) does not allow the reverse transformation.")
        }
        return transformedValue(value)
    }
}

/// What a transformer can say about a failure beyond answering nil.
package protocol ExplainingTransformer: ValueTransformer {
    /// Why the value has no data.
    func flaw(of value: Any) -> String?
    /// Why the data stands for no value.
    func flaw(ofData data: Data) -> String?
}

private final class NegateBoolean: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: !((value as? NSNumber)?.boolValue ?? value as? Bool ?? false))
    }
}

private final class NilTest: ValueTransformer {
    private let wanted: Bool
    init(wanted: Bool) {
        self.wanted = wanted
        super.init()
    }
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: (KeyValue.unwrapped(value) == nil) == wanted)
    }
}
