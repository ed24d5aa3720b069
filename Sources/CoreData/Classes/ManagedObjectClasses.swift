// Tells what managed object classes override, and where class metadata has their initialisers.

import CoreDataValues
import Foundation

/// The class metadata of managed objects.
enum ManagedObjectClasses {
    /// The index of `NSManagedObject`'s designated initialiser in class metadata.
    static let initializerSlot = overriddenWord(in: InitializerProbe.self)
    private static let awakeFromFetchSlot = overriddenWord(in: AwakeProbe.self, besides: initializerSlot)

    /// Whether a class does not override `awakeFromFetch`, so that it need not be called.
    static func inheritsAwakeFromFetch(_ type: NSManagedObject.Type) -> Bool {
        guard let slot = awakeFromFetchSlot else { return false }
        return words(type)[slot] == words(NSManagedObject.self)[slot]
    }

    /// Whether a class does not override the validation of single values.
    static func inheritsValidation(_ type: NSManagedObject.Type) -> Bool {
        validationSlots.allSatisfy { inherits($0, type) }
    }

    private static let validationSlots = [
        overriddenWord(in: ValueProbe.self, besides: initializerSlot),
        overriddenWord(in: PropertyProbe.self, besides: initializerSlot),
    ]

    private static let updateSlot = overriddenWord(in: UpdateProbe.self, besides: initializerSlot)

    /// Whether a class does not override `validateForUpdate`.
    static func inheritsUpdateValidation(_ type: NSManagedObject.Type) -> Bool {
        inherits(updateSlot, type)
    }

    private static let (readingSlot, writingSlot) = (
        overriddenWord(in: ReadingProbe.self, besides: initializerSlot),
        overriddenWord(in: WritingProbe.self, besides: initializerSlot)
    )

    /// Whether a class leaves `value(forKey:)` as `NSManagedObject` has it.
    static func inheritsReading(_ type: NSManagedObject.Type) -> Bool {
        inherits(readingSlot, type)
    }

    /// Whether a class leaves `setValue(_:forKey:)` as `NSManagedObject` has it.
    static func inheritsWriting(_ type: NSManagedObject.Type) -> Bool {
        inherits(writingSlot, type)
    }

    /// Whether a class has what `NSManagedObject` has at an index; where the index is not known, only `NSManagedObject` itself has.
    private static func inherits(_ slot: Int?, _ type: NSManagedObject.Type) -> Bool {
        slot.map { words(type)[$0] == words(NSManagedObject.self)[$0] } ?? (type == NSManagedObject.self)
    }

    private static func words(_ type: NSManagedObject.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(type as AnyClass, to: UnsafePointer<UInt>.self)
    }

    /// The index of the only vtable word by which a class that overrides one member differs from `NSManagedObject`.
    ///
    /// Class metadata on Linux: kind, superclass, flags and address point, sizes, class size and address point,
    /// descriptor, destroyer, then fields and vtable.
    ///
    /// - Parameter initializer: the word of the inherited initialiser, which an optimised build emits for each class.
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

    /// Thrown by probes: the optimiser would merge a body that only calls `super` with the original.
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
