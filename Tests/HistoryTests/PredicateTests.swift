// Objects of a history, and of its program, in predicates over it.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Predicates over a history") struct PredicateTests {
    private let desk: Desk
    private let all: [NSPersistentHistoryTransaction]
    private let beds: [NSManagedObject]
    private let bed: NSEntityDescription
    private let visit: NSEntityDescription

    /// 1: a bed · 2: a visit and a bed · 3: the second bed changed.
    init() throws {
        desk = try Desk()
        let context = desk.context()
        var beds = [context.make("Bed", ["number": 1])]
        try context.save()
        context.make("Visit", ["note": "x"])
        beds.append(context.make("Bed", ["number": 2]))
        try context.save()
        beds[1].setValue(3, forKey: "number")
        try context.save()
        self.beds = beds
        all = try desk.transactions()
        let entities = desk.coordinator.managedObjectModel.entitiesByName
        (bed, visit) = (try #require(entities["Bed"]), try #require(entities["Visit"]))
    }

    private func transactions(_ format: String, _ arguments: Any...) throws -> [Int64] {
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try desk.transactions(.fetchHistory(withFetch: fetch)).map(\.transactionNumber)
    }

    /// The numbers of the changes' transactions and their entities.
    private func changes(_ format: String, _ arguments: Any...) throws -> [String] {
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try desk.fetch(.fetchHistory(withFetch: fetch), .changesOnly, as: [NSPersistentHistoryChange].self).map {
            "\($0.transaction?.transactionNumber ?? 0) \($0.changedObjectID.entity.name ?? "")"
        }.sorted()
    }

    @Test("12.3 A transaction is compared by its number, on either side, in lists and in subqueries")
    func byTransaction() throws {
        #expect(try transactions("self == %@", all[1]) == [2])
        #expect(try transactions("%@ = SELF", all[1]) == [2])
        #expect(try transactions("SELF != %@", all[1]) == [1, 3])
        #expect(try transactions("SELF IN %@", [all[0], all[2]]) == [1, 3])
        #expect(try transactions("NOT SELF IN %@", [all[0], all[2]]) == [2])
        #expect(try transactions("transactionNumber >= %@", all[1]) == [2, 3])
        #expect(try transactions("%@ < token", all[1].token) == [3])
        #expect(try changes("transaction == %@", all[1]) == ["2 Bed", "2 Visit"])
        #expect(try changes("%@ == transaction", all[2]) == ["3 Bed"])
        #expect(try changes("transaction IN %@", [all[0], all[2]]) == ["1 Bed", "3 Bed"])
        #expect(try changes("transaction != nil").count == 4)
        #expect(try transactions("SUBQUERY(changes, $c, $c.transaction == %@).@count > 0", all[1]) == [2])
        let other = try Desk()
        try other.addBed(1)
        #expect(try transactions("SELF == %@", other.transactions()[0]) == [])
        #expect(try changes("transaction == %@", other.transactions()[0]) == [])
    }

    @Test("12.3 A change is compared by its number") func byChange() throws {
        let change = try #require(all[2].changes?.first)
        #expect(try changes("SELF == %@", change) == ["3 Bed"])
        #expect(try changes("SELF IN %@", all[1].changes ?? []) == ["2 Bed", "2 Visit"])
        #expect(try changes("changeID <= %@", change).count == 4)
        #expect(try transactions("ANY changes == %@", change) == [3])
        #expect(try transactions("changes CONTAINS %@", change) == [3])
        #expect(try transactions("%@ IN changes", change) == [3])
        #expect(try transactions("SUBQUERY(changes, $c, $c == %@).@count > 0", change) == [3])
    }

    @Test("12.3 Entities and objects are found on either side, and in subqueries") func byObject() throws {
        #expect(try changes("%@ == changedEntity", visit) == ["2 Visit"])
        #expect(try changes("'Visit' == changedEntity") == ["2 Visit"])
        #expect(try changes("'Visit' != changedEntity").count == 3)
        #expect(try changes("%@ == changedObjectID", beds[1].objectID) == ["2 Bed", "3 Bed"])
        #expect(try changes("SELF.changedObjectID == %@", beds[1]) == ["2 Bed", "3 Bed"])
        #expect(try transactions("ANY changes.changedEntity == %@", visit) == [2])
        #expect(try transactions("%@ IN changes.changedEntity", visit) == [2])
        #expect(try transactions("SUBQUERY(changes, $c, $c.changedEntity == %@).@count > 0", visit) == [2])
        #expect(try transactions("SUBQUERY(changes, $c, 'Bed' = $c.changedEntity).@count > 0") == [1, 2, 3])
        #expect(try transactions("SUBQUERY(changes, $c, $c.changedEntity IN %@).@count = 2", [bed, visit]) == [2])
        #expect(
            try transactions("SUBQUERY(changes, $c, $c.changedObjectID == %@).@count > 0", beds[1].objectID) == [2, 3])
        #expect(
            try transactions(
                "SUBQUERY(changes, $c, $c.changedObjectID IN %@ AND $c.changeType == 1).@count > 0",
                beds.map(\.objectID))
                == [3])
        #expect(
            try changes("SUBQUERY(transaction.changes, $c, $c.changedObjectID == %@).@count > 0", beds[0].objectID)
                == ["1 Bed"])
    }

    @Test("What the tables cannot be asked is refused, and not answered with nothing") func refusals() throws {
        func refusal(_ body: () throws -> Void) -> String {
            let error = caught(body)
            return error.number == 134060 ? error.sentence : "\(error.number ?? 0)"
        }
        let change = try #require(all[0].changes?.first)
        #expect(refusal { _ = try changes("transaction == %@", change) }.contains("transaction"))
        #expect(refusal { _ = try changes("SELF == %@", all[0]) }.contains("SELF"))
        #expect(refusal { _ = try transactions("SELF == 1") }.contains("SELF"))
        #expect(refusal { _ = try changes("transaction == %@", all[0].token) }.contains("transaction"))
        #expect(refusal { _ = try changes("transaction > %@", all[0]) }.contains("transaction"))
        #expect(refusal { _ = try transactions("author == %@", all[0]) }.contains("author"))
        #expect(refusal { _ = try transactions("transactionNumber == %@", beds[0]) }.contains("transactionNumber"))
        #expect(refusal { _ = try changes("changedEntity == %@", beds[0].objectID) }.contains("changedEntity"))
        #expect(refusal { _ = try changes("changedEntity LIKE 'Bed'") }.contains("changedEntity"))
        #expect(refusal { _ = try changes("changedObjectID == 'x-coredata://a/Bed/p1'") }.contains("changedObjectID"))
        #expect(refusal { _ = try changes("changedObjectID == %@", all[0]) }.contains("changedObjectID"))
        #expect(
            refusal { _ = try transactions("ANY changes.changedObjectID == %@", beds[0]) }.contains("changedObjectID"))
    }
}
