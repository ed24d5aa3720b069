// A model of one entity with pairs of every shape, and the ways to write one pair.

import CoreDataValues
import Foundation

import CoreData

package enum Hub {
    /// A pair that ends in a to-many, and how it is written.
    package struct Way: Sendable, CustomStringConvertible {
        package let key: String
        package let inverse: String
        package let isToOne: Bool
        package let isOrdered: Bool
        /// By the to-many's set, as a whole, or by the other side.
        package let writing: Writing
        package var description: String { "\(key) \(writing)" }
    }

    package enum Writing: CaseIterable, Sendable { case change, replacement, inverse }

    /// What was read of a pair before others changed it, and what is written then.
    package struct Reading: Sendable, CustomStringConvertible {
        package let way: Way
        /// Whether the owner's members were read first, or the member.
        package let ownerFirst: Bool
        /// Whether there was a pair then.
        package let wasPair: Bool
        /// Whether the two are paired now, or parted.
        package let isPair: Bool
        /// Whether the side that is written says so already: a set that is replaced by its own members, and a to-one that leads
        /// nowhere, have nobody to ask.
        var isNoWrite: Bool {
            switch way.writing {
            case .change: false
            case .replacement: isPair == (ownerFirst == wasPair)
            case .inverse: way.isToOne && !isPair && ownerFirst == wasPair
            }
        }
        package var description: String {
            "\(way), \(ownerFirst ? "owner" : "member") read first, \(wasPair ? "paired" : "parted") then, to be "
                + (isPair ? "paired" : "parted")
        }
    }

    package static let readings: [Reading] = ways.flatMap { way in
        (0..<8).map { Reading(way: way, ownerFirst: $0 & 1 != 0, wasPair: $0 & 2 != 0, isPair: $0 & 4 != 0) }
    }.filter { !$0.isNoWrite }

    /// One to many, many to many named from either side, self-inverse; with and without order.
    package static let ways: [Way] = [
        ("staff", "boss", true, false), ("ranks", "chief", true, true), ("friends", "friends", false, false),
        ("likes", "fans", false, false), ("fans", "likes", false, false), ("top", "tops", false, true),
        ("tops", "top", false, true),
    ].flatMap { key, inverse, isToOne, isOrdered in
        Writing.allCases.map { Way(key: key, inverse: inverse, isToOne: isToOne, isOrdered: isOrdered, writing: $0) }
    }

    package static func draft() -> SchemaDraft {
        var hub = EntityDraft(name: "Hub")
        hub.attributes = [Clinic.attribute("name", .string)]
        hub.relationships = [
            Clinic.toOne("boss", "Hub", inverse: "staff"), Clinic.toMany("staff", "Hub", inverse: "boss"),
            Clinic.toOne("chief", "Hub", inverse: "ranks"),
            Clinic.toMany("ranks", "Hub", inverse: "chief", ordered: true),
            Clinic.toMany("friends", "Hub", inverse: "friends"), Clinic.toMany("likes", "Hub", inverse: "fans"),
            Clinic.toMany("fans", "Hub", inverse: "likes"), Clinic.toMany("top", "Hub", inverse: "tops", ordered: true),
            Clinic.toMany("tops", "Hub", inverse: "top", ordered: true),
            Clinic.toOne("mate", "Hub", inverse: "matched"),
            Clinic.toOne("matched", "Hub", inverse: "mate"),
        ]
        return SchemaDraft(hub)
    }
}

extension NSManagedObject {
    /// Pairs this object with a member, or parts the two.
    package func write(_ way: Hub.Way, _ member: NSManagedObject, isPair: Bool) {
        switch way.writing {
        case .change: change(way.key, way.isOrdered, member, isPair)
        case .replacement:
            var members = hubs(way.key).filter { $0 !== member }
            if isPair { members.append(member) }
            setValue(way.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: way.key)
        case .inverse:
            if way.isToOne {
                member.setValue(isPair ? self : nil, forKey: way.inverse)
            } else {
                member.change(way.inverse, way.isOrdered, self, isPair)
            }
        }
    }

    private func change(_ key: String, _ isOrdered: Bool, _ member: NSManagedObject, _ isPair: Bool) {
        if isOrdered {
            let members = mutableOrderedSetValue(forKey: key)
            if isPair { members.add(member) } else { members.remove(member) }
        } else {
            let members = mutableSetValue(forKey: key)
            if isPair { members.add(member) } else { members.remove(member) }
        }
    }

    /// The members of a to-many, or the target of a to-one.
    package func hubs(_ key: String) -> [NSManagedObject] {
        switch value(forKey: key) {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.compactMap { $0 as? NSManagedObject }
        case let object as NSManagedObject: [object]
        default: []
        }
    }

    /// How often each of the two names the other, and the count that the live set gives.
    package func pairing(_ way: Hub.Way, _ member: NSManagedObject) -> [Int] {
        [
            hubs(way.key).count { $0 === member }, member.hubs(way.inverse).count { $0 === self },
            mutableSetValue(forKey: way.key).count,
        ]
    }
}
