// What classes of managed objects override, and making their objects without knowing their initialisers.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// The classes of managed objects as they lie in memory; `ClassSearch` finds them.
enum ManagedObjectClasses {
    /// The word of `NSManagedObject`'s designated initialiser in class metadata.
    static let initializerSlot = overriddenWord(in: InitializerProbe.self)
    private static let awakeFromFetchSlot = overriddenWord(in: AwakeProbe.self, besides: initializerSlot)

    /// Whether a class leaves `awakeFromFetch` as `NSManagedObject` has it, so that nobody needs to call it.
    static func inheritsAwakeFromFetch(_ type: NSManagedObject.Type) -> Bool {
        guard let slot = awakeFromFetchSlot else { return false }
        return words(type)[slot] == words(NSManagedObject.self)[slot]
    }

    /// Whether a class leaves the checking of single values as `NSManagedObject` has it.
    static func inheritsValidation(_ type: NSManagedObject.Type) -> Bool {
        validationSlots.allSatisfy { slot in
            slot.map { words(type)[$0] == words(NSManagedObject.self)[$0] } ?? (type == NSManagedObject.self)
        }
    }

    private static let validationSlots = [
        overriddenWord(in: ValueProbe.self, besides: initializerSlot),
        overriddenWord(in: PropertyProbe.self, besides: initializerSlot),
    ]

    private static let updateSlot = overriddenWord(in: UpdateProbe.self, besides: initializerSlot)

    /// Whether a class leaves `validateForUpdate` as `NSManagedObject` has it.
    static func inheritsUpdateValidation(_ type: NSManagedObject.Type) -> Bool {
        updateSlot.map { words(type)[$0] == words(NSManagedObject.self)[$0] } ?? (type == NSManagedObject.self)
    }

    private static let (readingSlot, writingSlot) = (
        overriddenWord(in: ReadingProbe.self, besides: initializerSlot),
        overriddenWord(in: WritingProbe.self, besides: initializerSlot)
    )

    /// Whether a class leaves `value(forKey:)` as `NSManagedObject` has it.
    static func inheritsReading(_ type: NSManagedObject.Type) -> Bool {
        readingSlot.map { words(type)[$0] == words(NSManagedObject.self)[$0] } ?? (type == NSManagedObject.self)
    }

    /// Whether a class leaves `setValue(_:forKey:)` as `NSManagedObject` has it.
    static func inheritsWriting(_ type: NSManagedObject.Type) -> Bool {
        writingSlot.map { words(type)[$0] == words(NSManagedObject.self)[$0] } ?? (type == NSManagedObject.self)
    }

    private static func words(_ type: NSManagedObject.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type as AnyClass, to: UnsafePointer<UInt>.self)
    }

    /// The only word of the vtable in which a class that overrides one member differs from `NSManagedObject`.
    ///
    /// Class metadata on Linux: kind, superclass, flags and address point, sizes, class size and address point, descriptor,
    /// destroyer, then fields and vtable.
    ///
    /// - Parameter initializer: the word of the inherited initialiser, which an optimised build makes anew for each class.
    private static func overriddenWord(in probe: NSManagedObject.Type, besides initializer: Int? = nil) -> Int? {
        let base = words(NSManagedObject.self)
        let size = Int(base[4] & 0xffff_ffff) - Int(base[4] >> 32)
        let differing = (7..<size / 8).filter { base[$0] != words(probe)[$0] && $0 != initializer }
        return differing.count == 1 ? differing[0] : nil
    }

    private final class InitializerProbe: NSManagedObject {
        override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
        }
    }

    /// What probes throw: a body that only called `super` would be folded into the original by the optimiser.
    private enum ProbeError: Error { case called }

    private final class ValueProbe: NSManagedObject {
        override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
            throw ProbeError.called
        }
    }

    private final class PropertyProbe: NSManagedObject {
        override func validateProperty(_ key: String, value: UnsafeMutablePointer<AnyObject?>) throws {
            throw ProbeError.called
        }
    }

    private final class UpdateProbe: NSManagedObject {
        override func validateForUpdate() throws { throw ProbeError.called }
    }

    private final class ReadingProbe: NSManagedObject {
        override func value(forKey key: String) -> Any? { key }
    }

    private final class WritingProbe: NSManagedObject {
        override func setValue(_ value: Any?, forKey key: String) { misuse(key) }
    }

    private final class AwakeProbe: NSManagedObject {
        override func awakeFromFetch() { super.awakeFromFetch() }
    }
}

/// Calls `init(entity:insertInto: nil)` of a subclass.
///
/// A `required` initialiser would break subclasses that declare others, so the designated one is called through its place in
/// the class's vtable (Decisions/0001).
struct ClassInitializer {
    private let function: UnsafeMutableRawPointer
    private let metadata: UnsafeMutableRawPointer

    init(_ type: NSManagedObject.Type) {
        let words = unsafeBitCast(type as AnyClass, to: UnsafeMutablePointer<UnsafeMutableRawPointer?>.self)
        guard let slot = ManagedObjectClasses.initializerSlot, let function = words[slot] else {
            misuse(
                "This Swift runtime lays classes out in a way CoreData does not know; "
                    + "\(type) cannot be made from a fetch.")
        }
        self.function = function
        metadata = UnsafeMutableRawPointer(words)
    }

    @inline(__always)
    func make(_ description: NSEntityDescription) -> NSManagedObject { make(.passRetained(description)) }

    /// The same with a context to insert the object into; it comes retained.
    @inline(__always)
    func make(_ description: NSEntityDescription, in context: NSManagedObjectContext) -> UnsafeMutableRawPointer {
        let description = Unmanaged.passRetained(description).toOpaque()
        let context = Unmanaged.passRetained(context).toOpaque()
        guard let object = coredata_call_initializer(function, description, context, metadata) else {
            misuse("init(entity:insertInto:) answered nothing.")
        }
        return object
    }

    /// - Parameter description: retained for the initialiser, which consumes it.
    @inline(__always)
    func make(_ description: Unmanaged<NSEntityDescription>) -> NSManagedObject {
        let object = coredata_call_initializer(function, description.toOpaque(), nil, metadata)
        guard let object else { misuse("init(entity:insertInto:) answered nothing.") }
        return Unmanaged<NSManagedObject>.fromOpaque(object).takeRetainedValue()
    }
}
