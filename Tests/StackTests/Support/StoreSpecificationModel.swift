// The model and the short hands of the store specification.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Foundation has types of the same names.
typealias Predicate = CoreDataValues.Predicate
typealias Expression = CoreDataValues.Expression

/// A row as it was found.
struct Found: Equatable, CustomStringConvertible {
    let key: RowKey
    let version: Int32
    let values: [String: Value]
    var description: String { "\(key.entity.value)/\(key.number) v\(version) \(values)" }
}

/// The model: every kind of attribute, every kind of relationship.
enum Sample {
    static func model(constraints: Bool) -> NSManagedObjectModel {
        var draft = draft()
        if !constraints { for index in draft.entities.indices { draft.entities[index].uniquenessConstraints = [] } }
        return NSManagedObjectModel(draft: draft)
    }

    private static func attribute(_ name: String, _ type: AttributeType, external: Bool = false) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = true
        attribute.allowsExternalBinaryDataStorage = external
        return attribute
    }

    private static func relation(
        _ name: String, _ destination: String, _ inverse: String?, toMany: Bool = false, ordered: Bool = false
    ) -> Relationship {
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.isOptional = true
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = ordered
        return relationship
    }

    static func draft() -> SchemaDraft {
        var item = EntityDraft(name: "Item")
        item.attributes = [
            attribute("serial", .integer64), attribute("flag", .boolean), attribute("number", .double),
            attribute("ratio", .float), attribute("day", .date), attribute("label", .string),
            attribute("link", .uri), attribute("blob", .binary), attribute("big", .binary, external: true),
            attribute("tag", .uuid), attribute("price", .decimal),
        ]
        item.relationships = [
            relation("owner", "Person", "items"), relation("folder", "Folder", "entries"),
            relation("labels", "Label", "items", toMany: true),
            relation("favouredIn", "Folder", "favourites", toMany: true),
        ]
        let special = EntityDraft("SpecialItem", [attribute("extra", .string)], parent: "Item")
        var person = EntityDraft("Person", [attribute("name", .string)])
        person.uniquenessConstraints = [["name"]]
        person.relationships = [
            relation("items", "Item", "owner", toMany: true), relation("boss", "Person", "reports"),
            relation("reports", "Person", "boss", toMany: true),
            relation("friends", "Person", "friends", toMany: true),
            relation("notes", "Note", nil, toMany: true),
        ]
        let employee = EntityDraft("Employee", parent: "Person")
        var folder = EntityDraft(name: "Folder")
        folder.relationships = [
            relation("entries", "Item", "folder", toMany: true, ordered: true),
            relation("favourites", "Item", "favouredIn", toMany: true, ordered: true),
        ]
        let label = EntityDraft(
            "Label", [attribute("name", .string)], [relation("items", "Item", "labels", toMany: true)])
        let note = EntityDraft("Note", [attribute("text", .string)])
        return SchemaDraft(item, special, person, employee, folder, label, note)
    }
}

/// A store under test with short hands over its batches.
struct Subject {
    let schema: Schema
    let store: any RowStore
    let opened: NSPersistentStore
    private let coordinator: NSPersistentStoreCoordinator
    private let folder: Folder

    /// - Parameters:
    ///   - other: another store whose model this one shares.
    ///   - draft: another model.
    init(
        _ maker: StoreMaker, like other: StoreMaker? = nil, draft: SchemaDraft? = nil, in place: Folder = Folder()
    ) throws {
        folder = place
        let keepsConstraints = maker.keepsConstraints && other?.keepsConstraints ?? true
        let model = draft.map { NSManagedObjectModel(draft: $0) } ?? Sample.model(constraints: keepsConstraints)
        (coordinator, opened) = try maker.open(model, folder)
        store = opened.rows
        schema = coordinator.runtime.schema
    }

    func entity(_ name: String) throws -> Entity { try #require(schema.entity(named: name)) }

    func relationship(_ entity: String, _ name: String) throws -> RelationshipIndex {
        try #require(
            try self.entity(entity).relationships.first { schema[$0].name == name }, "\(entity).\(name)")
    }

    func keys(_ entity: String, _ count: Int) throws -> [RowKey] {
        let entity = try self.entity(entity)
        return try store.allocateKeys(count, in: entity.root).map { RowKey(entity: entity.index, number: $0) }
    }

