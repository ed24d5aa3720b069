// Predicates written with key paths, and sort descriptors of Swift's.

import CoreDataOperators
import CoreDataTestSupport
import struct CoreDataValues.EntityDraft
import struct CoreDataValues.SchemaDraft
import Foundation
import Testing

@testable import CoreData

@Suite("Typed predicates") struct TypedPredicateTests {
    /// Whose model tells the names.
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())

    /// That a predicate prints as a text, and finds in stores and among objects what the text finds.
    private func check(_ predicate: NSPredicate, is format: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(predicate.description == format, sourceLocation: sourceLocation)
        let text = NSPredicate(format: format)
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let context = stack.context
            let (found, right) = (try context.crews(predicate), try context.crews(text))
            let judged = try context.fetch(NSFetchRequest<Ship>(entityName: "Ship")).filter {
                predicate.evaluate(with: $0)
            }
            #expect(found == right && judged.map(\.crew).sorted() == right, "\(type)", sourceLocation: sourceLocation)
            #expect(!right.isEmpty && right.count < 12, "\(format) tells nothing", sourceLocation: sourceLocation)
        }
    }

    @Test("A closure over the object's properties")
    func closures() throws {
        try check(Ship.predicate { $0.crew >= 3 && $0.name.contains("d") }, is: "crew >= 3 AND name CONTAINS \"d\"")
        try check(
            Ship.predicate { $0.crew < 3 || !$0.isAfloat && $0.length > 1 },
            is: "crew < 3 OR (NOT isAfloat == 1 AND length > 1.0)")
        try check(Ship.predicate { $0.isAfloat }, is: "isAfloat == 1")
        try check(Ship.predicate { $0.master.name == "Bo" }, is: "master.name == \"Bo\"")
        try check(Ship.predicate { $0.master.chief.age > 40 }, is: "master.chief.age > 40")
        try check(Ship.predicate { $0.master.chief == nil }, is: "master.chief == nil")
        try check(Ship.predicate { $0.nick == nil }, is: "nick == nil")
        try check(Ship.predicate { $0.nick != nil && $0.guns != 9 }, is: "nick != nil AND guns != 9")
        try check(Ship.predicate { $0.guns >= 9 }, is: "guns >= 9")
        try check(Ship.predicate { $0.flag == .red }, is: "flag == 2")
        try check(Ship.predicate { $0.rig == .brig }, is: "rig == \"brig\"")
        try check(
            Ship.predicate { $0.tag == Harbour.tags[1] },
            is: "tag == CAST(\"\(Harbour.tags[1].uuidString)\", \"NSUUID\")")
        try check(Ship.predicate { $0.nick == $0.name || $0.nick < $0.name }, is: "nick == name OR nick < name")
        try check(Ship.predicate { $0.crew * 2 - 1 > 5 }, is: "(crew * 2) - 1 > 5")
        try check(Ship.predicate { $0.crew + $0.crew > 5 }, is: "crew + crew > 5")
        try check(Ship.predicate { $0.isKind(of: Steamer.self) }, is: "entity IN {\"Steamer\"}")
    }

    @Test("Texts, lists and ranges")
    func texts() throws {
        try check(
            Ship.predicate { $0.name.contains("ANG", [.caseInsensitive, .diacriticInsensitive]) },
            is: "name CONTAINS[cd] \"ANG\"")
        try check(Ship.predicate { $0.name.localizedStandardContains("ANG") }, is: "name CONTAINS[cd] \"ANG\"")
        try check(
            Ship.predicate { $0.name.hasPrefix("Ad") || $0.nick.hasSuffix("da") },
            is: "name BEGINSWITH \"Ad\" OR nick ENDSWITH \"da\"")
        try check(Ship.predicate { $0.name.like("*d*", .caseInsensitive) }, is: "name LIKE[c] \"*d*\"")
        try check(Ship.predicate { $0.name.matches("[A-Z].*") }, is: "name MATCHES \"[A-Z].*\"")
        try check(Ship.predicate { $0.name.equals("ada", .caseInsensitive) }, is: "name ==[c] \"ada\"")
        try check(Ship.predicate { $0.name.isEmpty }, is: "name == \"\"")
        try check(Ship.predicate { $0.name.count == 3 }, is: "length:(name) == 3")
        try check(Ship.predicate { $0.name.lowercased() == "ada" }, is: "lowercase:(name) == \"ada\"")
        try check(Ship.predicate { $0.crew.isIn([1, 2]) }, is: "crew IN {1, 2}")
        try check(Ship.predicate { $0.guns.isIn([0, 6]) }, is: "guns IN {0, 6}")
        try check(Ship.predicate { $0.flag.isIn([.red, .black]) }, is: "flag IN {2, 3}")
        try check(Ship.predicate { $0.crew.isIn(2...5) }, is: "crew BETWEEN {2, 5}")
        try check(Ship.predicate { $0.guns.isIn(6..<20) }, is: "guns >= 6 AND guns < 20")
        try check(Ship.predicate { $0.length.isIn(1.0..<2.0) }, is: "length >= 1.0 AND length < 2.0")
    }

    @Test("Members of to-many relationships")
    func members() throws {
        try check(
            Ship.predicate { $0.cargo.any { $0.weight > 10 } }, is: "SUBQUERY(cargo, $x, $x.weight > 10.0).@count > 0")
        try check(
            Ship.predicate { $0.cargo.none { $0.weight > 10 } }, is: "SUBQUERY(cargo, $x, $x.weight > 10.0).@count == 0"
        )
        try check(
            Ship.predicate { $0.cargo.all { $0.weight < 10 } },
            is: "SUBQUERY(cargo, $x, NOT $x.weight < 10.0).@count == 0")
        try check(Ship.predicate { $0.cargo.count > 1 }, is: "cargo.@count > 1")
        try check(Ship.predicate { $0.cargo.isEmpty }, is: "cargo.@count == 0")
        try check(
            Ship.predicate { $0.cargo.count { $0.owner != nil } == 1 },
            is: "SUBQUERY(cargo, $x, $x.owner != nil).@count == 1")
        try check(Ship.predicate { $0.cargo.sum(of: \.weight) > 20 }, is: "cargo.@sum.weight > 20.0")
        try check(Ship.predicate { $0.cargo.max(of: \.weight) > 10 }, is: "cargo.@max.weight > 10.0")
        try check(
            Ship.predicate { ship in ship.cargo.any { $0.owner == ship.master } },
            is: "SUBQUERY(cargo, $x, $x.owner == master).@count > 0")
        try check(
            Ship.predicate { ship in
                ship.master.ships.any { other in other.cargo.any { $0.weight > 20 && other.crew > 2 } }
            },
            is:
                "SUBQUERY(master.ships, $x, SUBQUERY($x.cargo, $x2, $x2.weight > 20.0 AND $x.crew > 2).@count > 0).@count > 0"
        )
    }

    @Test("Operators and texts of key paths")
    func keyPaths() throws {
        try check(\Ship.crew >= 3, is: "crew >= 3")
        try check(\Ship.crew >= 3 && (\Ship.name).contains("d"), is: "crew >= 3 AND name CONTAINS \"d\"")
        try check(\Ship.master?.name == "Bo", is: "master.name == \"Bo\"")
        try check(!(\Ship.guns > 9) || \Ship.nick == "Ada", is: "NOT guns > 9 OR nick == \"Ada\"")
        try check((\Ship.cargo).any { $0.weight > 10 }, is: "SUBQUERY(cargo, $x, $x.weight > 10.0).@count > 0")
        try check((\Ship.guns).isIn([0, 6]), is: "guns IN {0, 6}")
        let same = \Ship.crew == \Ship.crew
        #expect(same, "key paths are still compared with each other where a Bool is wanted")
    }

    @Test("An object and its ID as values")
    func objects() throws {
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let context = stack.context
            let ship = try #require(try context.fetch(NSFetchRequest<Ship>(entityName: "Ship")).first { $0.crew == 3 })
            let master = try #require(ship.master)
            #expect(try context.crews(Ship.predicate { $0 == ship }) == [3])
            #expect(try context.crews(\Ship.objectID == ship.objectID) == [3])
            #expect(try context.crews((\Ship.objectID).isIn([ship.objectID])) == [3])
            #expect(
                try context.crews(Ship.predicate { $0.master == master })
                    == context.crews(\Ship.master?.objectID == master.objectID))
            let cask = try #require(ship.cargo.first)
            #expect(try context.crews(Ship.predicate { $0.cargo.contains(cask) }) == [3])
        }
    }

    @Test("A model that names the class tells the names, whatever later models call an entity")
    func laterModel() throws {
        let namesake = EntityDraft("Ship", [Clinic.attribute("keel", .string)])
        let later = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(namesake))
        #expect((\Ship.crew > 3).description == "crew > 3")
        withExtendedLifetime(later) {}
    }

    @Test("Sort descriptors of Swift's order as those by key")
    func sorting() throws {
        let cases: [(NSSortDescriptor, NSSortDescriptor)] = [
            (NSSortDescriptor(SortDescriptor(\Ship.name)), NSSortDescriptor(key: "name", ascending: true)),
            (
                NSSortDescriptor(SortDescriptor(\Ship.name, order: .reverse)),
                NSSortDescriptor(key: "name", ascending: false)
            ),
            (NSSortDescriptor(SortDescriptor(\Ship.guns)), NSSortDescriptor(key: "guns", ascending: true)),
            (
                NSSortDescriptor(SortDescriptor(\Ship.launched, order: .reverse)),
                NSSortDescriptor(key: "launched", ascending: false)
            ),
            (
                NSSortDescriptor(SortDescriptor(\Ship.master?.name)),
                NSSortDescriptor(key: "master.name", ascending: true)
            ),
            (
                NSSortDescriptor(SortDescriptor(\Ship.nick, comparator: .lexical)),
                NSSortDescriptor(key: "nick", ascending: true)
            ),
        ]
        for type in Harbour.types {
            let stack = try Harbour.stack(type)
            let context = stack.context
            let crew = NSSortDescriptor(SortDescriptor(\Ship.crew))
            for (swift, keyed) in cases {
                let request = NSFetchRequest<Ship>(entityName: "Ship")
                request.sortDescriptors = [swift, crew]
                let found = try context.fetch(request)
                request.sortDescriptors = [keyed, NSSortDescriptor(key: "crew", ascending: true)]
                #expect(try found.map(\.crew) == context.fetch(request).map(\.crew), "\(type): \(keyed.key ?? "")")
                #expect(swift.key == keyed.key && swift.ascending == keyed.ascending && swift.selector == "compare:")
                let sorted = try #require((found.reversed() as NSArray).sortedArray(using: [swift, crew]) as? [Ship])
                #expect(sorted.map(\.crew) == found.map(\.crew))
            }
        }
    }
}
