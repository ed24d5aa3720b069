// Join tables, orders, and to-many relationships without inverse.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Writes what has no cell in a row. Runs inside a transaction.
struct LinkWriter {
    let map: StoreMap
    let compiler: WriteCompiler
    let connection: Connection

    /// A pair that is in both directions of one relationship is written in both.
    func link(_ change: LinkChange) throws {
        guard let table = map.join(of: change.relationship) else { throw notStored(change.relationship) }
        let side = table.side(of: change.relationship)
        let other = side == table.side ? table.inverseSide : table.side
        let removal = try connection.statement(.unlink(change.relationship)) {
            compiler.unlink(side, in: table)
        }
        for member in change.removed { try run(removal, pairs(change.owner, member, table)) }
        let addition = try connection.statement(.link(change.relationship)) {
            compiler.link(side, other: other, in: table)
        }
        for member in change.added { try run(addition, pairs(change.owner, member, table)) }
    }

    private func pairs(_ owner: RowKey, _ member: RowKey, _ table: JoinTable) -> [[Int64]] {
        let pair = [owner.number, member.number]
        return table.isReflexive && owner.number != member.number
            ? [pair, [member.number, owner.number]] : [pair]
    }

    func order(_ change: OrderChange) throws {
        let relationship = map.schema[change.relationship]
        if let table = map.join(of: change.relationship) {
            let side = table.side(of: change.relationship)
            guard let column = side.order else { throw notOrdered(relationship) }
            let statement = try connection.statement(.order(change.relationship)) {
                compiler.order(side, column, in: table)
            }
            return try place(change.members) {
                try run(statement, [[$0, change.owner.number, $1]])
            }
        }
        let table = try map.table(of: relationship.destination)
        guard let column = table.orderColumn(of: change.relationship) else { throw notOrdered(relationship) }
        let statement = try connection.statement(.order(change.relationship)) {
            compiler.order(column, in: table)
        }
        try place(change.members) { try run(statement, [[$0, $1]]) }
    }

    private func place(_ members: [RowKey], _ write: (Int64, Int64) throws -> Void) rethrows {
        var position: Int64 = 0
        for member in members {
            position += WriteCompiler.orderStep
            try write(position, member.number)
        }
    }

    func adopt(_ change: AdoptionChange) throws {
        let relationship = map.schema[change.relationship]
        let table = try map.table(of: relationship.destination)
        guard let column = table.ownerColumn(of: change.relationship) else {
            throw notStored(change.relationship)
        }
        let release = try connection.statement(.release(change.relationship)) {
            compiler.release(column, in: table)
        }
        for member in change.removed { try run(release, [[member.number, change.owner.number]]) }
        let adopt = try connection.statement(.adopt(change.relationship)) {
            compiler.adopt(column, in: table)
        }
        for member in change.added { try run(adopt, [[change.owner.number, member.number]]) }
    }

    private func run(_ statement: Statement, _ rows: [[Int64]]) throws {
        for values in rows {
            defer { statement.finish() }
            for (index, value) in values.enumerated() { try statement.bind(index + 1, value) }
            _ = try statement.step()
        }
    }

    private func notStored(_ index: RelationshipIndex) -> StoreError {
        let relationship = map.schema[index]
        let owner = map.schema[relationship.owner].name
        return StoreError(
            134060,
            "\(owner).\(relationship.name) has no table or column of its own, so its members cannot be written "
                + "this way. Write the inverse's to-one instead.",
            entity: owner, property: relationship.name)
    }

    private func notOrdered(_ relationship: ResolvedRelationship) -> StoreError {
        let owner = map.schema[relationship.owner].name
        return StoreError(
            134060,
            "\(owner).\(relationship.name) is not ordered, so its members have no order to write. Make it "
                + "ordered in the model.",
            entity: owner, property: relationship.name)
    }
}
