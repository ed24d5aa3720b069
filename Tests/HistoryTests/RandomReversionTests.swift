// Random transactions, made undone one by one, and histories under load.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Reverting what is random") struct RandomReversionTests {
    /// Some changes of values, relationships of every kind, insertions and deletions.
    private func change(_ context: NSManagedObjectContext, _ random: inout SplitMix) throws {
        func any(_ entity: String) throws -> NSManagedObject? {
            try context.all(entity).filter { !$0.isDeleted }.sorted {
                $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
            }
            .randomElement(using: &random)
        }
        for step in 0..<Int.random(in: 1...6, using: &random) {
            switch Int.random(in: 0..<14, using: &random) {
            case 0:
                context.make("Patient", ["name": "p\(step)", "age": Int.random(in: 0...90, using: &random)]).setValue(
                    try any("Ward"), forKey: "ward")
            case 1: context.make("Ward", ["name": "w\(step)", "beds": 3])
            case 2: context.make("Doctor", ["name": "d\(step)"])
            case 3: context.make("Visit", ["note": "v\(step)"]).setValue(try any("Patient"), forKey: "patient")
            case 4: context.make("Bed", ["number": step]).setValue(try any("Patient"), forKey: "patient")
            case 5: try any("Patient")?.setValue("n\(Int.random(in: 0...99, using: &random))", forKey: "name")
            case 6: try any("Patient")?.setValue(try any("Ward"), forKey: "ward")
            case 7, 8:
                let doctors = try [any("Doctor"), any("Doctor")].compactMap { $0 }
                try any("Patient")?.setValue(NSSet(array: doctors), forKey: "doctors")
            case 9:
                guard let patient = try any("Patient"), let visits = patient.value(forKey: "visits") as? NSOrderedSet
                else { continue }
                patient.setValue(NSOrderedSet(array: visits.array.shuffled(using: &random)), forKey: "visits")
            case 10: try any("Visit")?.setValue(try any("Patient"), forKey: "patient")
            case 11: if let patient = try any("Patient") { context.delete(patient) }
            case 12:
                if let object = try any(["Ward", "Visit", "Doctor"].randomElement(using: &random) ?? "Ward") {
                    context.delete(object)
                }
            default: try any("Bed")?.setValue(try any("Patient"), forKey: "patient")
            }
        }
    }

    @Test(
        "Whatever a transaction did, its reversion leaves the store as it was before",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func random(_ seed: UInt64) throws {
        let desk = try Desk(options: [NSPersistentStoreKeepsFormerValues: true])
        var random = SplitMix(seed)
        var reverted = 0
        for round in 0..<30 {
            let before = try desk.contents()
            let earlier = try desk.transactions().last?.transactionNumber
            let context = desk.context()
            try change(context, &random)
            guard context.hasChanges else { continue }
            try context.save()
            // What was inserted and deleted again, or set to what it was, is no transaction.
            guard round % 3 > 0, let last = try desk.transactions().last, last.transactionNumber != earlier else {
                continue
            }
            reverted += 1
            let other = round % 2 == 0 ? context : desk.context()
            let reversion = try other.revert(last)
            #expect(reversion.conflicts.isEmpty && reversion.replacedObjectIDs.isEmpty, "\(seed) \(round)")
            try other.save()
            let after = try desk.contents()
            #expect(after == before, "\(seed) \(round): \(Set(after).symmetricDifference(before).sorted())")
            if after != before { return }
        }
        #expect(reverted > 8)
    }

    @Test("Values in files, composites and transformable values come back as well, of changes and of deletions")
    func otherValues() throws {
        var draft = Clinic.draft()
        let words = Clinic.transformable("words")
        draft.entities[6].attributes += [Clinic.attribute("scan", .binary, external: true), words]
        let desk = try Desk(NSManagedObjectModel(draft: draft), options: [NSPersistentStoreKeepsFormerValues: true])
        let context = desk.context()
        let (large, larger) = (Data(repeating: 1, count: 300_000), Data(repeating: 2, count: 400_000))
        let bed = context.make("Bed", ["number": 1, "scan": large, "words": ["a", "b"] as NSArray])
        try context.save()
        bed.setValue(larger, forKey: "scan")
        bed.setValue(["c"] as NSArray, forKey: "words")
        try context.save()
        context.delete(bed)
        try context.save()
        let all = try desk.transactions()
        let other = desk.context()
        try other.revert(all[2])
        try other.save()
        let reader = desk.context()
        let back = try reader.one("Bed")
        #expect(back.value(forKey: "scan") as? Data == larger && back.value(forKey: "words") as? [String] == ["c"])
        let next = desk.context()
        let update = try next.one("Bed")
        update.setValue(nil, forKey: "scan")
        update.setValue(nil, forKey: "words")
        try next.save()
        try next.revert(try #require(try desk.transactions().last))
        try next.save()
        let again = desk.context()
        let same = try again.one("Bed")
        #expect(same.value(forKey: "scan") as? Data == larger && same.value(forKey: "words") as? [String] == ["c"])
    }

    @Test(
        "A follower with a cursor misses nothing while two processes write and the history is purged all the time",
        .timeLimit(.minutes(30)))
    func load() async throws {
        let desk = try Desk()
        let writers = try [Writer(desk.url, "beds", "150"), Writer(desk.url, "beds", "150")]
        let purger = try Desk(in: desk.folder)
        try desk.addBed(0)
        try desk.coordinator.moveHistoryCursor("follower", to: try desk.transactions()[0].token)
        let start = try #require(try desk.coordinator.historyToken(ofCursor: "follower"))
        var numbers = [start.transactions[desk.store.identifier] ?? 0]
        var purged = 0
        for try await transaction in desk.coordinator.transactions(after: start) {
            numbers.append(transaction.transactionNumber)
            if numbers.count % 8 == 0 {
                try desk.coordinator.moveHistoryCursor("follower", to: transaction.token)
                purged += try purger.coordinator.purgeHistory(olderThan: .distantFuture)
            }
            if transaction.transactionNumber == 301 { break }
        }
        for writer in writers { writer.wait() }
        #expect(numbers == (numbers[0]...301).map { $0 })
        #expect(purged > 200)
    }

    @Test("Cursors of two processes and purges go on after all have left and come again")
    func restarts() throws {
        let folder = Folder()
        for round in 1...3 {
            let desk = try Desk(in: folder)
            for number in 0..<10 { try desk.addBed(number) }
            try desk.coordinator.remove(desk.store)
            let movers = try (0..<2).map { try Writer(desk.url, "cursor", "\($0)") }
            for mover in movers { mover.wait() }
            let again = try Desk(in: folder)
            #expect(
                try again.coordinator.historyCursors().map(\.transactionNumber)
                    == [round * 10, round * 10 - 1, round * 10].map(Int64.init))
            #expect(try again.coordinator.purgeHistory(olderThan: .distantFuture) == (round == 1 ? 9 : 10))
            #expect(
                try again.coordinator.historyToken(ofCursor: "own 1")?.transactions.values.first
                    == Int64(round * 10 - 1))
            #expect(try again.transactions().map(\.transactionNumber) == [Int64(round * 10)])
            try again.coordinator.remove(again.store)
        }
    }
}
