// What deleted objects leave in the history.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Tombstones") struct TombstoneTests {
    @Test(
        "A value that may lie in a file is told without the store's own bytes, one that lay in a file is gone with it; a transformable one is the value",
        arguments: [false, true])
    func values(_ isBatch: Bool) throws {
        var draft = Clinic.draft()
        draft.entities[6].attributes += [
            Clinic.attribute("scan", .binary, external: true), Clinic.transformable("words"),
            Clinic.attribute("raw", .binary),
        ]
        for place in draft.entities[6].attributes.indices {
            draft.entities[6].attributes[place].preservesValueInHistoryOnDeletion = true
        }
        let desk = try Desk(NSManagedObjectModel(draft: draft))
        let context = desk.context()
        let beds = [
            context.make(
                "Bed", ["number": 1, "scan": Data([9, 8]), "words": ["a", "b"] as NSArray, "raw": Data([1, 2])]),
            context.make("Bed", ["number": 2, "scan": Data(repeating: 7, count: 300_000)]),
            context.make("Bed", ["number": 3, "scan": Data()]),
        ]
        try context.save()
        if isBatch {
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Bed")))
        } else {
            for bed in beds { context.delete(bed) }
            try context.save()
        }
        let changes = try #require(try desk.transactions().last?.changes)
        let tombstones = changes.compactMap(\.tombstone).sorted {
            ($0["number"] as? Int ?? 0) < ($1["number"] as? Int ?? 0)
        }
        #expect(tombstones.count == 3)
        #expect(tombstones[0]["scan"] as? Data == Data([9, 8]) && tombstones[0]["raw"] as? Data == Data([1, 2]))
        #expect(tombstones[0]["words"] as? [String] == ["a", "b"])
        #expect(tombstones[1].keys.map { "\($0)" } == ["number"])
        #expect(tombstones[2]["scan"] as? Data == Data() && tombstones[2]["words"] == nil)
    }

    @Test("What a history and an ID say outlives the coordinator and the model")
    func outliving() throws {
        let (transactions, id) = try {
            let desk = try Desk()
            let context = desk.context("a")
            let bed = context.make("Bed", ["number": 1])
            try context.save()
            bed.setValue(2, forKey: "number")
            try context.save()
            return (try desk.transactions(), bed.objectID)
        }()
        #expect(transactions[1].changes?.first?.updatedProperties?.map(\.name) == ["number"])
        #expect(id.entity.name == "Bed")
    }
}
