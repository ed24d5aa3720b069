// The model and rows that the store's tests share.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

/// Foundation has types of the same names.
typealias Predicate = CoreDataValues.Predicate
typealias Expression = CoreDataValues.Expression

/// A small model of a field hospital: inheritance, every kind of relationship, a constraint, an index.
enum Triage {
    static let schema: Schema = {
        do { return try Schema(checking: draft) } catch { preconditionFailure("\(error)") }
    }()

    static var draft: SchemaDraft {
        SchemaDraft(assessment, casualty, injury, place, station)
    }

    static var assessment: EntityDraft {
        var entity = EntityDraft(name: "Assessment")
        entity.attributes = [attribute("note", .string), attribute("confidence", .double)]
        entity.relationships = [toMany("casualties", "Casualty", "assessments")]
        return entity
    }

    static var casualty: EntityDraft {
        var entity = EntityDraft(name: "Casualty")
        var photo = attribute("photo", .binary)
        photo.allowsExternalBinaryDataStorage = true
        var passing = attribute("passing", .string)
        passing.isTransient = true
        entity.attributes = [
            attribute("name", .string), attribute("age", .integer16), attribute("alive", .boolean),
            attribute("admittedAt", .date), attribute("weight", .decimal), attribute("link", .uri),
            attribute("tag", .uuid), photo, passing,
        ]
        entity.relationships = [
            toOne("station", "Place", "casualties"), toMany("injuries", "Injury", "casualty", ordered: true),
            toMany("assessments", "Assessment", "casualties"), toMany("contacts", "Casualty", "contacts"),
        ]
        entity.uniquenessConstraints = [["tag"]]
        entity.indexes = [
            FetchIndex(
                name: "byName",
                elements: [.init(property: "name"), .init(property: "admittedAt", isAscending: false)])
        ]
        return entity
    }

    static var injury: EntityDraft {
        var entity = EntityDraft(name: "Injury")
        entity.attributes = [attribute("severity", .integer32), attribute("kind", .string)]
        entity.relationships = [toOne("casualty", "Casualty", "injuries")]
        return entity
    }

    static var place: EntityDraft {
        var entity = EntityDraft(name: "Place")
        entity.attributes = [attribute("name", .string)]
        entity.relationships = [
            toMany("casualties", "Casualty", "station"), toMany("visits", "Assessment", nil),
        ]
        return entity
    }

    static var station: EntityDraft {
        EntityDraft(
            "Station", [attribute("capacity", .integer64), attribute("Name", .string)], parent: "Place")
    }

    static func attribute(_ name: String, _ type: AttributeType) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = true
        return attribute
    }

    static func toOne(_ name: String, _ destination: String, _ inverse: String?) -> Relationship {
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.isOptional = true
        return relationship
    }

    static func toMany(
        _ name: String, _ destination: String, _ inverse: String?, ordered: Bool = false
    ) -> Relationship {
        var relationship = toOne(name, destination, inverse)
        relationship.maxCount = 0
        relationship.isOrdered = ordered
        return relationship
    }
}

extension Folder {
    var file: URL { file("Model.sqlite") }

    func store(_ schema: Schema = Triage.schema, _ change: (inout SQLiteOptions) -> Void = { _ in }) throws
        -> SQLiteStore
    {
        var options = SQLiteOptions()
        change(&options)
        return try SQLiteStore(url: file, schema: schema, configuration: nil, options: options)
    }
}

/// A row as a test writes and reads it.
struct TestRow: Equatable {
    var key: Int64
    var version: Int32 = 1
    var entity: String
    var values: [String: Value]
}

extension Schema {
    func chunk(_ entity: String, _ rows: [(key: Int64, values: [String: Value])], version: Int32 = 1) throws
        -> RowChunk
    {
        let entity = try #require(self.entity(named: entity))
        let chunk = RowChunk(layout: entity.layout, capacity: max(1, rows.count))
        for (key, values) in rows {
            let row = chunk.appendRow(key: key, version: version, entity: entity.index)
            for (slot, description) in entity.slots.enumerated() {
                let name = description.kind == .entityTag ? description.name + "#" : description.name
                guard let value = values[name], !value.isNull else { continue }
                row.setCell(slot, chunk.cell(value, description.kind))
            }
        }
        return chunk
    }

    func rows(_ batch: RowBatch) -> [TestRow] {
        let order = batch.order ?? (0..<batch.count).map { RowBatch.Reference(chunk: 0, row: $0) }
        return order.map { row(batch.chunks[Int($0.chunk)], Int($0.row)) }
    }

