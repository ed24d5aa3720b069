// A history that is read back and shortened, at the store.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite("Reading a history") struct HistoryReadingTests {
    private func read(_ store: any StoreKeeper, after number: Int64 = 0) throws -> [HistoryTransaction] {
        var all: [HistoryTransaction] = []
        let cursor = try store.openHistory(after: number)
        while let transaction = try cursor.next() { all.append(transaction) }
        #expect(try cursor.next() == nil)
        return all
    }

    /// `update Patient 1 age name doctors`
    private func texts(_ transaction: HistoryTransaction, _ schema: Schema) -> [String] {
        transaction.changes.map { change in
            let entity = schema[change.key.entity]
            let names = change.slots.map { entity.slots[$0].name } + change.relationships.map { schema[$0].name }
            let kept = change.tombstone.sorted { $0.key < $1.key }.map { "\(entity.slots[$0].name)=\($1)" }
            return (["\(change.kind) \(entity.name) \(change.key.number)"] + names + kept).joined(separator: " ")
        }.sorted()
    }

    private static func keeping() -> Rig {
        var draft = Clinic.draft()
        for index in draft.entities[0].attributes.indices
        where ["name", "tag", "age", "born", "weight", "awake", "fee"].contains(
            draft.entities[0].attributes[index].name)
        {
            draft.entities[0].attributes[index].preservesValueInHistoryOnDeletion = true
        }
        return Rig(NSManagedObjectModel(draft: draft))
    }

    @Test("12.2 Each save is a transaction with its origin, its changes by property, and what is kept of deleted rows")
    func read() throws {
        let rig = Self.keeping()
        let store = try rig.add(options: Rig.tracking)
        let schema = rig.coordinator.runtime.schema
        let before = Date().timeIntervalSinceReferenceDate
        let context = try rig.filled()
        context.transactionAuthor = "desk"
        context.name = "front"
        let patient = try #require(try context.all("Patient").first)
        let tag = UUID()
        patient.setValue(41, forKey: "age")
        patient.setValue(tag, forKey: "tag")
        patient.setValue(Date(timeIntervalSinceReferenceDate: 86400), forKey: "born")
        patient.setValue(2.5, forKey: "weight")
        patient.setValue(true, forKey: "awake")
        patient.setValue(NSDecimalNumber(string: "12.10"), forKey: "fee")
        patient.setValue(NSSet(), forKey: "doctors")
        patient.setValue(nil, forKey: "ward")
        try context.save()
        let (row, visits) = (patient.row, try context.all("Visit").map(\.row))
        context.delete(patient)
        try context.save()
        let all = try read(store.rows)
        #expect(all.map(\.number) == [1, 2, 3] && all.map(\.author) == [nil, "desk", "desk"])
        #expect(all.map(\.contextName) == [nil, "front", "front"])
        let process = ProcessInfo.processInfo.processName
        #expect(all.allSatisfy { $0.process == process && $0.bundle != nil && $0.time >= before && !$0.isContinued })
        #expect(all[0].changes.count == 5 && all[0].changes.allSatisfy { $0.kind == .insert && $0.slots.isEmpty })
        #expect(
            texts(all[1], schema) == [
                "update Doctor 1 patients",
                "update Patient \(row) ward age awake born fee tag weight doctors", "update Ward 1 patients",
            ])
        let gone = try #require(all[2].changes.first { $0.kind == .delete && !$0.tombstone.isEmpty })
        let names = Dictionary(
            uniqueKeysWithValues: gone.tombstone.map { (schema[gone.key.entity].slots[$0.key].name, $0.value) })
        #expect(
            names == [
                "name": .text("Eve"), "age": .int(41), "tag": .uuid(tag), "born": .date(86400), "weight": .double(2.5),
                "awake": .bool(true), "fee": .decimal(Decimal(string: "12.1") ?? 0),
            ])
        #expect(Set(all[2].changes.filter { $0.kind == .delete }.map { "\($0.key.number)" }) == Set([row] + visits))
        #expect(Set(all.flatMap { $0.changes.map(\.number) }).count == all.reduce(0) { $0 + $1.changes.count })
        #expect(try read(store.rows, after: 2).map(\.number) == [3])
        #expect(try read(store.rows, after: 3).isEmpty)
    }

    @Test("12.2 What came before a transaction is removed, and numbers go on; a cursor goes on with what it found")
    func shorten() throws {
        let rig = Rig()
        let store = try rig.add(options: Rig.tracking)
        let context = rig.context(author: "desk")
        for number in 1...5 {
            context.transactionAuthor = "author \(number)"
            _ = context.make("Bed", ["number": number])
            try context.save()
        }
        let cursor = try store.rows.openHistory(after: 0)
        #expect(try cursor.next()?.number == 1)
        #expect(try store.rows.deleteHistory(upTo: 1) == 0)
        #expect(try store.rows.deleteHistory(upTo: 4) == 3)
        #expect(try cursor.next()?.number == 2)
        cursor.close()
        #expect(try cursor.next() == nil)
        #expect(try read(store.rows).map(\.author) == ["author 4", "author 5"])
        let file = try rig.history()
        #expect(try file.rows("SELECT COUNT(*) FROM ACHANGE") == ["2"])
        #expect(
            try file.rows("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE ZNAME LIKE 'author%' ORDER BY 1") == [
                "author 4", "author 5",
            ])
        #expect(try store.rows.deleteHistory(upTo: .max) == 2)
        #expect(try read(store.rows).isEmpty && store.rows.lastTransaction() == 5)
        context.transactionAuthor = "author 1"
        _ = context.make("Bed", ["number": 6])
        try context.save()
        #expect(try read(store.rows).map { "\($0.number) \($0.author ?? "")" } == ["6 author 1"])
    }

    @Test("A transaction with very many changes comes in parts")
    func parts() throws {
        let rig = Rig()
        let store = try rig.add(options: Rig.tracking)
        let context = rig.context()
        for number in 0..<2500 { _ = context.make("Bed", ["number": number]) }
        try context.save()
        _ = context.make("Bed", ["number": 0])
        try context.save()
        let all = try read(store.rows)
        #expect(all.map(\.number) == [1, 1, 1, 2] && all.map(\.isContinued) == [true, true, false, false])
        #expect(all.map(\.changes.count) == [1024, 1024, 452, 1])
    }

    @Test("A store that records none has none to read, and none to remove", arguments: StoreMaker.all)
    func none(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Note", [[:]])
        #expect(try read(subject.store).isEmpty && subject.store.lastTransaction() == nil)
        #expect(try subject.store.deleteHistory(upTo: .max) == 0)
    }

    @Test("A store that was opened read-only has its history read, not shortened")
    func readOnly() throws {
        let folder = Folder()
        try { _ = try Rig(in: folder).add(options: Rig.tracking) }()
        let rig = Rig(in: folder)
        let store = try rig.add(options: [NSPersistentHistoryTrackingKey: true, NSReadOnlyPersistentStoreOption: true])
        #expect(try read(store.rows).isEmpty)
        let error = #expect(throws: StoreError.self) { try store.rows.deleteHistory(upTo: 1) }
        #expect(error?.code == 134030)
    }
}
