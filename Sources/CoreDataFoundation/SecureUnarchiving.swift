// Transformers that come with the framework: secure archives, and Codable values.

import CoreDataValues
import Foundation

/// Turns archives of `NSKeyedArchiver` into objects and, in reverse, objects into archives.
///
/// What transformable attributes use unless they name another. Archives of arrays, dictionaries, sets, texts, numbers, dates, data,
/// URLs and UUIDs are read and written here, those of other classes by Foundation. A subclass names the classes that it
/// allows. Data that is damaged or holds another class answers nil; of a class that Foundation reads, Foundation decides.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, ExplainingTransformer {
    private enum Allowance {
        case own
        case also([AnyClass])
        case any
    }
    /// Set once, before anyone else knows the instance.
    private var allowance = Allowance.own

    public override init() { super.init() }

    /// - Parameter classes: the classes to allow beside those of property lists; nil for any with secure coding.
    package static func allowing(_ classes: [AnyClass]?) -> NSSecureUnarchiveFromDataTransformer {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        transformer.allowance = classes.map { .also($0) } ?? .any
        return transformer
    }

    /// The classes that an archived object, and objects inside it, may be of. Subclasses add theirs.
    open class var allowedTopLevelClasses: [AnyClass] { KeyedArchive.plain }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }
    open override class func allowsReverseTransformation() -> Bool { true }

    private var allowed: [AnyClass]? {
        switch allowance {
        case .own: Self.allowedTopLevelClasses
        case .also(let others): Self.allowedTopLevelClasses + others
        case .any: nil
        }
    }

    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = Self.data(value) else { return nil }
        return try? KeyedArchive.value(of: data, allowing: allowed)
    }

    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value = KeyValue.unwrapped(value) else { return nil }
        return try? archive(of: value)
    }

    /// What could not be read again is not written.
    private func archive(of value: Any) throws(ArchiveError) -> Data {
        let data = try KeyedArchive.data(of: value)
        try KeyedArchive.check(data, allowing: allowed)
        return data
    }

    package func flaw(of value: Any) -> String? {
        do throws(ArchiveError) {
            _ = try archive(of: value)
            return nil
        } catch { return error.sentence }
    }

    package func flaw(ofData data: Data) -> String? {
        do throws(ArchiveError) {
            _ = try KeyedArchive.value(of: data, allowing: allowed)
            return nil
        } catch { return error.sentence }
    }

    static func data(_ value: Any?) -> Data? {
        guard let value = KeyValue.unwrapped(value), case .data(let data)? = Value(any: value) else { return nil }
        return data
    }
}

/// Keeps values of one `Codable` type in a transformable attribute, as JSON.
///
///     ValueTransformer.setValueTransformer(CodableTransformer<[Tag]>(), forName: NSValueTransformerName("Tags"))
///
/// Equal values of texts, numbers, Booleans, dates, data, UUIDs and URLs, of arrays of such and of dictionaries by texts give equal
/// bytes; of other types a subclass may say so. Numbers that are not finite have no JSON and are refused.
open class CodableTransformer<Wrapped: Codable>: ValueTransformer, ExplainingTransformer {
    public override init() { super.init() }

    open override class func transformedValueClass() -> AnyClass { NSData.self }
    open override class func allowsReverseTransformation() -> Bool { true }
    open override class func givesEqualDataForEqualValues() -> Bool {
        (Wrapped.self as? any PlainlyCoded.Type)?.isPlainlyCoded ?? false
    }

    open override func transformedValue(_ value: Any?) -> Any? {
        guard let value = KeyValue.unwrapped(value) as? Wrapped else { return nil }
        return try? encoded(value)
    }

    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = NSSecureUnarchiveFromDataTransformer.data(value) else { return nil }
        return try? JSONDecoder().decode(Wrapped.self, from: data)
    }

    private func encoded(_ value: Wrapped) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(value)
    }

    package func flaw(of value: Any) -> String? {
        guard let value = value as? Wrapped else { return "It holds \(Wrapped.self), not \(type(of: value))." }
        do {
            _ = try encoded(value)
            return nil
        } catch { return "\(error)" }
    }

    package func flaw(ofData data: Data) -> String? {
        do {
            _ = try JSONDecoder().decode(Wrapped.self, from: data)
            return nil
        } catch { return "\(error)" }
    }
}

/// A type whose equal values have the same JSON, keys being sorted.
private protocol PlainlyCoded {
    static var isPlainlyCoded: Bool { get }
}

extension PlainlyCoded {
    static var isPlainlyCoded: Bool { true }
    fileprivate static func isPlain(_ type: Any.Type) -> Bool {
        (type as? any PlainlyCoded.Type)?.isPlainlyCoded ?? false
    }
}

extension String: PlainlyCoded {}
extension Bool: PlainlyCoded {}
extension Int: PlainlyCoded {}
extension Int16: PlainlyCoded {}
extension Int32: PlainlyCoded {}
extension Int64: PlainlyCoded {}
extension Double: PlainlyCoded {}
extension Float: PlainlyCoded {}
extension Date: PlainlyCoded {}
extension Data: PlainlyCoded {}
extension UUID: PlainlyCoded {}
extension URL: PlainlyCoded {}
extension Optional: PlainlyCoded {
    static var isPlainlyCoded: Bool { isPlain(Wrapped.self) }
}
extension Array: PlainlyCoded {
    static var isPlainlyCoded: Bool { isPlain(Element.self) }
}
extension Dictionary: PlainlyCoded {
    static var isPlainlyCoded: Bool { Key.self == String.self && isPlain(Value.self) }
}
