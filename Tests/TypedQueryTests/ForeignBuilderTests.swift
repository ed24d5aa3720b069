// A predicate builder of another package in a file that imports the library's operators as well.

import CoreDataOperators
import CoreDataQueries
import CoreDataTestSupport
import Foundation
import Testing

import CoreData

@Suite("A predicate builder of others") struct ForeignBuilderTests {
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())

    @Test(
        "Its operators are the ones that are used, and print by the names of properties; the library's fill what it lacks"
    )
    func operators() throws {
        let texts: [(NSPredicate, String)] = [
            (\Ship.crew >= 3, "crew >= 3"),
            (\Ship.crew == 3 && \Ship.name != "Ada", "crew == 3 AND name != \"Ada\""),
            (\Ship.crew < 3 || !(\Ship.isAfloat == true), "crew < 3 OR NOT isAfloat == 1"),
            (\Ship.guns > 9, "guns > 9"),
            (\Ship.crew <- [1, 2], "crew IN {1, 2}"),
            (\Ship.name ~= "ad", "name BEGINSWITH[c] \"ad\""),
            (\Ship.master?.name == "Bo", "master.name == \"Bo\""),
            // Its order of optional properties has no <=.
            (\Ship.guns <= 9, "guns <= 9"),
            (\Ship.crew > 3 && Ship.predicate { $0.name.contains("d") }, "crew > 3 AND name CONTAINS \"d\""),
        ]
        for (predicate, format) in texts { #expect(predicate.description == format) }
        // Its comparison of values is not folded: it is the one of the other package.
        let both = (\Ship.crew > 1 && \Ship.crew > 2) && \Ship.crew > 3
        #expect((both as? NSCompoundPredicate)?.subpredicates.count == 2)
    }

    @Test("Predicates, sort descriptors, columns and aggregates of key paths", arguments: Harbour.types)
    func queries(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let query = Query<Ship>().filter(\Ship.crew >= 3 && \Ship.isAfloat == true).sort(\.name, ascending: false).sort(
            \.crew)
        let text = NSFetchRequest<Ship>("Ship", "crew >= 3 AND isAfloat == YES")
        text.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: false), NSSortDescriptor(key: "crew", ascending: true),
        ]
        let right = try context.fetch(text).map(\.crew)
        #expect(try context.fetch(query.request("Ship")).map(\.crew) == right && right.count > 2)
        #expect(try query.values(of: \.crew, "Ship", context) == right)
        #expect(try query.sum(\.crew, "Ship", context) == Double(right.reduce(0, +)))
    }
}
