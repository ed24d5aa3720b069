// Decode plans that are kept.

import CoreDataValues
import Synchronization

/// Decode plans, made once for each kind of result.
package final class ShapeCache: Sendable {
    private let map: StoreMap
    /// Four an entity: alone or with its descendants, with values or without.
    private let shapes: Mutex<[RowShape?]>
    /// The same, by what a fetch says instead of the last entity.
    private let fetched: Mutex<[RowShape?]>
    /// That of all rows of an entity's tree, with values.
    private let trees: Mutex<[RowShape?]>

    init(_ map: StoreMap) {
        self.map = map
        shapes = Mutex(Array(repeating: nil, count: 4 * map.schema.entities.count))
        fetched = Mutex(Array(repeating: nil, count: 4 * map.schema.entities.count))
        trees = Mutex(Array(repeating: nil, count: map.schema.entities.count))
    }

    /// All rows of the tree that an entity belongs to, with values.
    package func tree(_ index: EntityIndex) throws -> RowShape {
        if let known = trees.withLock({ $0[index.value] }) { return known }
        let root = map.schema[map.schema[index].root]
        let shape = try shape(root, last: root.last, includesValues: true)
        trees.withLock { $0[index.value] = shape }
        return shape
    }

    package func shape(_ index: EntityIndex, withSubentities: Bool, includesValues: Bool) throws -> RowShape {
        let place = 4 * index.value + (withSubentities ? 2 : 0) + (includesValues ? 1 : 0)
        if let known = fetched.withLock({ $0[place] }) { return known }
        let entity = map.schema[index]
        let shape = try shape(
            entity, last: withSubentities ? entity.last : entity.index, includesValues: includesValues)
        fetched.withLock { $0[place] = shape }
        return shape
    }

    /// - Parameter last: the entity itself, or the last of its descendants.
    package func shape(_ entity: Entity, last: EntityIndex, includesValues: Bool) throws -> RowShape {
        let place = 4 * entity.index.value + (last == entity.index ? 0 : 2) + (includesValues ? 1 : 0)
        return try shapes.withLock { shapes in
            if let known = shapes[place] { return known }
            let shape = try RowShape(map: map, entity: entity, last: last, includesValues: includesValues)
            shapes[place] = shape
            return shape
        }
    }
}
