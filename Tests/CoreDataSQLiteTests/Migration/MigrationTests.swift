// A plan performed on a file: what the rows, members, files, history and tables are afterwards.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite("Migration of a store")
struct MigrationTests {
    let folder = Folder()

    private var files: [String] {
        let path = folder.url.appendingPathComponent(".Model_SUPPORT/_EXTERNAL_DATA").path
        return (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
    }

    private func migrated(_ change: (inout MigrationPlan) -> Void = { _ in }) throws -> SQLiteStore {
        let store = try folder.store(MovedTriage.before) { $0.recordsHistory = true }
        try MovedTriage.fill(store)
        var metadata = try store.metadata()
        metadata.userInfo = try PropertyListSerialization.data(
            fromPropertyList: ["who": "me"], format: .binary, options: 0)
        try store.setMetadata(metadata)
        var plan = try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.after))
        change(&plan)
        _ = try #require(store.migrator).migrate(plan, configuration: nil)
        return try folder.store(MovedTriage.after) { $0.recordsHistory = true }
    }

    @Test(
        "Rows keep numbers, versions and values under their new names; what is new has its default, what pointed at rows that went nothing"
    )
    func rows() throws {
        let store = try migrated()
        let patients = try store.fetch("Patient") { $0.sort = [SortTerm(keyPath: ["level"])] }
        #expect(patients.map(\.key).sorted() == Array(1...39))
        for row in patients {
            let number = row.key
            #expect(row.version == (number == 4 || number == 7 ? row.version : 1))
            #expect(row.values["fullName"] == .text("c\(number)") && row.values["level"] == .int(3))
            #expect(row.values["age"] == (number % 2 == 0 ? .int(number) : nil))
            #expect(
                row.values["alive"] == .bool(number % 3 == 0) && row.values["weight"] == .decimal(Decimal(number) / 4))
            #expect(row.values["admittedAt"] == .date(Double(number) * 1.5))
            let place = number % 3 + 1
            let entity = place == 3 ? nil : try store.entity(place == 1 ? "Station" : "Place").index.number
            #expect(row.values["station"] == (place == 3 ? nil : .int(place)), "\(number)")
            #expect(row.values["station#"] == entity.map { .int(Int64($0)) }, "\(number)")
        }
        #expect(try store.keys("Place").sorted() == [1, 2] && store.keys("Aid").isEmpty)
        #expect(try store.fetch("Station").first?.entity == "Station")
        let condition = try FormatParser.predicate("station.name == 'place 1' AND fullName BEGINSWITH 'c3'")
        #expect(try store.keys("Patient", condition) == [3, 30, 33, 36, 39])
    }

    @Test("What of a program's own definitions could not stay is answered, for the caller to tell of")
    func omitted() throws {
        let store = try folder.store(MovedTriage.before)
        try MovedTriage.fill(store)
        try store.pool.write { connection in
            try connection.transaction {
                try connection.run("CREATE VIEW OwnView AS SELECT x FROM nowhere")
                return true
            }
        }
        let plan = try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.after))
        #expect(try #require(store.migrator).migrate(plan, configuration: nil) == ["view OwnView"])
    }

    @Test("Members of every kind come along, in their order")
    func members() throws {
        let store = try migrated()
        #expect(try store.members("Patient", "assessments", of: 4) == [2, 5])
        #expect(try store.members("Assessment", "casualties", of: 5) == [4])
        #expect(try store.members("Patient", "contacts", of: 7) == [4])
        #expect(try store.members("Patient", "injuries", of: 4) == [8, 7])
        #expect(try store.members("Place", "calls", of: 1) == [3])
        #expect(try store.keys("Assessment").count == 6)
    }

    @Test("Files of values stay with their rows, and those of rows that went are gone")
    func externalFiles() throws {
        let store = try migrated()
        #expect(files.count == 1)
        let cell = try #require(store.rows("Patient", [5]).first?.values["photo"])
        guard case .data(let rest) = cell else { return #expect(Bool(false)) }
        let name = String(decoding: rest.prefix(36), as: UTF8.self)
        #expect(try store.externalData(named: name) == Data(repeating: 5, count: 200_000))
        let support = folder.url.appendingPathComponent(".Model_SUPPORT").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: support) == ["_EXTERNAL_DATA"])
    }

    @Test("A cell that names a file outside the folder of values removes none")
    func foreignFiles() throws {
        let (outside, name) = (
            folder.url.appendingPathComponent("kept"), "../../" + String(repeating: "./", count: 13) + "kept"
        )
        try Data([1]).write(to: outside)
        let store = try folder.store(MovedTriage.before)
        try MovedTriage.fill(store)
        try store.pool.write {
            _ = try $0.run("UPDATE ZCASUALTY SET ZPHOTO = CAST(x'02' || '\(name)' || x'00' AS BLOB) WHERE Z_PK = 6")
        }
        var plan = try MigrationPlan(SchemaDiff(from: MovedTriage.before, to: MovedTriage.after))
        let photo = try #require(MovedTriage.after.entity(named: "Patient")?.slots.firstIndex { $0.name == "photo" })
        for place in plan.steps.indices {
            guard case .copy(var copy) = plan.steps[place],
                copy.source == MovedTriage.before.entity(named: "Casualty")?.index
            else {
                continue
            }
            copy.values.removeAll { $0.slot == photo }
            plan.steps[place] = .copy(copy)
        }
        _ = try #require(store.migrator).migrate(plan, configuration: nil)
        #expect(files.isEmpty && FileManager.default.fileExists(atPath: outside.path))
    }

    @Test(
        "Tables, columns, indexes and triggers are those of a new store, metadata keep what is the program's, and numbers are not given again"
    )
    func definitions() throws {
        let store = try migrated()
        let own = try store.metadata()
        let hashes = Dictionary(uniqueKeysWithValues: MovedTriage.after.entities.map { ($0.name, $0.versionHash) })
        #expect(own.userInfo != nil && own.versionHashes == hashes)
        #expect(own.uuid == store.identifier)
        let other = Folder()
        let new = try other.store(MovedTriage.after) { $0.recordsHistory = true }
        func all(_ store: SQLiteStore, _ sql: String) throws -> Set<String> {
            try store.pool.read { connection in
                let statement = try Statement(sql, on: connection)
                defer { statement.finish() }
                var all: Set<String> = []
                while try statement.step() { all.insert(statement.text(0) ?? "") }
                return all
            }
        }
        let names = "SELECT type || name FROM sqlite_master WHERE name NOT LIKE '%ACHANGE%'"
        // Indexes of renamed join tables keep the names that they were made with, beside those of the new model.
        let kept = try all(store, names).subtracting(all(new, names))
        #expect(
            kept.allSatisfy { $0.hasPrefix("indexZ_") && $0.hasSuffix("_INDEX") || $0.hasPrefix("indexZASSESSMENT_Z") },
            "\(kept)")
        #expect(try all(new, names).isSubset(of: all(store, names)))
        let columns =
            "SELECT m.name || c.name || c.type || ifnull(c.dflt_value, '') FROM sqlite_master m, pragma_table_info(m.name) c "
            + "WHERE m.type = 'table' AND m.name NOT LIKE '%ACHANGE%'"
        #expect(try all(store, columns) == all(new, columns))
        let triggers = "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
        #expect(try all(store, triggers) == all(new, triggers))
        let patient = try store.entity("Patient").index
        #expect(try store.allocateKeys(1, in: patient).lowerBound > 40 || store.rows("Patient", [40]).isEmpty)
        try store.insert("Patient", [(1000, ["fullName": .text("new"), "level": .int(1)])])
        #expect(try store.pool.read { try $0.run("PRAGMA integrity_check") } == "ok")
    }

    @Test(
        "Where entities go, the history up to their last change is cut off; what comes later is told under the new names"
    )
    func history() throws {
        let store = try migrated()
        let patient = try store.entity("Patient").index
        var changes: [HistoryChange] = []
        try store.openHistory(after: 0).forEach { transaction in
            changes += transaction.changes
            return .more
        }
        #expect(changes.allSatisfy { $0.kind == .delete && $0.key == RowKey(entity: patient, number: 40) })
        let deleted = try #require(changes.first)
        let name = try #require(store.entity("Patient").slots.firstIndex { $0.name == "fullName" })
        #expect(deleted.tombstone == [name: .text("c40")])
        let last = try #require(try store.lastTransaction())
        try store.insert("Aid", [(1, [:])])
        #expect(try store.lastTransaction() == last + 1)
    }

    @Test("A value is computed of the row as it was")
    func computed() throws {
        let store = try migrated { plan in
            let (from, to) = (MovedTriage.before.entity(named: "Casualty"), MovedTriage.after.entity(named: "Patient"))
            let (name, level) = (
                to?.slots.firstIndex { $0.name == "fullName" } ?? -1, to?.slots.firstIndex { $0.name == "level" } ?? -1
            )
            for place in plan.steps.indices {
                guard case .copy(var copy) = plan.steps[place], copy.source == from?.index else { continue }
                copy.values.removeAll { $0.slot == name || $0.slot == level }
                copy.values.append(SlotFill(name, .computed(.function("uppercase:", [.keyPath(["name"])]))))
                copy.values.append(
                    SlotFill(
                        level, .computed(.function("add:to:", [.keyPath(["injuries", "@count"]), .constant(.int(1))]))))
                plan.steps[place] = .copy(copy)
            }
        }
        let row = try #require(store.rows("Patient", [7]).first)
        #expect(row.values["fullName"] == .text("C7") && row.values["level"] == .int(3))
    }
}
