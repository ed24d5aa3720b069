// Join tables, orders, and to-many relationships without inverse.

import CoreDataValues

/// Writes what has no cell in a row. Runs inside a transaction.
struct LinkWriter {
    let map: StoreMap
    let compiler: WriteCompiler
    let session: any SQLSession

    /// A side of a join table that has an order, and which key of a pair is its owner.
    private struct OrderedSide {
        let relationship: RelationshipIndex
        let key: Int
    }

    /// Whether the last positions that are known were found to be so still.
    private var isChecked = false

    init(map: StoreMap, compiler: WriteCompiler, session: any SQLSession) {
        self.map = map
        self.compiler = compiler
        self.session = session
    }

    /// A pair that is in both directions of one relationship is written in both. New members of an ordered side go to its end.
    mutating func link(_ change: LinkChange) throws {
        guard let table = map.join(of: change.relationship) else { throw compiler.notStored(change.relationship) }
        let removed = change.removed.flatMap { pairs(change.owner, $0, table).joined() }
        try session.run(.unlink(change.relationship), each: 2, of: removed, compiler)
        let orders = change.added.isEmpty ? [] : try orderedSides(of: table, from: change.relationship)
        var added: [Int64] = []
        for member in change.added {
            for pair in pairs(change.owner, member, table) {
                added += pair
                for order in orders { added.append(try nextPosition(in: order, pair[order.key])) }
            }
        }
        try session.run(.link(change.relationship), each: 2 + orders.count, of: added, compiler)
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
            try map.positions(of: side).map { _ in OrderedSide(relationship: side, key: key) }
        }
    }

    /// The position behind an owner's last member.
    private mutating func nextPosition(in side: OrderedSide, _ number: Int64) throws -> Int64 {
        let next = MemberPositions.next(after: try lastPosition(of: number, side.relationship))
        session.ends.keep(next, of: .init(relationship: side.relationship, number: number))
        return next
    }

    private mutating func lastPosition(of number: Int64, _ relationship: RelationshipIndex) throws -> Int64 {
        if !isChecked { try session.ends.check(session) }
        isChecked = true
        let owner = OrderEnds.Owner(relationship: relationship, number: number)
        if let known = session.ends.end(of: owner) { return known }
        let last =
            try session.numbers(.lastPosition(relationship), each: 1, [.int(number)], compiler).first.flatMap { $0 }
            ?? 0
        session.ends.keep(last, of: owner)
        return last
    }

    /// Forgets the last positions of owners to which rows were led that may bring a position along and get no new one here.
    func forgetEnds(_ batch: ChangeBatch) {
        guard !session.ends.isEmpty else { return }
        for group in batch.updates {
            let entity = map.schema[group.entity]
            for slot in group.slots {
                guard let inverse = entity.slots[slot].relationship.flatMap({ map.schema[$0].inverse }),
                    map.schema[inverse].isOrdered
                else { continue }
                for row in (0..<group.chunk.count).map(group.chunk.row) where row.isPresent(slot) {
                    let owner = OrderEnds.Owner(relationship: inverse, number: Int64(bitPattern: row[slot]))
                    guard session.ends.end(of: owner) != nil else { continue }
                    let isPlaced = batch.orders.contains {
                        $0.relationship == inverse && $0.owner.number == owner.number
                    }
                    if !isPlaced { session.ends.forget(owner) }
                }
            }
        }
    }

    /// Writes the positions that differ from those in the file.
    mutating func order(_ change: OrderChange) throws {
        guard try map.positions(of: change.relationship) != nil else { throw compiler.notOrdered(change.relationship) }
        if change.isTail, try append(change) { return }
        if try arrangeMoved(change) { return }
        let held = try positions(change.owner.number, change.relationship)
        let members = change.isTail ? behind(held, change.members.map(\.number)) : change.members.map(\.number)
        let wanted = MemberPositions(held: members.map { held[$0] })
        try write(wanted.changed.map { (members[$0], wanted.values[$0]) }, change)
    }

    /// Puts the members that moved between the others; answers whether it could be done without a look at all of them.
    private func arrangeMoved(_ change: OrderChange) throws -> Bool {
        guard let moved = change.moved else { return false }
        if moved.isEmpty { return true }
        let wanted = try MovedPositions(moved, of: change.members.count) { place in
            let keys: [Value] = [.int(change.members[place].number), .int(change.owner.number)]
            return try session.numbers(.position(change.relationship), each: 1, keys, compiler).first.flatMap { $0 }
        }
        guard let wanted else { return false }
        try write(wanted.changed.map { (change.members[$0.place].number, $0.position) }, change)
        return true
    }

    private func write(_ positions: [(member: Int64, position: Int64)], _ change: OrderChange) throws {
        guard let last = positions.map(\.position).max() else { return }
        session.ends.raise(to: last, of: .init(relationship: change.relationship, number: change.owner.number))
        let rows = positions.flatMap { [$0.position, $0.member, change.owner.number] }
        try session.run(.order(change.relationship), each: 3, of: rows, compiler)
    }

    /// Gives members the positions behind the last one; answers whether there was room. What they had as another's members may
    /// count as the last one: they stand behind it all the same.
    private mutating func append(_ change: OrderChange) throws -> Bool {
        var last = max(0, try lastPosition(of: change.owner.number, change.relationship))
        guard last < .max / 8 else { return false }
        var rows: [Int64] = []
        rows.reserveCapacity(3 * change.members.count)
        for member in change.members {
            last = MemberPositions.next(after: last)
            rows += [last, member.number, change.owner.number]
        }
        try session.run(.order(change.relationship), each: 3, of: rows, compiler)
        session.ends.keep(last, of: .init(relationship: change.relationship, number: change.owner.number))
        return true
    }

    /// All members in the order of their positions, some of them last.
    private func behind(_ held: [Int64: Int64], _ tail: [Int64]) -> [Int64] {
        let last = Set(tail)
        return held.filter { !last.contains($0.key) }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
            + tail
    }

    /// The positions in the file by member. Another writer may have left members without one.
    private func positions(_ owner: Int64, _ relationship: RelationshipIndex) throws -> [Int64: Int64] {
        let rows = try session.numbers(.positions(relationship), each: 2, [.int(owner)], compiler)
        var positions: [Int64: Int64] = [:]
        for row in stride(from: 0, to: rows.count, by: 2) {
            if let member = rows[row], let position = rows[row + 1] { positions[member] = position }
        }
        return positions
    }

    func adopt(_ change: AdoptionChange) throws {
        let relationship = map.schema[change.relationship]
        let table = try map.table(of: relationship.destination)
        guard table.ownerColumn(of: change.relationship) != nil else { throw compiler.notStored(change.relationship) }
        let removed = change.removed.flatMap { [$0.number, change.owner.number] }
        try session.run(.release(change.relationship), each: 2, of: removed, compiler)
        let added = change.added.flatMap { [change.owner.number, $0.number] }
        try session.run(.adopt(change.relationship), each: 2, of: added, compiler)
    }
}
