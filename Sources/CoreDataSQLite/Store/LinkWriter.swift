// Join tables, orders, and to-many relationships without inverse.

import CoreDataSQL
import CoreDataValues
import Foundation

/// Writes what has no cell in a row. Runs inside a transaction.
struct LinkWriter {
    let map: StoreMap
    let compiler: WriteCompiler
    let connection: Connection

    /// A side of a join table that has an order, and which key of a pair is its owner.
    private struct OrderedSide {
        let relationship: RelationshipIndex
        let columns: PositionColumns
        let key: Int
    }

    /// Whether the last positions that are known were found to be so still.
    private var isChecked = false

    init(map: StoreMap, compiler: WriteCompiler, connection: Connection) {
        self.map = map
        self.compiler = compiler
        self.connection = connection
    }

    /// A pair that is in both directions of one relationship is written in both. New members of an ordered side go to its end.
    mutating func link(_ change: LinkChange) throws {
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
        let orders = change.added.isEmpty ? [] : try orderedSides(of: table, from: change.relationship)
        for member in change.added {
            for pair in pairs(change.owner, member, table) {
                try run(addition, [pair + orders.map { try nextPosition(in: $0, pair[$0.key]) }])
            }
        }
    }

    private func pairs(_ owner: RowKey, _ member: RowKey, _ table: JoinTable) -> [[Int64]] {
        let pair = [owner.number, member.number]
        return table.isReflexive && owner.number != member.number
            ? [pair, [member.number, owner.number]] : [pair]
    }

    private func orderedSides(of table: JoinTable, from relationship: RelationshipIndex) throws -> [OrderedSide] {
        guard table.side.order != nil || table.inverseSide.order != nil else { return [] }
        let inverse = relationship == table.relationship ? table.inverse : table.relationship
        return try (table.isReflexive ? [relationship] : [relationship, inverse]).enumerated().compactMap { key, side in
            try map.positions(of: side).map { OrderedSide(relationship: side, columns: $0, key: key) }
        }
    }

    /// The position behind an owner's last member.
    private mutating func nextPosition(in side: OrderedSide, _ number: Int64) throws -> Int64 {
        let next = MemberPositions.next(after: try lastPosition(of: number, side.relationship, side.columns))
        connection.ends.keep(next, of: .init(relationship: side.relationship, number: number))
        return next
    }

    private mutating func lastPosition(
        of number: Int64, _ relationship: RelationshipIndex, _ columns: PositionColumns
    ) throws -> Int64 {
        if !isChecked { try connection.ends.check(connection) }
        isChecked = true
        let owner = OrderEnds.Owner(relationship: relationship, number: number)
        if let known = connection.ends.end(of: owner) { return known }
        let statement = try connection.statement(.lastPosition(relationship)) { compiler.lastPosition(columns) }
        defer { statement.finish() }
        try statement.bind(1, number)
        let last = try statement.step() ? statement.int(0) : 0
        connection.ends.keep(last, of: owner)
        return last
    }

    /// Forgets the last positions of owners to which rows were led that may bring a position along and get no new one here.
    func forgetEnds(_ batch: ChangeBatch) {
        guard !connection.ends.isEmpty else { return }
        for group in batch.updates {
            let entity = map.schema[group.entity]
            for slot in group.slots {
                guard let inverse = entity.slots[slot].relationship.flatMap({ map.schema[$0].inverse }), map.schema[inverse].isOrdered
                else { continue }
                for row in (0..<group.chunk.count).map(group.chunk.row) where row.isPresent(slot) {
                    let owner = OrderEnds.Owner(relationship: inverse, number: Int64(bitPattern: row[slot]))
                    guard connection.ends.end(of: owner) != nil else { continue }
                    let isPlaced = batch.orders.contains { $0.relationship == inverse && $0.owner.number == owner.number }
                    if !isPlaced { connection.ends.forget(owner) }
                }
            }
        }
    }

    /// Writes the positions that differ from those in the file.
    mutating func order(_ change: OrderChange) throws {
        guard let columns = try map.positions(of: change.relationship) else { throw notOrdered(change.relationship) }
        if change.isTail, try append(change, columns) { return }
        if try place(change, columns) { return }
        let held = try positions(change.owner.number, change.relationship, columns)
        let members = change.isTail ? behind(held, change.members.map(\.number)) : change.members.map(\.number)
        let wanted = MemberPositions(held: members.map { held[$0] })
        try write(wanted.changed.map { (members[$0], wanted.values[$0]) }, change, columns)
    }

    /// Places the members that moved between the others; answers whether it could be done without a look at all of them.
    private func place(_ change: OrderChange, _ columns: PositionColumns) throws -> Bool {
        guard let moved = change.moved else { return false }
        if moved.isEmpty { return true }
        let statement = try connection.statement(.position(change.relationship)) { compiler.position(columns) }
        let wanted = try MovedPositions(moved, of: change.members.count) { place in
            defer { statement.finish() }
            try statement.bind(1, change.members[place].number)
            try statement.bind(2, change.owner.number)
            return try statement.step() && !statement.isNull(0) ? statement.int(0) : nil
        }
        guard let wanted else { return false }
        try write(wanted.changed.map { (change.members[$0.place].number, $0.position) }, change, columns)
        return true
    }

    private func write(
        _ positions: [(member: Int64, position: Int64)], _ change: OrderChange, _ columns: PositionColumns
    ) throws {
        guard let last = positions.map(\.position).max() else { return }
        connection.ends.raise(to: last, of: .init(relationship: change.relationship, number: change.owner.number))
        let statement = try connection.statement(.order(change.relationship)) { compiler.order(columns) }
        for (member, position) in positions { try run(statement, [[position, member, change.owner.number]]) }
    }

    /// Gives members the positions behind the last one; answers whether there was room. What they had as another's members may
    /// count as the last one: they stand behind it all the same.
    private mutating func append(_ change: OrderChange, _ columns: PositionColumns) throws -> Bool {
        var last = max(0, try lastPosition(of: change.owner.number, change.relationship, columns))
        guard last < .max / 8 else { return false }
        let statement = try connection.statement(.order(change.relationship)) { compiler.order(columns) }
        for member in change.members {
            last = MemberPositions.next(after: last)
            try run(statement, [[last, member.number, change.owner.number]])
        }
        connection.ends.keep(last, of: .init(relationship: change.relationship, number: change.owner.number))
        return true
    }

    /// All members in the order of their positions, some of them last.
    private func behind(_ held: [Int64: Int64], _ tail: [Int64]) -> [Int64] {
        let last = Set(tail)
        return held.filter { !last.contains($0.key) }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) + tail
    }

    /// The positions in the file by member. Another writer may have left members without one.
    private func positions(
        _ owner: Int64, _ relationship: RelationshipIndex, _ columns: PositionColumns
    ) throws -> [Int64: Int64] {
        let statement = try connection.statement(.positions(relationship)) { compiler.positions(columns) }
        defer { statement.finish() }
        try statement.bind(1, owner)
        var positions: [Int64: Int64] = [:]
        while try statement.step() {
            if !statement.isNull(1) { positions[statement.int(0)] = statement.int(1) }
        }
        return positions
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

    private func notOrdered(_ index: RelationshipIndex) -> StoreError {
        let relationship = map.schema[index]
        let owner = map.schema[relationship.owner].name
        return StoreError(
            134060,
            "\(owner).\(relationship.name) is not ordered, so its members have no order to write. Make it "
                + "ordered in the model.",
            entity: owner, property: relationship.name)
    }
}