    private func row(_ chunk: RowChunk, _ index: Int) -> TestRow {
        let (row, layout) = (chunk.row(index), chunk.layout)
        let entity = self[row.entity(layout)]
        var values: [String: Value] = [:]
        for (slot, description) in entity.slots.enumerated() where row.isPresent(slot) {
            let name = description.kind == .entityTag ? description.name + "#" : description.name
            values[name] = chunk.value(row[slot], description.kind)
        }
        return TestRow(
            key: row.key(layout), version: row.version(layout), entity: entity.name, values: values)
    }
}

extension RowChunk {
    func cell(_ value: Value, _ kind: SlotKind) -> UInt64 {
        switch value {
        case .null: return 0
        case .bool(let flag): return flag ? 1 : 0
        case .int(let number): return UInt64(bitPattern: number)
        case .double(let number), .date(let number): return number.bitPattern
        case .decimal(let number): return bytes(number.description)
        case .text(let text), .uri(let text): return bytes(text)
        case .data(let data):
            return (kind == .externalData ? Data([1]) + data : data).withUnsafeBytes { store($0) }
        case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { store($0) }
        case .key(let key): return UInt64(bitPattern: key.number)
        }
    }

    private func bytes(_ text: String) -> UInt64 { Array(text.utf8).withUnsafeBytes { store($0) } }

    func value(_ cell: UInt64, _ kind: SlotKind) -> Value {
        switch kind {
        case .int, .toOne, .entityTag: return .int(Int64(bitPattern: cell))
        case .bool: return .bool(cell != 0)
        case .double, .float: return .double(Double(bitPattern: cell))
        case .date: return .date(Double(bitPattern: cell))
        case .text: return .text(text(cell))
        case .uri: return .uri(text(cell))
        case .decimal: return .decimal(Decimal(string: text(cell)) ?? .nan)
        case .data, .transformable: return .data(withBytes(of: cell) { Data($0) })
        case .externalData: return .data(withBytes(of: cell) { Data($0.dropFirst()) })
        case .uuid:
            return withBytes(of: cell) { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        }
    }

    private func text(_ cell: UInt64) -> String {
        withBytes(of: cell) { String(decoding: $0, as: UTF8.self) }
    }
}

extension SQLiteStore {
    func entity(_ name: String) throws -> Entity { try #require(schema.entity(named: name)) }

    func relationship(_ entity: String, _ name: String) throws -> RelationshipIndex {
        try #require(self.entity(entity).relationships.first { schema[$0].name == name })
    }

    func key(_ entity: String, _ number: Int64) throws -> RowKey {
        RowKey(entity: try self.entity(entity).index, number: number)
    }

    @discardableResult
    func insert(_ entity: String, _ rows: [(key: Int64, values: [String: Value])]) throws -> CommitOutcome {
        var batch = ChangeBatch()
        batch.inserts = [try schema.chunk(entity, rows)]
        return try commit(batch)
    }

    func fetch(
        _ entity: String, _ predicate: Predicate? = nil, _ change: (inout FetchPlan) -> Void = { _ in }
    ) throws
        -> [TestRow]
    {
        var plan = FetchPlan(entity: try self.entity(entity).index)
        plan.predicate = predicate
        change(&plan)
        var rows: [TestRow] = []
        try fetch(plan, .latest) { batch in
            rows += schema.rows(batch)
            return .more
        }
        return rows
    }

    func keys(_ entity: String, _ predicate: Predicate? = nil, _ change: (inout FetchPlan) -> Void = { _ in })
        throws
        -> [Int64]
    {
        try fetch(entity, predicate, change).map(\.key)
    }

    func rows(_ entity: String, _ numbers: [Int64]) throws -> [TestRow] {
        var result: [TestRow] = []
        try rows(for: numbers, in: try self.entity(entity).index, .latest) { batch in
            result += schema.rows(batch)
            return .more
        }
        return result
    }

    func members(_ entity: String, _ name: String, of number: Int64) throws -> [Int64] {
        var result: [Int64] = []
        try members(of: relationship(entity, name), owner: key(entity, number), .latest) { batch in
            result += schema.rows(batch).map(\.key)
            return .more
        }
        return result
    }
}

extension CommitOutcome {
    var conflicts: [Conflict] {
        switch self {
        case .committed: []
        case .conflicts(let conflicts): conflicts
        }
    }
}
