// The coordinator's row cache: what it answers, what it forgets, how much it keeps.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

extension Stack {
    /// Fails a test whose body runs more or fewer statements.
    func expectStatements(_ count: Int, _ body: () -> Void) {
        let run = statements(of: body)
        #expect(run == count)
    }

    /// Another writer of the same file, as another process would be.
    func stranger() throws -> NSManagedObjectContext {
        try NSPersistentStoreCoordinator(Clinic.model(), at: folder.file("store.sqlite")).context()
    }

    /// Changes the names of all patients behind the coordinator's back.
    func rename(_ name: String) throws {
        let context = try stranger()
        for patient in try context.all("Patient") { patient.setValue(name, forKey: "name") }
        try context.save()
    }
}

extension NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
}

@Suite struct RowCacheTests {
    // MARK: Firing

    @Test("A chunk that is read again takes the place of the former one, however many there are")
    func beginnings() {
        var beginnings = ChunkBeginnings()
        for id in 1...4000 { #expect(beginnings.replace(Int64(id) * 256 - 255, by: id) == nil) }
        let replaced = (1...4000).count { beginnings.replace(Int64($0) * 256 - 255, by: 4000 + $0) == $0 }
        #expect(replaced >= 3990)
    }

    @Test("A fault whose row another context has read, saved or fired asks no store")
    func sharing() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        let id = patient.objectID
        let saved = stack.another()
        stack.expectStatements(0) { #expect(saved.object(with: id).name == "Ada") }
        stack.coordinator.rowCache.removeAll()
        let reader = stack.another()
        stack.expectStatements(1) { #expect(reader.object(with: id).name == "Ada") }
        let next = stack.another()
        stack.expectStatements(0) { #expect(next.object(with: id).name == "Ada") }
        let counts = stack.coordinator.rowCacheCounts
        #expect(counts.hits == 2 && counts.misses == 1 && counts.bytes > 0)
    }

    @Test("Hits and misses are among the coordinator's counters, and a hit is no fault")
    func counters() throws {
        let stack = try Stack()
        let id = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        stack.coordinator.rowCache.removeAll()
        let before = stack.coordinator.counters
        let readers = (0..<3).map { _ in stack.another() }
        for reader in readers { #expect(reader.object(with: id.objectID).name == "Ada") }
        let after = stack.coordinator.counters
        #expect(after.cacheHits - before.cacheHits == 2)
        #expect(after.cacheMisses - before.cacheMisses == 1)
        #expect(after.faults - before.faults == 1)
        #expect(after.statements - before.statements == 1)
    }

    @Test("Rows that are read with a fault's siblings, and rows read beforehand, are known to other contexts")
    func filling() throws {
        let hospital = try Hospital(20, wards: 3)
        let coordinator = hospital.stack.coordinator
        coordinator.rowCache.removeAll()
        let faults = try hospital.fetch(values: false)
        hospital.costs(1) { #expect(faults[0].name == "0") }
        let second = hospital.stack.another()
        hospital.costs(0) {
            for (index, id) in hospital.ids.enumerated() { #expect(second.object(with: id).name == "\(index)") }
        }

        coordinator.rowCache.removeAll()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = ["patients.bed"]
        let third = hospital.stack.another()
        var wards = 0
        try hospital.costs(3) { wards = try third.fetch(request).count }
        #expect(wards == 3)
        let fourth = hospital.stack.another()
        hospital.costs(0) {
            for id in hospital.ids { #expect(fourth.object(with: id).one("bed")?.value(forKey: "number") != nil) }
        }
    }

    @Test("After a save other contexts' new faults have the new values, and none after a deletion")
    func saves() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        patient.setValue("Eve", forKey: "name")
        try stack.context.save()
        let second = stack.another()
        #expect(second.object(with: patient.objectID).name == "Eve")
        let id = patient.objectID
        stack.context.delete(patient)
        try stack.context.save()
        #expect(throws: CocoaError.self) { try stack.another().existingObject(with: id) }
    }

    @Test("8.8 Fetched faults fire without I/O, in any context; without property values they read later")
    func fetchedFaults() throws {
        let stack = try Stack()
        for number in 0..<600 { _ = stack.context.make("Patient", ["name": "\(number)"]) }
        try stack.context.save()
        stack.coordinator.rowCache.removeAll()
        let other = stack.another()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        #expect(request.returnsObjectsAsFaults && request.includesPropertyValues)
        let fetched = try other.fetch(request)
        #expect(fetched.allSatisfy { $0.isFault })
        stack.expectStatements(0) { #expect(Set(fetched.compactMap(\.name)).count == 600) }

        stack.coordinator.rowCache.removeAll()
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Patient")
        ids.resultType = .managedObjectIDResultType
        let found = try stack.another().fetch(ids)
        let third = stack.another()
        stack.expectStatements(0) { for id in found { _ = third.object(with: id).name } }

        stack.coordinator.rowCache.removeAll()
        request.includesPropertyValues = false
        let bare = try stack.another().fetch(request)
        #expect(bare.count == 600)
        ids.includesPropertyValues = false
        let fourth = stack.another()
        let faults = try fourth.fetch(ids).map { fourth.object(with: $0) }
        stack.expectStatements(1) { #expect(faults[7].name != nil) }
    }

    @Test("A conflict shows the coordinator's row, and the refresh after 133020 reads the store's")
    func conflict() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        try stack.rename("Eve")
        patient.setValue("Ida", forKey: "name")
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
        #expect(conflict.cachedSnapshot?["name"] as? String == "Ada")
        #expect(conflict.persistedSnapshot?["name"] as? String == "Eve")
        stack.context.refresh(patient, mergeChanges: false)
        #expect(patient.name == "Eve")
        patient.setValue("Ida", forKey: "name")
        try stack.context.save()
    }

    @Test("Changes that a program says were made elsewhere leave the cache")
    func remoteChanges() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        try stack.rename("Eve")
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: [patient.objectID]], into: [stack.context])
        #expect(patient.name == "Eve")
    }

    @Test("A child context reads its parent and not the cache")
    func children() throws {
        let stack = try Stack()
        let patient = stack.context.make("Patient", ["name": "Ada"])
        try stack.context.save()
        patient.setValue("Eve", forKey: "name")
        let child = stack.context.child()
        let before = stack.coordinator.rowCacheCounts
        #expect(child.object(with: patient.objectID).name == "Eve")
        #expect(stack.coordinator.rowCacheCounts == before)
    }

    // MARK: The cache itself

    private func chunk(_ stack: Stack, _ rows: [(key: Int64, version: Int32)], text: String = "x") throws -> RowChunk {
        let info = try #require(stack.coordinator.runtime.infos.first { $0.entity.name == "Badge" })
        let chunk = RowChunk(layout: info.layout, capacity: max(1, rows.count))
        for row in rows {
            let values = info.entity.slots.map { $0.name == "code" ? Value.text(text) : .null }
            try chunk.append(key: row.key, version: row.version, values: values)
        }
        return chunk
    }

    private func key(_ stack: Stack, _ number: Int64) throws -> ObjectKey {
        let info = try #require(stack.coordinator.runtime.infos.first { $0.entity.name == "Badge" })
        return ObjectKey(number: number, entity: info.entity.index, store: 1)
    }

    @Test("What is kept stays within the budget, the oldest leave, and what is replaced leaves at once")
    func budget() throws {
        let stack = try Stack()
        let cache = RowCache(stack.coordinator.runtime)
        let text = String(repeating: "t", count: 900)
        cache.limit = 1_000_000
        weak var first: RowChunk?
        for step in 0..<40 {
            let made = try chunk(stack, (0..<100).map { (Int64(step * 100 + $0 + 1), 1) }, text: text)
            if step == 0 { first = made }
            cache.add(RowBatch(chunk: made), store: 1, since: cache.ticket)
            #expect(cache.counts.bytes <= 1_000_000)
        }
        #expect(first == nil)
        #expect(cache.row(for: try key(stack, 1)) == nil)
        #expect(cache.row(for: try key(stack, 3950)) != nil)
        cache.limit = 0
        #expect(cache.counts.bytes == 0)
        cache.limit = 1_000_000
        for rows in [1, 100] {
            var sizes: Set<Int> = []
            for _ in 0..<20 {
                let made = try chunk(stack, (0..<rows).map { (Int64($0 + 1), 1) })
                cache.add(RowBatch(chunk: made), store: 1, since: cache.ticket)
                sizes.insert(cache.counts.bytes)
            }
            #expect(sizes.count == 1)
        }
        cache.removeAll(store: 1)
        #expect(cache.counts.bytes == 0)
    }

    @Test("A row that is read again and again takes no more room, however long another one stays")
    func room() throws {
        let stack = try Stack()
        let cache = RowCache(stack.coordinator.runtime)
        cache.add(RowBatch(chunk: try chunk(stack, [(1, 1)])), store: 1, since: cache.ticket)
        for version in 1...50_000 {
            cache.add(RowBatch(chunk: try chunk(stack, [(2, Int32(version))])), store: 1, since: cache.ticket)
        }
        let found = try #require(cache.row(for: try key(stack, 2)))
        #expect(found.chunk.row(found.row).version(found.chunk.layout) == 50_000)
        #expect(cache.room <= 16_384)
        #expect(cache.counts.bytes < 2_000)
    }

    @Test("A row that finds no place in the index any more is not answered by an older chunk")
    func displaced() throws {
        let stack = try Stack()
        let cache = RowCache(stack.coordinator.runtime)
        // Numbers that share a bucket as long as the index is small.
        let shared = (1...4_000).filter { (UInt64($0) &* 0x9E37_79B9_7F4A_7C15) >> 32 & 31 == 7 }.prefix(12).map {
            Int64($0)
        }
        cache.add(RowBatch(chunk: try chunk(stack, shared.map { ($0, 1) })), store: 1, since: cache.ticket)
        #expect(cache.row(for: try key(stack, shared[0])) != nil)
        for number in shared {
            var batch = ChangeBatch()
            batch.inserts = [try chunk(stack, [(number, 2)])]
            cache.save(batch, touched: [], store: 1, since: cache.ticket)
        }
        var known = 0
        for number in shared {
            guard let found = cache.row(for: try key(stack, number)) else { continue }
            #expect(found.chunk.row(found.row).version(found.chunk.layout) == 2)
            known += 1
        }
        #expect(known == 4)
    }

    @Test("Rows read before a save of their table ended are not taken")
    func lateRows() throws {
        let stack = try Stack()
        let cache = RowCache(stack.coordinator.runtime)
        let ticket = cache.ticket
        var batch = ChangeBatch()
        batch.inserts = [try chunk(stack, [(1, 2)])]
        cache.save(batch, touched: [], store: 1, since: ticket)
        cache.add(RowBatch(chunk: try chunk(stack, [(1, 1), (2, 1)])), store: 1, since: ticket)
        let found = try #require(cache.row(for: try key(stack, 1)))
        #expect(found.chunk.row(found.row).version(found.chunk.layout) == 2)
        #expect(cache.row(for: try key(stack, 2)) == nil)
        // A save that another one overtook puts out what it wrote.
        batch.inserts = [try chunk(stack, [(1, 1)])]
        cache.save(batch, touched: [], store: 1, since: ticket)
        #expect(cache.row(for: try key(stack, 1)) == nil)
    }

    @Test("Two thousand random steps never show an older row than the last one, nor one that went", arguments: 0..<4)
    func random(_ seed: Int) throws {
        let stack = try Stack()
        let cache = RowCache(stack.coordinator.runtime)
        cache.limit = seed % 2 == 0 ? 100_000 : RowCache.defaultLimit
        var state = UInt64(seed) &* 977 &+ 13
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var versions: [Int64: Int32] = [:]
        var hits = 0
        for _ in 0..<2_000 {
            let count = [1, 1, 3, 20, 120][random(5)]
            var keys = Array(Set((0..<count).map { _ in Int64(random(2000) + 1) }))
            if random(2) == 0 { keys.sort() }
            switch random(8) {
            case 0:
                for key in keys { versions[key, default: 0] += 1 }
                var batch = ChangeBatch()
                batch.inserts = [try chunk(stack, keys.map { ($0, versions[$0] ?? 0) })]
                cache.save(batch, touched: [], store: 1, since: cache.ticket)
            case 1, 2:
                let rows = keys.compactMap { key in versions[key].map { (key, $0) } }
                guard !rows.isEmpty else { continue }
                cache.add(RowBatch(chunk: try chunk(stack, rows)), store: 1, since: cache.ticket)
            case 3 where count < 20:
                for key in keys { versions[key, default: 0] += 1 }
                try cache.forget(keys.map { try self.key(stack, $0) })
            default:
                for number in keys.prefix(5) {
                    guard let found = cache.row(for: try key(stack, number)) else { continue }
                    let row = found.chunk.row(found.row)
                    hits += 1
                    let isRight =
                        row.key(found.chunk.layout) == number && row.version(found.chunk.layout) == versions[number]
                    if !isRight { Issue.record("row \(number) is not the last one") }
                }
            }
        }
        #expect(hits > 300)
    }
}
