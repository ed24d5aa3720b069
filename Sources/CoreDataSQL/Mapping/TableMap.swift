// The table of one entity tree.

import CoreDataValues

/// Root entity and descendants share one table; this says which column keeps what.
package final class TableMap: Sendable {
    package let root: EntityIndex
    package let name: String
    /// In the order of the table definition, without `Z_PK`, `Z_ENT` and `Z_OPT`.
    package let columns: [Column]
    /// For each entity of the tree (by distance from the root) the column of each slot; nil for transient
    /// slots.
    private let slots: [[Int?]]
    private let orders: [RelationshipIndex: Int]
    private let owners: [RelationshipIndex: Int]

    init(root: Entity, name: String, schema: Schema) {
        self.root = root.index
        self.name = name
        let planned = ColumnPlan(root: root, schema: schema).columns()
        columns = planned
        var bySlot: [ColumnPlan.SlotKey: Int] = [:]
        var orders: [RelationshipIndex: Int] = [:]
        var owners: [RelationshipIndex: Int] = [:]
        for (position, column) in planned.enumerated() {
            switch column.role {
            case .slot(let slot): bySlot[ColumnPlan.SlotKey(entity: column.entity, slot: slot)] = position
            case .order(let relationship): orders[relationship] = position
            case .owner(let relationship): owners[relationship] = position
            }
        }
        for relationship in schema.relationships {
            guard let lender = relationship.lender.map({ schema[$0] }), let slot = lender.slot else { continue }
            owners[relationship.index] = bySlot[ColumnPlan.SlotKey(entity: lender.owner, slot: slot)]
        }
        self.orders = orders
        self.owners = owners
        slots = (root.index.value...root.last.value).map { value in
            schema[EntityIndex(value)].slots.enumerated().map { slot, description in
                bySlot[ColumnPlan.SlotKey(entity: description.owner, slot: slot)]
            }
        }
    }

    /// The same under another name.
    init(_ table: TableMap, name: String) {
        (root, self.name, columns) = (table.root, name, table.columns)
        (slots, orders, owners) = (table.slots, table.orders, table.owners)
    }

    /// The place in `columns` of an entity's slot, nil for a transient one.
    package func column(of slot: Int, in entity: EntityIndex) -> Int? {
        slots[entity.value - root.value][slot]
    }

    /// The `Z_FOK_` column of an ordered one-to-many.
    package func orderColumn(of relationship: RelationshipIndex) -> Column? {
        orders[relationship].map { columns[$0] }
    }

    /// The places of the two among the columns.
    func orderPlace(of relationship: RelationshipIndex) -> Int? { orders[relationship] }
    func ownerPlace(of relationship: RelationshipIndex) -> Int? { owners[relationship] }

    /// The column of a to-many without inverse.
    package func ownerColumn(of relationship: RelationshipIndex) -> Column? {
        owners[relationship].map { columns[$0] }
    }
}

/// Finds the columns of one tree: names first (entity by entity), then the order (group by group).
struct ColumnPlan {
    struct SlotKey: Hashable {
        let entity: EntityIndex
        let slot: Int
    }
    let root: Entity
    let schema: Schema

    private struct Candidate {
        var column: Column
        var group: ColumnGroup
        /// Whether it keeps an element of a composite.
        var isElement = false
    }

    func columns() -> [Column] {
        var names = Namespace(["Z_PK", "Z_ENT", "Z_OPT"])
        let tree = (root.index.value...root.last.value).map { schema[EntityIndex($0)] }
        var named = tree.map { candidates(of: $0) }
        // Elements of composites take what names are left, so that a new composite renames no column.
        for isElement in [false, true] {
            for entity in named.indices {
                for place in named[entity].indices where named[entity][place].isElement == isElement {
                    let column = named[entity][place].column
                    named[entity][place].column = Column(
                        name: names.reserve(column.name), kind: column.kind, role: column.role,
                        entity: column.entity, property: column.property)
                }
            }
        }
        return layout(named)
    }

    /// Integers and to-ones interleave by entity; every other group runs through the whole tree.
    private func layout(_ named: [[Candidate]]) -> [Column] {
        let leading = named.flatMap { entity in
            entity.filter { $0.group == .integers } + entity.filter { $0.group == .toOnes }
        }
        let trailing = ColumnGroup.allCases.filter { $0 != .integers && $0 != .toOnes }.flatMap { group in
            named.flatMap { entity in entity.filter { $0.group == group } }
        }
        return (leading + trailing).map(\.column)
    }

    /// The columns an entity adds, by group and name.
    private func candidates(of entity: Entity) -> [Candidate] {
        (slotCandidates(of: entity) + ownerCandidates(at: entity) + orderCandidates(at: entity)).enumerated().sorted {
            a, b in
            let (x, y) = (a.element, b.element)
            if x.group != y.group { return x.group.rawValue < y.group.rawValue }
            if x.column.property != y.column.property {
                return x.column.property.utf8.lexicographicallyPrecedes(y.column.property.utf8)
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    private func slotCandidates(of entity: Entity) -> [Candidate] {
        entity.slots.enumerated().compactMap { index, slot in
            guard slot.owner == entity.index, !slot.isTransient else { return nil }
            let name: String
            if slot.kind == .entityTag, let relationship = slot.relationship {
                name = "Z\(schema[relationship].destination.number)_" + slot.name.uppercased()
            } else {
                let element = slot.composite == nil ? nil : slot.name.split(separator: ".").last.map(String.init)
                name = "Z" + (element ?? slot.name).uppercased()
            }
            return Candidate(
                column: Column(
                    name: name, kind: slot.kind, role: .slot(index), entity: entity.index,
                    property: slot.name),
                group: ColumnGroup(slot.kind), isElement: slot.composite != nil)
        }
    }

    /// The owners of members of to-many relationships without inverse, kept in the members' table.
    private func ownerCandidates(at entity: Entity) -> [Candidate] {
        schema.relationships.compactMap { relationship in
            guard relationship.isToMany, relationship.inverse == nil, relationship.lender == nil,
                !relationship.description.isTransient, relationship.destination == entity.index
            else { return nil }
            return Candidate(
                column: Column(
                    name: "Z" + ownerName(relationship), kind: .toOne, role: .owner(relationship.index),
                    entity: entity.index, property: relationship.name),
                group: .toOnes)
        }
    }

    /// The places of members of ordered to-many relationships, beside the column of their owner.
    private func orderCandidates(at entity: Entity) -> [Candidate] {
        schema.relationships.compactMap { relationship in
            guard relationship.isToMany, relationship.isOrdered, !relationship.description.isTransient else {
                return nil
            }
            let (name, property): (String, String)
            if let back = (relationship.inverse ?? relationship.lender).map({ schema[$0] }) {
                guard !back.isToMany, back.owner == entity.index else { return nil }
                (name, property) = (back.name.uppercased(), back.name)
            } else {
                guard relationship.destination == entity.index else { return nil }
                (name, property) = (ownerName(relationship), relationship.name)
            }
            return Candidate(
                column: Column(
                    name: "Z_FOK_" + name, kind: .int, role: .order(relationship.index), entity: entity.index,
                    property: property),
                group: .orders)
        }
    }

    private func ownerName(_ relationship: ResolvedRelationship) -> String {
        "\(relationship.owner.number)" + relationship.name.uppercased()
    }
}
