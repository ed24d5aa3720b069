// Between the nodes of an atomic store and rows.

import CoreDataValues
import Foundation

/// Makes rows of the nodes that a store loaded.
struct NodeReader {
    let schema: Schema
    let nodes: Set<NSAtomicStoreCacheNode>

    func image(_ metadata: StoreMetadata) throws -> StoreImage {
        var image = StoreImage(metadata: metadata)
        for node in nodes.sorted(by: { $0.objectID.key.number < $1.objectID.key.number }) {
            image.rows.append(try row(node))
            try members(node, &image)
        }
        image.rows.sort { ($0.key.entity, $0.key.number) < ($1.key.entity, $1.key.number) }
        return image
    }

    private func row(_ node: NSAtomicStoreCacheNode) throws -> MemoryRow {
        let key = node.objectID.key.row
        let entity = schema[key.entity]
        let foreign = ForeignValues(schema: schema, entity: entity)
        var values = [Value](repeating: .null, count: entity.slots.count)
        for (slot, property) in entity.slots.enumerated() where property.attribute != nil && !property.isTransient {
            values[slot] = try foreign.value(slot: slot) { node.value(forKey: $0) }
        }
        for relationship in foreign.toOnes {
            foreign.point(&values, relationship, at: target(node.value(forKey: relationship.name)))
        }
        return MemoryRow(key: key, version: 1, values: values)
    }

    private func target(_ value: Any?) -> RowKey? {
        switch value {
        case let node as NSAtomicStoreCacheNode: node.objectID.key.row
        case let id as NSManagedObjectID: id.key.row
        default: nil
        }
    }

    /// What rows do not tell: pairs, members without inverse, orders.
    private func members(_ node: NSAtomicStoreCacheNode, _ image: inout StoreImage) throws {
        let key = node.objectID.key
        for index in schema[key.entity].toMany {
            let relationship = schema[index]
            let value = node.value(forKey: relationship.name)
            let members: [Any] =
                (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? (value as? [Any]) ?? []
            let inverse = relationship.inverse.map { schema[$0] }
            let isManyToMany = inverse?.isToMany == true
            for (place, member) in members.compactMap({ target($0)?.number }).enumerated() {
                let pair = StoreImage.Pair(relationship: index, owner: key.number, member: member, place: place)
                if inverse == nil { image.adoptions.append(pair) }
                if isManyToMany { image.links.append(pair) }
                guard relationship.isOrdered else { continue }
                image.places.append(
                    .init(relationship: index, owner: isManyToMany ? key.number : 0, member: member, place: place))
            }
        }
    }
}
