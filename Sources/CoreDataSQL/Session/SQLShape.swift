// What a kept statement is for.

import CoreDataValues

/// Names a statement among those that a session keeps prepared: to compare shapes is a tenth of hashing a text.
package enum SQLShape: Hashable, Sendable {
    case insert(EntityIndex, rows: Int)
    case update(EntityIndex, slots: [Int])
    case delete(EntityIndex, rows: Int)
    case version(EntityIndex)
    case touch(EntityIndex, isSingle: Bool)
    /// One of the texts of `SelectionCache`.
    case select(Int)
    /// Of a tree; single rows are read most often.
    case row(EntityIndex)
    case rows(EntityIndex)
    case members(RelationshipIndex)
    case membership(RelationshipIndex)
    case targets(RelationshipIndex)
    case targetsOfAll(RelationshipIndex)
    case link(RelationshipIndex)
    case unlink(RelationshipIndex)
    case lastPosition(RelationshipIndex)
    case positions(RelationshipIndex)
    case position(RelationshipIndex)
    case dataVersion
    case order(RelationshipIndex)
    case adopt(RelationshipIndex)
    case release(RelationshipIndex)
    case allocate(EntityIndex)
    /// A statement that has no smaller name.
    case text(String)
}

extension SelectCompiler {
    /// The text of a shape that reads rows of a shape.
    package func text(of shape: SQLShape, _ rows: RowShape) throws -> String {
        switch shape {
        case .row: return try row(in: map.schema[rows.first], shape: rows)
        case .rows: return try self.rows(in: map.schema[rows.first], shape: rows)
        case .members(let relationship): return try members(of: map.schema[relationship], shape: rows)
        case .targets(let relationship): return try targets(of: map.schema[relationship], shape: rows)
        case .targetsOfAll(let relationship): return try targetsOfAll(of: map.schema[relationship], shape: rows)
        case .text(let text): return text
        case .insert, .update, .delete, .version, .touch, .select, .membership, .link, .unlink, .lastPosition,
            .positions, .position,
            .dataVersion, .order, .adopt, .release, .allocate:
            throw StoreError(134060, "The statement \(shape) is not one that reads rows.")
        }
    }
}

extension WriteCompiler {
    /// The text of a shape that writes, or that is read while writing.
    package func text(of shape: SQLShape) throws -> String {
        switch shape {
        case .insert(let entity, let rows): return try insert(map.schema[entity], rows: rows)
        case .update(let entity, let slots): return try update(map.schema[entity], slots: slots)
        case .delete(let entity, let rows): return try delete(map.schema[entity], rows: rows)
        case .version(let entity): return try version(map.schema[entity])
        case .touch(let entity, let isSingle): return try touch(map.schema[entity], isSingle: isSingle)
        case .allocate(let entity): return try allocate(map.schema[entity])
        case .link(let relationship):
            let table = try join(of: relationship)
            let side = table.side(of: relationship)
            return link(side, other: side == table.side ? table.inverseSide : table.side, in: table)
        case .unlink(let relationship):
            let table = try join(of: relationship)
            return unlink(table.side(of: relationship), in: table)
        case .lastPosition(let relationship): return lastPosition(try columns(of: relationship))
        case .positions(let relationship): return positions(try columns(of: relationship))
        case .position(let relationship): return position(try columns(of: relationship))
        case .order(let relationship): return order(try columns(of: relationship))
        case .adopt(let relationship):
            let table = try map.table(of: map.schema[relationship].destination)
            return adopt(try ownerColumn(of: relationship, in: table), in: table)
        case .release(let relationship):
            let table = try map.table(of: map.schema[relationship].destination)
            return release(try ownerColumn(of: relationship, in: table), in: table)
        case .text(let text): return text
        case .select, .row, .rows, .members, .membership, .targets, .targetsOfAll, .dataVersion:
            throw StoreError(134060, "The statement \(shape) is not one that writes.")
        }
    }

    private func join(of relationship: RelationshipIndex) throws -> JoinTable {
        guard let table = map.join(of: relationship) else { throw notStored(relationship) }
        return table
    }

    private func columns(of relationship: RelationshipIndex) throws -> PositionColumns {
        guard let columns = try map.positions(of: relationship) else { throw notOrdered(relationship) }
        return columns
    }

    private func ownerColumn(of relationship: RelationshipIndex, in table: TableMap) throws -> Column {
        guard let column = table.ownerColumn(of: relationship) else { throw notStored(relationship) }
        return column
    }

    func notStored(_ index: RelationshipIndex) -> StoreError {
        let relationship = map.schema[index]
        let owner = map.schema[relationship.owner].name
        return StoreError(
            134060,
            "\(owner).\(relationship.name) has no table or column of its own, so its members cannot be written "
                + "this way. Write the inverse's to-one instead.",
            entity: owner, property: relationship.name)
    }

    func notOrdered(_ index: RelationshipIndex) -> StoreError {
        let relationship = map.schema[index]
        let owner = map.schema[relationship.owner].name
        return StoreError(
            134060,
            "\(owner).\(relationship.name) is not ordered, so its members have no order to write. Make it "
                + "ordered in the model.",
            entity: owner, property: relationship.name)
    }
}
