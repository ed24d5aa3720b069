// What an object answers to a key path that is read for its keys.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An answer that is recognised when it comes out of the key path.
enum StandIn {
    case value(Value)
    case object(NSManagedObject)
    case members([NSManagedObject])
    /// The value of a transformable attribute.
    case live(Any)
    case nothing

    /// Whether a result is this answer itself: unwrapped, an enumeration by its raw value.
    func isSame(as result: Any?) -> Bool {
        guard let result = KeyValue.unwrapped(result) else { return false }
        switch self {
        case .value(let value):
            return Value(any: KeyValue.rawValue(result)).map { StandIn.isSame($0, as: value) } ?? false
        case .object(let object): return (result as? NSManagedObject) === object
        case .members(let members):
            return StandIn.members(of: result).map { $0 == members || Set($0) == Set(members) } ?? false
        case .live(let value):
            if type(of: value) is AnyClass { return (value as AnyObject) === (result as AnyObject) }
            return (value as? AnyHashable).map { $0 == result as? AnyHashable } ?? false
        case .nothing: return false
        }
    }

    /// Whether a result is the number of these members.
    func isCount(_ result: Any?) -> Bool {
        guard case .members(let members) = self, let result = KeyValue.unwrapped(result) else { return false }
        return Value(any: result) == .int(Int64(members.count))
    }

    /// Scalar properties give numbers for Booleans and dates, and wider ones for integers.
    private static func isSame(_ result: Value, as given: Value) -> Bool {
        switch (result, given) {
        case (.int(let number), .bool(let flag)): number == (flag ? 1 : 0)
        case (.double(let number), .date(let seconds)): number == seconds
        case (.double(let number), .int(let integer)): number == Double(integer)
        case (_, _): result == given
        }
    }

    private static func members(of result: Any) -> [NSManagedObject]? {
        switch result {
        case let set as NSSet: set.allObjects.map { $0 as? NSManagedObject }.allOrNone()
        case let set as NSOrderedSet: (0..<set.count).map { set.object(at: $0) as? NSManagedObject }.allOrNone()
        case let set as Set<NSManagedObject>: Array(set)
        case let array as [NSManagedObject]: array
        default: nil
        }
    }
}

extension Array {
    /// The things in the optionals, nil if one is nil.
    fileprivate func allOrNone<Wrapped>() -> [Wrapped]? where Element == Wrapped? {
        let present = compactMap { $0 }
        return present.count == count ? present : nil
    }
}

extension KeyPathReading {
    private var isFirst: Bool { turn != .second }

    /// What stands for the value of an attribute: one that a getter rarely leaves as it is unless it hands it on, and that fits
    /// small integers, texts that must be URLs, and the cases of the enumeration that the path leads to.
    func value(of kind: SlotKind) -> StandIn {
        let cases = rawValues(ofCases: valueType).compactMap { Value(any: $0) }.filter { StandIn.fits($0, kind) }
        if cases.count > 1 { return .value(isFirst ? cases[0] : cases[1]) }
        switch kind {
        case .int: return .value(.int(isFirst ? 107 : 113))
        case .bool: return .value(.bool(isFirst))
        case .double, .float: return .value(.double(isFirst ? 107.25 : 113.75))
        case .date: return .value(.date(isFirst ? 700_000_107.25 : 700_000_113.75))
        case .text: return .value(.text(isFirst ? " Aé 107 " : " Bö 113 "))
        case .uri: return .value(.uri(isFirst ? "https://example.org/A107" : "https://example.org/B113"))
        case .data, .externalData: return .value(.data(Data(isFirst ? [1, 0, 7] : [1, 1, 3])))
        case .uuid:
            return .value(.uuid(UUID(uuid: (isFirst ? 107 : 113, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))))
        case .decimal: return .value(.decimal(Decimal(isFirst ? 10_725 : 11_375) / 100))
        case .transformable: return (valueType as? any LiveStandIn.Type).map { .live($0.standIn(isFirst)) } ?? .nothing
        case .toOne, .entityTag: return .nothing
        }
    }

    /// How many members stand in a to-many.
    var memberCount: Int { isFirst ? 3 : 5 }
}

extension StandIn {
    fileprivate static func fits(_ value: Value, _ kind: SlotKind) -> Bool {
        switch (value, kind) {
        case (.int, .int), (.text, .text), (.double, .double), (.double, .float): true
        case (_, _): false
        }
    }
}

/// A type of which a transformable attribute's stand-in can be made.
private protocol LiveStandIn {
    static func standIn(_ isFirst: Bool) -> Any
}

extension String: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { isFirst ? "Aé 107" : "Bö 113" }
}

extension Int: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { isFirst ? 107 : 113 }
}

extension Double: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { isFirst ? 107.25 : 113.75 }
}

extension Date: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any {
        Date(timeIntervalSinceReferenceDate: isFirst ? 107 : 113)
    }
}

extension Data: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { Data(isFirst ? [107] : [113]) }
}

extension UUID: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { UUID() }
}

extension Array: LiveStandIn where Element: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any { [Element.standIn(isFirst)].compactMap { $0 as? Element } }
}

extension Set: LiveStandIn where Element: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any {
        Set([Element.standIn(isFirst)].compactMap { $0 as? Element })
    }
}

extension Dictionary: LiveStandIn where Key: LiveStandIn, Value: LiveStandIn {
    fileprivate static func standIn(_ isFirst: Bool) -> Any {
        guard let key = Key.standIn(isFirst) as? Key, let value = Value.standIn(isFirst) as? Value else {
            return Self()
        }
        return [key: value]
    }
}
