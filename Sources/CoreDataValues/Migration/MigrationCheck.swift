// Whether the values and members of a migration plan can be what it says.

import Foundation

/// Resolves copies and refuses what no store could do.
struct MigrationCheck {
    let source: Schema
    let destination: Schema
    let destinations: [EntityIndex: EntityIndex]
    let links: [RelationshipIndex: RelationshipIndex]

    /// The entities of a tree share their numbers, so rows of two trees cannot become rows of one.
    func trees() throws(StoreError) {
        var origins: [EntityIndex: EntityIndex] = [:]
        for (from, to) in destinations.sorted(by: { $0.key < $1.key }) {
            let (root, origin) = (destination[to].root, source[from].root)
            if let other = origins.updateValue(origin, forKey: root), other != origin {
                throw refusal(
                    destination[to], nil,
                    "rows of \(source[other].name) and of \(source[origin].name), whose numbers are not told apart")
            }
        }
    }

    // MARK: Members

    func members() throws(StoreError) {
        for (to, from) in links.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard source.relationships.indices.contains(from.rawValue),
                destination.relationships.indices.contains(to.rawValue)
            else {
                throw StoreError(
                    134110, "The migration plan names a relationship that a schema has not; nothing was changed.")
            }
            let (former, later) = (source[from], destination[to])
            guard later.isToMany, !former.description.isTransient, !later.description.isTransient else {
                throw refusal(
                    later, "the members of \(title(former)), and both must be stored, the later one a to-many")
            }
            guard isWrittenDown(former, later) else {
                throw refusal(later, "the members of \(title(former)), whose inverse is another one")
            }
            try targets(of: former, fit: later)
        }
    }

    /// Whether what is written down of one tells the members of the other.
    private func isWrittenDown(_ former: ResolvedRelationship, _ later: ResolvedRelationship) -> Bool {
        guard let forth = later.inverse.map({ destination[$0] }) else {
            return !former.isToMany || former.inverse.map { !source[$0].isToMany } ?? true
        }
        if forth.isToMany { return links[forth.index].map { $0 == former.inverse } ?? (former.inverse == nil) }
        return former.inverse.map { !source[$0].isToMany } ?? true
    }

    private func targets(of former: ResolvedRelationship, fit later: ResolvedRelationship) throws(StoreError) {
        for value in former.destinations {
            guard let target = destinations[EntityIndex(rawValue: value)], !later.accepts(target.rawValue),
                !source[EntityIndex(rawValue: value)].isAbstract, !isLetGo(target, former, later)
            else { continue }
            throw refusal(
                later,
                "objects of \(destination[target].name), and its destination is \(destination[later.destination].name)")
        }
    }

    /// Whether the objects of an entity have the inverse no longer.
    private func isLetGo(_ target: EntityIndex, _ former: ResolvedRelationship, _ later: ResolvedRelationship) -> Bool {
        guard former.inverse != nil, let forth = later.inverse else { return false }
        return !destination[target].isKind(of: destination[destination[forth].owner])
    }

    // MARK: Values

    func bind(_ copy: EntityCopy) throws(StoreError) -> BoundMigration.Copy {
        let (from, to) = (source[copy.source], destination[copy.destination])
        var values: [BoundMigration.Fill] = []
        for fill in copy.values {
            guard to.slots.indices.contains(fill.slot), to.slots[fill.slot].kind != .entityTag,
                !to.slots[fill.slot].isTransient
            else {
                throw refusal(to, nil, "a value for a slot that it does not store")
            }
            let slot = to.slots[fill.slot]
            if values.contains(where: { $0.slot == fill.slot }) { throw refusal(to, slot.name, "two values for it") }
            values.append(BoundMigration.Fill(slot: fill.slot, source: try bind(fill.source, slot, from, to)))
        }
        let filled = Set(values.map(\.slot))
        for (place, slot) in to.slots.enumerated() where !slot.isTransient && !filled.contains(place) && !to.isAbstract
        {
            if slot.attribute?.isDerived == true {
                throw refusal(to, slot.name, "no value, and it is derived; its rows are not computed")
            }
            if slot.isRequired {
                throw refusal(
                    to, slot.name, "no value, and it must have one. Give it a default value or make it optional")
            }
        }
        return BoundMigration.Copy(source: from, destination: to, values: values)
    }

    private func bind(
        _ value: SlotFill.Source, _ slot: Slot, _ from: Entity, _ to: Entity
    ) throws(StoreError) -> BoundMigration.Fill.Source {
        switch value {
        case .kept(let place, let other):
            guard from.slots.indices.contains(place), !from.slots[place].isTransient,
                Self.fits(from.slots[place].kind, slot.kind)
            else {
                throw refusal(to, slot.name, "the value of another type or of nothing that \(from.name) stores")
            }
            try check(from.slots[place], slot, to)
            return .kept(place, or: other.isNull ? .null : try bind(.constant(other), slot, from, to).constant ?? .null)
        case .computed(let expression): return try bind(expression, slot, from, to)
        case .derived:
            guard slot.attribute?.isDerived == true else {
                throw refusal(to, slot.name, "a derived value, and it is not derived")
            }
            return .derived
        case .owner(let index):
            guard source.relationships.indices.contains(index.rawValue), slot.relationship != nil,
                source[index].inverse == nil
            else {
                throw refusal(to, slot.name, "an owner, and it is no to-one or the relationship has an inverse")
            }
            return .owner(index)
        }
    }

    /// Binary data have one form in rows and another where they may lie in files.
    private static func fits(_ former: SlotKind, _ later: SlotKind) -> Bool {
        let binary: [SlotKind] = [.data, .externalData]
        return former == later || binary.contains(former) && binary.contains(later)
    }

    private func check(_ former: Slot, _ later: Slot, _ to: Entity) throws(StoreError) {
        if let from = former.relationship, let relationship = later.relationship {
            return try targets(of: source[from], fit: destination[relationship])
        }
        guard later.attribute?.isDerived == true else { return }
        guard former.attribute?.derivationExpression == later.attribute?.derivationExpression else {
            throw refusal(
                to, later.name, "the value of another expression, and it is derived; its rows are not computed")
        }
        let rows = try relationships(deriving: former).flatMap(\.destinations)
        if let gone = rows.first(where: { destinations[EntityIndex(rawValue: $0)] == nil }) {
            let name = source[EntityIndex(rawValue: gone)].name
            throw refusal(
                to, later.name, "a value that is derived of \(name), whose rows go; its rows are not computed")
        }
    }

    private func relationships(deriving slot: Slot) throws(StoreError) -> [ResolvedRelationship] {
        let derived = try source.derivedAttributes(in: [source[slot.owner].root])
        switch derived.first(where: { $0.entity == slot.owner && $0.name == slot.name })?.derivation {
        case .now?, .text?, nil: return []
        case .copy(let hops, _)?: return hops.map { source[$0] }
        case .count(let index)?, .sum(let index, _)?: return [source[index]]
        }
    }

    private func bind(
        _ expression: Expression, _ slot: Slot, _ from: Entity, _ to: Entity
    ) throws(StoreError) -> BoundMigration.Fill.Source {
        if slot.relationship != nil {
            throw refusal(to, slot.name, "a computed target; a to-one keeps its own, or has none")
        }
        if slot.attribute?.isDerived == true { throw refusal(to, slot.name, "a computed value, and it is derived") }
        let binding = Binding(from, in: source)
        switch try UpdateBinder.source(
            expression, "The value that a migration gives \(to.name).\(slot.name)", slot, binding)
        {
        case .constant(let value): return .constant(value)
        case .operand(let operand):
            // Their texts and digits have one form in a store, which a database's own arithmetic does not give.
            guard slot.kind != .float, slot.kind != .decimal else {
                let type = slot.attribute?.type.modelName ?? ""
                throw refusal(to, slot.name, "a computed value, which no store gives an attribute of type \(type)")
            }
            return .operand(operand)
        case .target: throw refusal(to, slot.name, "a target")
        }
    }

    // MARK: Words

    private func title(_ relationship: ResolvedRelationship) -> String {
        "\(source[relationship.owner].name).\(relationship.name)"
    }

    private func refusal(_ relationship: ResolvedRelationship, _ what: String) -> StoreError {
        refusal(destination[relationship.owner], relationship.name, what)
    }

    private func refusal(_ entity: Entity, _ property: String?, _ what: String) -> StoreError {
        let title = entity.name + (property.map { "." + $0 } ?? "")
        return StoreError(
            134110, "The migration plan gives \(title) \(what); nothing was changed.", entity: entity.name,
            property: property)
    }
}

extension BoundMigration.Fill.Source {
    fileprivate var constant: Value? { if case .constant(let value) = self { value } else { nil } }
}
