// Where each property of an entity keeps its value.

/// How the bits of a cell are read. A cell is eight bytes of a row in a `RowChunk`.
@frozen
@usableFromInline
package enum SlotKind: UInt8, Sendable {
    /// Integer 16, 32 and 64: the number itself.
    case int
    /// 0 or 1.
    case bool
    /// The bits of a `Double`.
    case double
    /// A Float attribute: the bits of a `Double` that holds it.
    case float
    /// The bits of a `Double`, seconds since 2001.
    case date
    /// UTF-8 bytes in the chunk's arena.
    case text
    /// Bytes in the arena.
    case data
    /// Bytes in the arena, behind the tag byte 0x01 of the store format (attributes that allow external storage).
    case externalData
    /// Sixteen bytes in the arena.
    case uuid
    /// The UTF-8 text of a URL in the arena.
    case uri
    /// The UTF-8 text of a decimal number in the arena (`Decimal.description`).
    case decimal
    /// The bytes of an archived object in the arena.
    case transformable
    /// A to-one: the number of the target row.
    case toOne
    /// Follows a `toOne` whose destination has sub-entities: the target's `Z_ENT` (entity index plus one).
    case entityTag

    /// The compiler's own comparison of an enum with raw values goes through its protocol outside this module
    /// (90 instructions).
    @inlinable @inline(__always)
    package static func == (a: SlotKind, b: SlotKind) -> Bool { a.rawValue == b.rawValue }

    /// Whether the cell is an offset and a length into the arena.
    package var isArena: Bool {
        switch self {
        case .int, .bool, .double, .float, .date, .toOne, .entityTag: false
        case .text, .data, .externalData, .uuid, .uri, .decimal, .transformable: true
        }
    }
}

extension SlotKind {
    /// The accessors that read and write such a slot, as `_managedKeys` names them.
    package var accessor: String {
        switch self {
        case .int, .bool: "int"
        case .double, .float, .date: "double"
        case .text, .uri: "text"
        case .data, .externalData: "data"
        case .uuid: "uuid"
        case .decimal: "decimal"
        case .transformable: "transformable"
        case .toOne: "toOne"
        case .entityTag: "tag"
        }
    }
}

/// One cell of an entity's rows. A parent's slots are a prefix of its children's.
///
/// A class, so that looking at one costs no copy of what the model says of the attribute.
package final class Slot: Sendable {
    /// The property's name; an `entityTag` carries its relationship's name, an element of a composite its path.
    package let name: String
    package let kind: SlotKind
    /// nil for to-ones and entity tags.
    package let attribute: Attribute?
    /// nil for attributes.
    package let relationship: RelationshipIndex?
    /// The entity that declares the property.
    package let owner: EntityIndex
    package let isTransient: Bool
    /// Whether a nil is refused at save. Never true for an entity tag.
    package let isRequired: Bool
    /// The composite attribute that the slot is a leaf of, which the name begins with; nil for all others.
    package let composite: String?

    init(
        name: String, kind: SlotKind, attribute: Attribute?, relationship: RelationshipIndex?, owner: EntityIndex,
        isTransient: Bool, isRequired: Bool, composite: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.attribute = attribute
        self.relationship = relationship
        self.owner = owner
        self.isTransient = isTransient
        self.isRequired = isRequired
        self.composite = composite
    }
}
