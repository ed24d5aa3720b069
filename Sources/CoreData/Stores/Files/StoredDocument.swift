// The content of a store file, with names in the place of the schema's numbers.

import CoreDataValues
import Foundation

/// What the formats write and read.
struct StoredDocument {
    enum Content {
        case value(Value)
        case reference(entity: String, number: Int64)
    }

    struct Object {
        var entity: String
        var number: Int64
        var version: Int32
        /// By property, nils left out.
        var values: [(name: String, content: Content)] = []
    }

    /// A member of a to-many that no row tells, or its place.
    struct Pair {
        enum Kind: String, CaseIterable { case link, adoption, place }
        var kind: Kind
        var entity: String
        var relationship: String
        var owner: Int64
        var member: Int64
        var place: Int
    }

    var metadata: StoreMetadata
    /// The next number of each tree, by its root's name.
    var next: [(entity: String, number: Int64)] = []
    var objects: [Object] = []
    var pairs: [Pair] = []

    init(metadata: StoreMetadata) { self.metadata = metadata }
}

// MARK: From and to images

extension StoredDocument {
    init(_ image: StoreImage, _ schema: Schema) {
        metadata = image.metadata
        next = image.next.sorted { $0.key < $1.key }.map { (schema[$0.key].name, $0.value) }
        objects = image.rows.map { StoredDocument.object($0, schema) }
        pairs =
            image.links.map { StoredDocument.pair(.link, $0, schema) }
            + image.adoptions.map { StoredDocument.pair(.adoption, $0, schema) }
            + image.places.map { StoredDocument.pair(.place, $0, schema) }
    }

    private static func object(_ row: MemoryRow, _ schema: Schema) -> Object {
        let entity = schema[row.key.entity]
        var object = Object(entity: entity.name, number: row.key.number, version: row.version)
        for (slot, value) in zip(entity.slots, row.values) where !value.isNull && slot.kind != .entityTag {
            guard let index = slot.relationship else {
                object.values.append((slot.name, .value(value)))
                continue
            }
            if case .int(let number) = value {
                object.values.append(
                    (slot.name, .reference(entity: target(of: schema[index], row, schema), number: number)))
            }
        }
        return object
    }

    private static func target(of relationship: ResolvedRelationship, _ row: MemoryRow, _ schema: Schema) -> String {
        if relationship.hasEntityTag, let slot = relationship.slot, case .int(let tag) = row.values[slot + 1],
            tag > 0, tag <= schema.entities.count
        {
            return schema.entities[Int(tag) - 1].name
        }
        return schema[relationship.destination].name
    }

    private static func pair(_ kind: Pair.Kind, _ pair: StoreImage.Pair, _ schema: Schema) -> Pair {
        let relationship = schema[pair.relationship]
        return Pair(
            kind: kind, entity: schema[relationship.owner].name, relationship: relationship.name, owner: pair.owner,
            member: pair.member, place: pair.place)
    }

    /// - Throws: 134080 for names that the schema lacks.
    func image(_ schema: Schema, path: String) throws(StoreError) -> StoreImage {
        var image = StoreImage(metadata: metadata)
        for (name, number) in next {
            image.next[try StoredDocument.entity(name, schema, path).index] = number
        }
        for object in objects { image.rows.append(try StoredDocument.row(object, schema, path)) }
        for pair in pairs {
            let entity = try StoredDocument.entity(pair.entity, schema, path)
            guard let index = entity.relationships.first(where: { schema[$0].name == pair.relationship }) else {
                throw unknown("\(pair.entity).\(pair.relationship)", path)
            }
            let made = StoreImage.Pair(
                relationship: index, owner: pair.owner, member: pair.member, place: pair.place)
            switch pair.kind {
            case .link: image.links.append(made)
            case .adoption: image.adoptions.append(made)
            case .place: image.places.append(made)
            }
        }
        return image
    }

    private static func row(_ object: Object, _ schema: Schema, _ path: String) throws(StoreError) -> MemoryRow {
        let entity = try entity(object.entity, schema, path)
        var values = [Value](repeating: .null, count: entity.slots.count)
        for (name, content) in object.values {
            guard case .slot(let slot)? = entity.places[name] else { throw unknown("\(entity.name).\(name)", path) }
            switch content {
            case .value(let value): values[slot] = value
            case .reference(let target, let number):
                values[slot] = .int(number)
                guard let index = entity.slots[slot].relationship, schema[index].hasEntityTag else { continue }
                values[slot + 1] = .int(Int64(try Self.entity(target, schema, path).index.number))
            }
        }
        return MemoryRow(
            key: RowKey(entity: entity.index, number: object.number), version: object.version, values: values)
    }

    private static func entity(_ name: String, _ schema: Schema, _ path: String) throws(StoreError) -> Entity {
        guard let entity = schema.entity(named: name) else { throw unknown(name, path) }
        return entity
    }

    private static func unknown(_ name: String, _ path: String) -> StoreError {
        StoreError(
            134080, "The store at \(path) has \(name), which the model lacks. Open it with the model that wrote it.",
            path: path)
    }

    private func unknown(_ name: String, _ path: String) -> StoreError { StoredDocument.unknown(name, path) }
}

/// A way to write a document as bytes.
protocol StoreFormat {
    static func encode(_ document: StoredDocument) throws -> Data
    /// - Throws: 134080 for bytes that are not this format or are damaged.
    static func decode(_ data: Data, path: String) throws -> StoredDocument
}

extension StoreFormat {
    static func damaged(_ path: String, _ what: String) -> StoreError {
        StoreError(
            134080, "The file at \(path) is no store of this type or is damaged: \(what). Restore it from a copy.",
            path: path)
    }
}
