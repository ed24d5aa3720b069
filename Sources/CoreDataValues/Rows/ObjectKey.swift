// Names for rows and entities: plain numbers, cheap to compare and to hash.

/// The place of an entity in its schema: 0 for the first in depth-first, case-insensitive order.
///
/// In SQLite the entity's number (`Z_ENT`) is this plus one. A subtree is a contiguous range.
@frozen
@usableFromInline
package struct EntityIndex: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    @usableFromInline package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    package init(_ value: Int) { rawValue = UInt16(value) }
    @usableFromInline package static func < (a: EntityIndex, b: EntityIndex) -> Bool { a.rawValue < b.rawValue }
    package var value: Int { Int(rawValue) }
    /// `Z_ENT` in a store.
    package var number: Int { Int(rawValue) + 1 }
}

/// The place of a declared relationship in `Schema.relationships`.
package struct RelationshipIndex: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package init(_ value: Int) { rawValue = value }
}

/// A row inside one store: its entity and its number (`Z_PK`). Numbers below zero belong to unsaved objects.
package struct RowKey: Hashable, Sendable {
    package let entity: EntityIndex
    package let number: Int64
    package init(entity: EntityIndex, number: Int64) {
        self.entity = entity
        self.number = number
    }
}

/// A row among all stores of a coordinator.
package struct ObjectKey: Hashable, Sendable, Codable {
    package let number: Int64
    package let entity: EntityIndex
    /// 0 for an object that has no store yet.
    package let store: UInt16
    package init(number: Int64, entity: EntityIndex, store: UInt16) {
        self.number = number
        self.entity = entity
        self.store = store
    }
    package var row: RowKey { RowKey(entity: entity, number: number) }
}
