// Key paths as key-value coding walks them: a step over a collection gives a collection of the same kind, collection
// operators take the rest of the path. (In predicates, where a path is flat, the evaluator of `CoreDataValues` walks.)

import CoreDataValues
import Foundation

extension KeyValue {
    /// The value at the end of a path.
    static func walk(_ path: ArraySlice<String>, from object: Any?, _ unknown: UnknownKey) -> Any? {
        guard let object = unwrapped(object) else { return nil }
        guard let key = path.first else { return object }
        let rest = path.dropFirst()
        if key.lowercased() == "self" { return walk(rest, from: object, unknown) }
        if key.hasPrefix("@"), let members = Operand.members(of: object) {
            if key == "@count" { return walk(rest, from: NSNumber(value: members.count), unknown) }
            return collect(key, members.map { walk(rest, from: $0, unknown) }, unknown)
        }
        return walk(rest, from: value(of: object, forKey: key, unknown: unknown), unknown)
    }

    /// The members' values: of a set a set without nils, of an ordered set an ordered set, else an array with `NSNull`.
    ///
    /// Foundation cannot hash an `NSDecimalNumber`, so of decimals there is an array always.
    static func values(ofMembers object: Any, _ members: [Any], forKey key: String, _ unknown: UnknownKey) -> Any {
        let values = members.map { unwrapped(value(of: $0, forKey: key, unknown: unknown)) }
        guard !values.contains(where: { $0 is NSDecimalNumber }) else { return values.map { $0 ?? NSNull() } }
        if object is NSSet || object is Set<AnyHashable> { return NSSet(array: values.compactMap { $0 }) }
        guard object is NSOrderedSet else { return values.map { $0 ?? NSNull() } }
        return NSOrderedSet(array: distinct(values.map { $0 ?? NSNull() }))
    }

    private static func collect(_ key: String, _ values: [Any?], _ unknown: UnknownKey) -> Any? {
        let present = values.compactMap { unwrapped($0) }
        switch key {
        case "@sum", "@min", "@max": return aggregate(key, present)
        case "@avg": return values.isEmpty ? NSNumber(value: 0) : aggregate(key, values.map { unwrapped($0) ?? 0 })
        case "@unionOfObjects": return present
        case "@distinctUnionOfObjects": return distinct(present)
        case "@unionOfArrays": return flat(present)
        case "@distinctUnionOfArrays": return distinct(flat(present))
        case "@unionOfSets", "@distinctUnionOfSets": return set(distinct(flat(present)))
        case _ where unknown == .isNil: return nil
        default: misuse("The key path asks for the unknown collection operator \(key).")
        }
    }

    private static func aggregate(_ key: String, _ values: [Any]) -> Any? {
        do {
            return try ExpressionEvaluator(.keyPath([key])).value(.collection(values.map { Operand(any: $0) })).object
        } catch { misuse(error.sentence) }
    }

    private static func flat(_ values: [Any]) -> [Any] {
        values.flatMap { Operand.members(of: $0) ?? [$0] }.compactMap { unwrapped($0) }
    }

    private static func set(_ values: [Any]) -> Any {
        values.contains { $0 is NSDecimalNumber } ? values : NSSet(array: values)
    }

    /// Each value once, at its first place.
    private static func distinct(_ values: [Any]) -> [Any] {
        var seen = Set<AnyHashable>()
        return values.filter { value in
            if let number = value as? NSDecimalNumber { return seen.insert(number.decimalValue).inserted }
            guard let key = value as? AnyHashable else { return true }
            return seen.insert(key).inserted
        }
    }
}
