// Stores of published programs with many-to-many relationships.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData
@testable import CoreDataSQLite

@Suite struct JoinNameCorpusTests {
    private struct Vectors: Decodable {
        struct Store: Decodable {
            let store: String
            let match: String?
            let source: String?
        }
        let stores: [Store]
    }

    /// Stores with the models that they were written with.
    private static func stores() throws -> [(file: URL, model: URL)] {
        guard let data = try? Data(contentsOf: Corpus.root.appendingPathComponent("hash_vectors.json")) else {
            return []
        }
        return try JSONDecoder().decode(Vectors.self, from: data).stores.compactMap { store in
            guard store.match == "strict", let source = store.source, source.hasSuffix("contents") else { return nil }
            let files = ["stores", "stores-emptied"].map { Corpus.root.appendingPathComponent("\($0)/\(store.store)") }
            guard let file = files.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else { return nil }
            return (file, Corpus.root.appendingPathComponent(source))
        }
    }

    @Test(
        "Each pair that is saved in a file of Core Data stands in its table, in columns that are named after the members"
    )
    func pairs() throws {
        let stores = try Self.stores()
        if stores.isEmpty { return print("skipped: no stores at \(Corpus.root.path)") }
        var (checked, foreign) = (0, 0)
        for (file, url) in stores {
            let rig = Rig(try NSManagedObjectModel(loading: url))
            try Data(contentsOf: file).write(to: rig.folder.file("store"))
            let store = try rig.add()
            let schema = rig.coordinator.runtime.schema
            let computed = try rig.coordinator.runtime.storePlan(nil).map
            let plan = try #require(store.rows as? SQLiteStore).plan.map
            for (join, expected) in zip(plan.joins, computed.joins) {
                if join != expected { foreign += 1 }
                let members = join.side.member
                let (relationship, inverse) = (schema[join.relationship], schema[join.inverse])
                #expect(join.isReflexive || members.contains(relationship.name.uppercased()), "\(file.path) \(members)")
                #expect(join.side.owner.contains((join.isReflexive ? relationship : inverse).name.uppercased()))
                // Numbers that no row has: nothing else is in the way.
                let pair = LinkChange(
                    relationship: join.relationship, owner: RowKey(entity: relationship.owner, number: 900_001),
                    added: [RowKey(entity: inverse.owner, number: 900_002)], removed: [])
                var batch = ChangeBatch()
                batch.links = [pair]
                guard case .committed = try store.rows.commit(batch) else {
                    Issue.record("conflict in \(file.path)")
                    continue
                }
                let found = try #require(
                    try read(
                        "SELECT COUNT(*) FROM \"\(join.name)\" WHERE \"\(join.side.owner)\" = 900001 AND \"\(join.side.member)\" = 900002",
                        rig))
                #expect(found == "1", "\(file.path) \(join)")
                checked += 1
            }
            try rig.coordinator.remove(store)
        }
        print(
            "\(checked) many-to-many relationships in \(stores.count) stores, \(foreign) under other names than computed"
        )
        #expect(checked > 100 && foreign >= 5)
    }

    private func read(_ sql: String, _ rig: Rig) throws -> String? {
        try Connection(
            path: rig.folder.file("store").path, access: .read, options: SQLiteOptions(), counter: StatementCounter()
        ).run(sql)
    }
}
