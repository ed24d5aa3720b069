// Which of a file's tables keeps which many-to-many relationship.

import CoreDataValues

/// Join tables under the names that a file gives them.
///
/// Core Data has numbered equal names in other orders and has named a self-referring pair after either side. What a
/// table keeps is told by its columns: the one that is named after a relationship holds that relationship's members.
package struct StoredJoins {
    private let schema: Schema
    /// The tables that no relationship has yet, with their columns.
    private var tables: [String: [String]]
    private var open: [Int: JoinTable]
    private var found: [Int: JoinTable] = [:]

    /// - Parameters:
    ///   - computed: the tables as the schema names them.
    ///   - tables: the columns of the file's join tables by their names.
    package init(_ computed: [JoinTable], schema: Schema, tables: [String: [String]]) {
        self.schema = schema
        self.tables = tables
        open = Dictionary(uniqueKeysWithValues: computed.enumerated().map { ($0.offset, $0.element) })
    }

    /// What was found, by the place among the computed tables.
    package struct Answer {
        package let found: [Int: JoinTable]
        /// Those for which no table can be told, with the tables that may be meant: of the right shape, and nobody's.
        package let unknown: [(join: JoinTable, candidates: [String])]
    }

    /// *as computed · the same columns · the same columns but for their numbers · the only one between the two entities*
    ///
    /// - Parameter byEntities: whether the last step is taken, as the schema is the one that the file was written with.
    package func resolve(byEntities: Bool = true) -> Answer {
        var copy = self
        for likeness in Likeness.allCases where byEntities || likeness != .entities {
            while copy.match(by: likeness) {}
        }
        let unknown = copy.open.sorted { $0.key < $1.key }.map { place, join in
            (join, copy.tables.keys.filter { copy.fit(join, $0, .entities) != nil }.sorted())
        }
        return Answer(found: copy.found, unknown: unknown)
    }

    /// How alike a table and what is looked for must be.
    private enum Likeness: CaseIterable {
        /// Name and columns as computed.
        case same
        /// The columns as computed, under another name.
        case columns
        /// The columns as computed but for the numbers behind them.
        case names
        /// The columns' numbers are those of the two entities, and the sides can be told.
        case entities
    }

    /// Gives tables to the relationships of which each has one left that is nobody else's; whether there was any.
    private mutating func match(by likeness: Likeness) -> Bool {
        var claims: [String: Int] = [:]
        var chosen: [Int: JoinTable] = [:]
        for (place, join) in open {
            guard let fitting = choose(join, likeness) else { continue }
            claims[fitting.name, default: 0] += 1
            chosen[place] = fitting
        }
        let settled = chosen.filter { claims[$0.value.name] == 1 }
        for (place, join) in settled {
            found[place] = join
            open[place] = nil
            tables[join.name] = nil
        }
        return !settled.isEmpty
    }

    /// The only table that fits; of several, the only one that is named after one of the sides.
    private func choose(_ join: JoinTable, _ likeness: Likeness) -> JoinTable? {
        if likeness == .same { return tables[join.name] == nil ? nil : fit(join, join.name, .same) }
        let fitting = tables.keys.compactMap { fit(join, $0, likeness) }
        if fitting.count < 2 { return fitting.first }
        let sides = [join.relationship, join.inverse].map { schema[$0] }
        let named = fitting.filter { table in
            sides.contains { Self.isNumbered(table.name, "Z_\($0.owner.number)" + $0.name.uppercased()) }
        }
        return named.count == 1 ? named[0] : nil
    }

    /// The table as the relationship's own, nil if it is not.
    private func fit(_ join: JoinTable, _ name: String, _ likeness: Likeness) -> JoinTable? {
        guard let columns = tables[name] else { return nil }
        let orders = columns.filter { $0.hasPrefix("Z_FOK_") || $0 == "FOK_REFLEXIVE" }
        let keys = columns.filter { !orders.contains($0) }
        let ordered = [join.side.order] + (join.isReflexive ? [] : [join.inverseSide.order])
        guard keys.count == 2, orders.count == ordered.compactMap({ $0 }).count,
            let (owner, member) = sides(join, keys, likeness)
        else { return nil }
        func order(of side: JoinTable.Side, _ member: String) -> String? {
            guard let computed = side.order else { return nil }
            let own = "Z_FOK_" + member.dropFirst(2)
            return orders.count == 1 ? orders[0] : orders.contains(own) ? own : computed
        }
        let side = JoinTable.Side(owner: owner, member: member, order: order(of: join.side, member))
        let other =
            join.isReflexive
            ? side : JoinTable.Side(owner: member, member: owner, order: order(of: join.inverseSide, owner))
        guard [side.order, other.order].allSatisfy({ $0.map(orders.contains) ?? true }) else { return nil }
        return JoinTable(
            name: name, relationship: join.relationship, inverse: join.inverse, side: side, inverseSide: other)
    }

    /// Which key column holds the owners and which the members.
    private func sides(_ join: JoinTable, _ keys: [String], _ likeness: Likeness) -> (owner: String, member: String)? {
        let (relationship, inverse) = (schema[join.relationship], schema[join.inverse])
        let numbers = (relationship.owner.number, inverse.owner.number)
        let back = join.isReflexive ? relationship.name : inverse.name
        let names = (
            owner: "Z_\(numbers.0)" + back.uppercased(),
            member: join.isReflexive ? "REFLEXIVE" : "Z_\(numbers.1)" + relationship.name.uppercased()
        )
        let pairs = [(owner: keys[0], member: keys[1]), (owner: keys[1], member: keys[0])]
        let fitting = pairs.filter { pair in
            switch likeness {
            case .same, .columns: pair == (join.side.owner, join.side.member)
            case .names: Self.isNumbered(pair.owner, names.owner) && Self.isNumbered(pair.member, names.member)
            case .entities where join.isReflexive: Self.number(pair.owner) == numbers.0 && pair.member == names.member
            case .entities: Self.number(pair.owner) == numbers.0 && Self.number(pair.member) == numbers.1
            }
        }
        if fitting.count == 2 {
            // Both keys are of one entity: one of the names must tell which is which.
            let told = fitting.filter {
                Self.isNumbered($0.owner, names.owner) || Self.isNumbered($0.member, names.member)
            }
            return told.count == 1 ? told[0] : nil
        }
        return fitting.first
    }

    /// Whether a name is another one, or that with the digits behind it that tell equal names apart.
    private static func isNumbered(_ name: String, _ base: String) -> Bool {
        name.hasPrefix(base) && name.dropFirst(base.count).allSatisfy { ("0"..."9").contains($0) }
    }

    /// The entity's number in a column's name.
    private static func number(_ column: String) -> Int? {
        column.hasPrefix("Z_") ? Int(column.dropFirst(2).prefix { ("0"..."9").contains($0) }) : nil
    }
}
