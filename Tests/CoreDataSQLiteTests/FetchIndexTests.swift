// Partial indexes and R-trees in a file, kept by SQLite as rows come and go.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Fetch indexes")
struct FetchIndexTests {
    let folder: Folder
    let schema: Schema

    init() throws {
        folder = try Folder()
        var pin = EntityDraft(name: "Pin")
        pin.attributes = [
            Triage.attribute("latitude", .double), Triage.attribute("longitude", .double),
            Triage.attribute("state", .integer16),
        ]
        pin.indexes = [
            FetchIndex(
                name: "where",
                elements: ["latitude", "longitude"].map { FetchIndex.Element(property: $0, isRTree: true) }),
            FetchIndex(name: "open", elements: [.init(property: "state")], partialPredicate: "state == 3"),
        ]
        var draft = SchemaDraft()
        draft.entities = [pin]
        schema = try Schema(checking: draft)
    }

    @Test("An R-tree follows inserted, changed and deleted rows, and commits count their own rows only")
    func tree() throws {
        let store = try folder.store(schema)
        var rows: [(key: Int64, values: [String: Value])] = []
        for key in Int64(1)...30 { rows.append((key, ["latitude": Value.double(Double(key)), "longitude": .double(7)])) }
        try store.insert("Pin", rows)
        #expect(try store.scalar("SELECT COUNT(*) FROM Z_RT_Pin_where") == "30")
        let near = "SELECT group_concat(Z_PK) FROM Z_RT_Pin_where WHERE ZLATITUDE_MIN >= 4 AND ZLATITUDE_MAX <= 5"
        #expect(try store.scalar(near) == "4,5")
        try store.close()
        let raw = try Raw(folder.file)
        raw.run("UPDATE ZPIN SET ZLATITUDE = 100 WHERE Z_PK = 4; DELETE FROM ZPIN WHERE Z_PK = 6")
        let again = try folder.store(schema)
        #expect(try again.scalar(near) == "5")
        #expect(try again.scalar("SELECT COUNT(*) FROM Z_RT_Pin_where") == "29")
        #expect(try again.scalar("PRAGMA integrity_check") == "ok")
        #expect(try again.insert("Pin", [(40, ["latitude": .double(4.5)])]).conflicts.isEmpty)
        #expect(try again.scalar(near) == "5,40")
    }

    @Test("A fetch finds all rows, whatever a partial index leaves out")
    func partial() throws {
        let store = try folder.store(schema)
        var rows: [(key: Int64, values: [String: Value])] = []
        for key in Int64(1)...30 { rows.append((key, ["state": key % 3 == 0 ? Value.null : Value.int(key % 5)])) }
        try store.insert("Pin", rows)
        let three = Predicate.comparison(Comparison(.keyPath(["state"]), .equal, .constant(.int(3))))
        let other = Predicate.comparison(Comparison(.keyPath(["state"]), .notEqual, .constant(.int(3))))
        #expect(try store.keys("Pin", three).sorted() == [8, 13, 23, 28])
        #expect(try store.keys("Pin", other).count == 26)
        #expect(
            try store.scalar("SELECT COUNT(*) FROM sqlite_master WHERE sql LIKE '%Z_Pin_open%WHERE ZSTATE = 3'") == "1")
    }
}
