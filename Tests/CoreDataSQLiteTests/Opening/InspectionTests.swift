// The two steps of opening a SQLite store: inspecting answers, opening refuses.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Inspecting a SQLite store")
struct InspectionTests {
    let folder = Folder()

    private func inspect(_ schema: Schema = Triage.schema, _ url: URL? = nil) throws -> StoreInspection {
        try SQLiteStore.inspect(url: url ?? folder.file, plan: StorePlan(schema: schema, configuration: nil))
    }

    private func schema(_ change: (inout SchemaDraft) -> Void) throws -> Schema {
        var draft = Triage.draft
        change(&draft)
        return try Schema(checking: draft)
    }

    private func files() throws -> [String: Data] {
        let names = try folder.names()
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.url.appendingPathComponent($0))) })
    }

    @Test("A model that does not fit is an answer, which opening throws in the same words; the file stays as it is")
    func mismatch() throws {
        let store = try folder.store()
        let uuid = store.identifier
        try store.insert("Injury", [(1, [:])])
        try store.close()
        let before = try files()
        let other = try schema {
            $0.entities[2].attributes[0].type = .double
            $0.entities[3].attributes[0].isOptional = false
            $0.entities.append(EntityDraft(name: "Zone"))
        }
        let found = try inspect(other)
        #expect(found.content == .store && found.metadata?.uuid == uuid)
        let mismatch = try #require(found.mismatch)
        #expect(
            mismatch.changed == ["Injury", "Place", "Station"] && mismatch.onlyInModel == ["Zone"]
                && mismatch.onlyInStore == [])
        #expect(mismatch.writer() == nil, "the schema lies in no package")
        let error = #expect(throws: StoreError.self) { try folder.store(other) }
        #expect(error?.code == 134100 && error?.sentence == mismatch.refusal(at: folder.file.path).sentence)
        #expect(
            error?.sentence == """
                The model does not fit the store at \(folder.file.path). Entities that differ: Injury, Place, Station. Only in the model: \
                Zone. Open the store with the model that wrote it, or migrate it.
                """)
        #expect(try inspect().mismatch == nil)
        #expect(try files()["Model.sqlite"] == before["Model.sqlite"])
    }

    @Test("A renamed entity is one that only the model has and one that only the store has")
    func renamed() throws {
        try folder.store().close()
        let other = try schema {
            $0.entities[0].name = "Triage"; $0.entities[1].relationships[2].destinationName = "Triage"
            $0.entities[1].relationships[2].inverseEntityName = "Triage";
            $0.entities[3].relationships[1].destinationName = "Triage"
        }
        let mismatch = try #require(try inspect(other).mismatch)
        #expect(mismatch.onlyInModel == ["Triage"] && mismatch.onlyInStore == ["Assessment"])
        #expect(mismatch.changed == ["Casualty", "Place", "Station"])
    }

    @Test("Names are told up to twenty, and how many more there are")
    func bounded() throws {
        var draft = SchemaDraft()
        draft.entities = (1...30).map { EntityDraft(name: "E\($0 + 100)") }
        try folder.store(Schema(checking: draft)).close()
        for place in draft.entities.indices { draft.entities[place].versionHashModifier = "2" }
        let sentence = try #require(try inspect(Schema(checking: draft)).mismatch).refusal(at: "x").sentence
        #expect(sentence.contains("E119, E120, and 10 more.") && !sentence.contains("E121"), "\(sentence)")
    }

    @Test("Where nothing is yet, nothing is found and nothing made")
    func nothing() throws {
        #expect(try inspect().content == .nothing)
        #expect(try files().isEmpty)
        try Data().write(to: folder.file)
        let empty = try inspect()
        #expect(empty.content == .nothing && empty.metadata == nil && empty.mismatch == nil)
        #expect(try files() == ["Model.sqlite": Data()])
        #expect(try inspect(Triage.schema, URL(fileURLWithPath: "/dev/null")).content == .nothing)
    }

    @Test("What is no store, or cannot be read, is an error")
    func unreadable() throws {
        try Data(repeating: 0x41, count: 5000).write(to: folder.file)
        #expect((#expect(throws: StoreError.self) { try inspect() })?.code == 134080)
        #expect((#expect(throws: StoreError.self) { try inspect(Triage.schema, folder.url) })?.code == 134080)
    }

    @Test("A store that is open is inspected beside its writer")
    func open() throws {
        let store = try folder.store()
        try store.insert("Injury", [(1, [:])])
        #expect(try inspect().mismatch == nil)
        #expect(try inspect(schema { $0.entities[2].isAbstract = true }).mismatch?.changed == ["Injury"])
        #expect(try store.keys("Injury") == [1])
        try store.close()
    }
}