    func chunk(_ rows: [(RowKey, [String: Value])], version: Int32 = 1) throws -> RowChunk {
        let layout = schema[try #require(rows.first).0.entity].layout
        let chunk = RowChunk(layout: layout, capacity: rows.count)
        for (key, values) in rows {
            let slots = schema[key.entity].slots
            for name in values.keys { try #require(slots.contains { $0.name == name }, "no slot \(name)") }
            try chunk.append(key: key.number, version: version, values: slots.map { values[$0.name] ?? .null })
        }
        return chunk
    }

    /// Inserts rows of one entity and answers their keys.
    @discardableResult
    func insert(_ entity: String, _ rows: [[String: Value]]) throws -> [RowKey] {
        let keys = try keys(entity, rows.count)
        var batch = ChangeBatch()
        batch.inserts = [try chunk(Array(zip(keys, rows)))]
        try commit(batch)
        return keys
    }

    func update(_ key: RowKey, _ values: [String: Value], expected: Int32) throws -> UpdateGroup {
        let slots = schema[key.entity].slots.enumerated().filter { values[$0.element.name] != nil }.map(\.offset)
        return UpdateGroup(
            entity: key.entity, slots: slots, chunk: try chunk([(key, values)], version: expected + 1),
            expected: [expected])
    }

    func commit(_ batch: ChangeBatch) throws {
        let conflicts = try conflicts(batch)
        #expect(conflicts.isEmpty, "\(conflicts)")
    }

    func conflicts(_ batch: ChangeBatch) throws -> [Conflict] {
        switch try store.commit(batch) {
        case .committed: []
        case .conflicts(let conflicts): conflicts
        }
    }

    func found(_ batch: RowBatch) -> [Found] {
        let order =
            batch.order
            ?? (0..<(batch.chunks.first?.count ?? 0)).map { RowBatch.Reference(chunk: 0, row: $0) }
        return order.map { place in
            let chunk = batch.chunks[Int(place.chunk)]
            let row = chunk.row(Int(place.row))
            let entity = schema[chunk.layout.entity]
            var values: [String: Value] = [:]
            for (index, slot) in entity.slots.enumerated() where slot.kind != .entityTag {
                let value = chunk.value(row: Int(place.row), slot: index)
                if !value.isNull { values[slot.name] = value }
            }
            return Found(
                key: RowKey(entity: entity.index, number: row.key(chunk.layout)),
                version: row.version(chunk.layout), values: values)
        }
    }

    func fetch(_ plan: FetchPlan) throws -> [Found] {
        var all: [Found] = []
        try store.fetch(plan, .latest) { batch in
            for chunk in batch.chunks { #expect(chunk.count <= RowChunk.maximumCount) }
            all += found(batch)
            return .more
        }
        return all
    }

    func fetch(_ entity: String, _ change: (inout FetchPlan) -> Void = { _ in }) throws -> [Found] {
        var plan = FetchPlan(entity: try self.entity(entity).index)
        change(&plan)
        return try fetch(plan)
    }

    func row(_ key: RowKey) throws -> Found? {
        var all: [Found] = []
        try store.rows(for: [key.number], in: schema[key.entity].root, .latest) { batch in
            all += found(batch)
            return .more
        }
        #expect(all.count <= 1)
        return all.first
    }

    func members(_ entity: String, _ name: String, of owner: RowKey) throws -> [Int64] {
        var all: [Found] = []
        try store.members(of: try relationship(entity, name), owner: owner, .latest) { batch in
            all += found(batch)
            return .more
        }
        return all.map(\.key.number)
    }

    /// Everything in the store, for comparing before with after.
    func everything() throws -> [Found] {
        try ["Item", "Person", "Folder", "Label", "Note"].flatMap { name in
            try fetch(name).sorted { $0.key.number < $1.key.number }
        }
    }
}

func target(_ key: RowKey) -> Value { .key(ObjectKey(number: key.number, entity: key.entity, store: 0)) }

extension Value {
    /// Equal to the bit: texts by their scalars, numbers by their bits.
    func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.text(let a), .text(let b)), (.uri(let a), .uri(let b)): Array(a.utf8) == Array(b.utf8)
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a == b
        case (_, _): self == other
        }
    }
}
