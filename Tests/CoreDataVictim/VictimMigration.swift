// A store that the process brings from one version of a model to the next, at the store's own contract.

import CoreDataSQLite
import CoreDataValues
import Foundation

/// Notes (some with values in files) and sheets, which go; later notes are entries, with a level.
enum VictimMigration {
    static func first() throws -> Schema {
        var draft = SchemaDraft()
        var (note, sheet) = (EntityDraft(name: "Note"), EntityDraft(name: "Sheet"))
        note.attributes = [attribute("name", .string), data("photo")]
        note.relationships = [many("sheets", "Sheet", "notes")]
        sheet.attributes = [data("scan")]
        sheet.relationships = [many("notes", "Note", "sheets")]
        draft.entities = [note, sheet]
        return try Schema(checking: draft)
    }

    static func second() throws -> Schema {
        var draft = SchemaDraft()
        var entry = EntityDraft(name: "Entry")
        entry.renamingIdentifier = "Note"
        var level = Attribute(name: "level", type: .integer64)
        level.defaultValue = .int(7)
        var title = attribute("title", .string)
        title.renamingIdentifier = "name"
        entry.attributes = [title, data("photo"), level]
        draft.entities = [entry, EntityDraft(name: "Drawer")]
        return try Schema(checking: draft)
    }

    static func store(_ url: URL, _ schema: Schema) throws -> SQLiteStore {
        var options = SQLiteOptions()
        options.recordsHistory = true
        return try SQLiteStore(url: url, schema: schema, configuration: nil, options: options)
    }

    static func prepare(_ url: URL) throws {
        let store = try store(url, first())
        for entity in store.schema.entities { _ = try store.allocateKeys(30, in: entity.index) }
        var batch = ChangeBatch()
        batch.inserts = [
            try chunk("Note", 30, store.schema) { ["name \($0)", Data(repeating: 3, count: $0 == 3 ? 150_000 : 900)] },
            try chunk("Sheet", 2, store.schema) { [Data(repeating: UInt8($0), count: 150_000)] },
        ]
        _ = try store.commit(batch)
        try store.close()
    }

    /// - Parameter values: texts and data, in the order of the slots.
    private static func chunk(_ name: String, _ count: Int, _ schema: Schema, _ values: (Int) -> [any Sendable]) throws -> RowChunk {
        guard let entity = schema.entity(named: name) else { throw BrokenPromise(sentence: "there is no \(name)") }
        let chunk = RowChunk(layout: entity.layout, capacity: count)
        for number in 1...count {
            let row = chunk.appendRow(key: Int64(number), version: 1, entity: entity.index)
            for value in values(number) {
                if let text = value as? String, let slot = entity.slots.firstIndex(where: { $0.kind == .text }) {
                    row.setCell(slot, Array(text.utf8).withUnsafeBytes { chunk.store($0) })
                } else if let data = value as? Data, let slot = entity.slots.firstIndex(where: { $0.kind == .externalData }) {
                    row.setCell(slot, (Data([1]) + data).withUnsafeBytes { chunk.store($0) })
                }
            }
        }
        return chunk
    }

    static func run(_ url: URL) throws {
        let store = try store(url, first())
        guard let migrator = store.migrator else { throw BrokenPromise(sentence: "the store does not migrate") }
        let plan = try MigrationPlan(SchemaDiff(from: first(), to: second()))
        do {
            try migrator.migrate(plan, configuration: nil)
        } catch let error as StoreError {
            Victim.say("refused \(error.code)")
            guard try store.count(FetchPlan(entity: EntityIndex(0)), .latest) == 30 else {
                throw BrokenPromise(sentence: "a refused migration changed the store")
            }
            try migrator.migrate(plan, configuration: nil)
        }
        try self.store(url, second()).close()
    }

    private static func attribute(_ name: String, _ type: AttributeType) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = true
        return attribute
    }

    private static func data(_ name: String) -> Attribute {
        var data = attribute(name, .binary)
        data.allowsExternalBinaryDataStorage = true
        return data
    }

    private static func many(_ name: String, _ destination: String, _ inverse: String) -> Relationship {
        var relationship = Relationship(name: name, destinationName: destination)
        (relationship.inverseName, relationship.inverseEntityName) = (inverse, destination)
        (relationship.isOptional, relationship.maxCount) = (true, 0)
        return relationship
    }
}
