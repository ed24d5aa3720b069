// One column of an entity table, and the order columns stand in.

import CoreDataValues

/// A column with the property it keeps.
package struct Column: Sendable, Hashable {
    /// What a column holds beside the three that every table opens with.
    package enum Role: Sendable, Hashable {
        /// The slot's cell, for the declaring entity and its descendants.
        case slot(Int)
        /// The place of the row in an ordered one-to-many (`Z_FOK_…`).
        case order(RelationshipIndex)
        /// The key of the owner in a to-many without inverse.
        case owner(RelationshipIndex)
    }
    package let name: String
    /// What its values are; a dialect says of which type the column is then.
    package let kind: SlotKind
    package let role: Role
    /// The entity that declares the property.
    package let entity: EntityIndex
    package let property: String
}

/// The groups of the store format's column order.
enum ColumnGroup: Int, CaseIterable {
    case integers, toOnes, orders, reals, decimals, texts, uris, uuids, transformables, blobs

    init(_ kind: SlotKind) {
        switch kind {
        case .int, .bool: self = .integers
        case .toOne, .entityTag: self = .toOnes
        case .double, .float, .date: self = .reals
        case .decimal: self = .decimals
        case .text: self = .texts
        case .uri: self = .uris
        case .uuid: self = .uuids
        case .transformable: self = .transformables
        case .data, .externalData: self = .blobs
        }
    }
}
