// Updates of sets of rows as statements: as many for a million rows as for one.

import CoreDataValues

/// The statements of one update, over the rows and values that wait in a table.
package struct SetUpdateCompiler {
    private let map: StoreMap
    private let update: BoundUpdate
    private let table: TableMap
    /// The assignments that are computed, in the order of their columns.
    private let computed: [(slot: Int, operand: BoundOperand, isRequired: Bool)]
    private var entity: Entity { update.entity }
    /// The table.
    package let rows: String
    private func quoted(_ name: String) -> String { map.dialect.quoted(name) }

    package init(_ update: BoundUpdate, _ map: StoreMap) throws {
        self.map = map
        self.update = update
        table = try map.table(of: update.entity.index)
        computed = update.assignments.compactMap { assignment in
            guard case .operand(let operand) = assignment.source else { return nil }
            return (assignment.slot, operand, assignment.isRequired)
        }
        rows = KeyTable.rows(with: computed.map { update.entity.slots[$0.slot].kind })
    }

    /// Whether statements over all rows can do it. What needs a look at each row (values in files of their own, numbers in the form
    /// of Float, both sides of one-to-ones, positions) is written row by row.
    package var isOneStatement: Bool {
        update.assignments.allSatisfy { assignment in
            let slot = entity.slots[assignment.slot]
            switch assignment.source {
            case .constant(.data(let data)):
                return slot.kind != .externalData || data.count <= ExternalReference.threshold + 1
            case .constant: return true
            case .operand: return slot.kind != .float && slot.kind != .decimal
            case .target:
                guard let inverse = slot.relationship.flatMap({ map.schema[$0].inverse }).map({ map.schema[$0] }) else {
                    return true
                }
                return inverse.isToMany && !inverse.isOrdered
            }
        }
    }

    package var definition: String {
        KeyTable.define(rows, values: computed.map { entity.slots[$0.slot].kind }, key: "k", map.dialect)
    }

    package var operands: [BoundOperand] { computed.map(\.operand) }

    /// Statements that answer a row if a computed value is not allowed, each with the slot.
    package var checks: (missing: [(sql: String, slot: Int)], overflows: [(sql: String, slot: Int)]) {
        var checks: (missing: [(sql: String, slot: Int)], overflows: [(sql: String, slot: Int)]) = ([], [])
        for (place, value) in computed.enumerated() {
            let select = "SELECT 1 FROM \(rows) WHERE v\(place)"
            if value.isRequired { checks.missing.append((select + " IS NULL LIMIT 1", value.slot)) }
            guard entity.slots[value.slot].kind == .int else { continue }
            if case .call = value.operand {
                checks.overflows.append(
                    (select + " <> CAST(v\(place) AS \(map.dialect.type(.int))) LIMIT 1", value.slot))
            }
            if let range = entity.slots[value.slot].attribute?.type.narrowRange {
                checks.overflows.append(
                    (select + " NOT BETWEEN \(range.lowerBound) AND \(range.upperBound) LIMIT 1", value.slot))
            }
        }
        return checks
    }

    /// Gives unique values up before any is taken, so that rows can exchange theirs; nil where none is computed.
    package var vacating: String? {
        let unique = Set(
            map.schema.entities[entity.index.value...entity.last.value].flatMap(\.constraints).flatMap(\.slots))
        let columns = computed.filter { unique.contains($0.slot) }.compactMap { column($0.slot) }
        if columns.isEmpty { return nil }
        return "UPDATE \(quoted(table.name)) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", ")) "
            + "WHERE \"Z_PK\" IN \(KeyTable.numbers(of: entity.root, in: rows))"
    }

    /// The update with the constants that it binds.
    package var statement: (sql: String, values: [Value]) {
        var values: [Value] = []
        var parts = ["\"Z_OPT\" = \(map.dialect.risen("\"Z_OPT\""))"]
        func assign(_ slot: Int, _ value: Value) {
            guard let column = column(slot) else { return }
            values.append(value)
            parts.append("\(column) = \(map.dialect.parameter(values.count, like: value))")
        }
        var place = 0
        for assignment in update.assignments {
            switch assignment.source {
            case .constant(let value): assign(assignment.slot, value)
            case .target(let key):
                assign(assignment.slot, key.map { .int($0.number) } ?? .null)
                let tag = assignment.slot + 1
                guard tag < entity.slots.count, entity.slots[tag].kind == .entityTag else { continue }
                assign(tag, key.map { .int(Int64($0.entity.number)) } ?? .null)
            case .operand:
                if let column = column(assignment.slot) { parts.append("\(column) = s.v\(place)") }
                place += 1
            }
        }
        let name = quoted(table.name)
        let source =
            place > 0
            ? "FROM \(rows) AS s WHERE s.k = \(name).\"Z_PK\""
            : "WHERE \"Z_PK\" IN \(KeyTable.numbers(of: entity.root, in: rows))"
        return ("UPDATE \(name) SET \(parts.joined(separator: ", ")) \(source)", values)
    }

    /// Answers a row if a target is there.
    package var targets: [(sql: String, key: RowKey, relationship: ResolvedRelationship)] {
        get throws {
            try update.assignments.compactMap { assignment in
                guard case .target(let key?) = assignment.source, let index = entity.slots[assignment.slot].relationship
                else { return nil }
                let relationship = map.schema[index]
                var sql =
                    "SELECT 1 FROM \(quoted(try map.table(of: relationship.destination).name)) WHERE \"Z_PK\" = \(map.dialect.parameter(1, like: .int(0)))"
                if map.schema[map.schema[relationship.destination].root].hasSubentities {
                    sql += " AND " + KeyTable.among("\"Z_ENT\"", relationship.destinations)
                }
                return (sql, key, relationship)
            }
        }
    }

    private func column(_ slot: Int) -> String? {
        table.column(of: slot, in: entity.index).map { quoted(table.columns[$0].name) }
    }
}
