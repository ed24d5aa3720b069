// The steps that a difference alone tells.

import Foundation

extension MigrationPlan {
    /// What is kept, renamed or moved in its tree keeps its values, what is new has its default value or nothing, what is gone is
    /// dropped. An attribute that became required gets its default value where it has none; a derived one is computed anew where
    /// anything about it changed. A to-one that became a to-many has its target as its only member.
    ///
    /// - Throws: 134190 for a difference that leaves open what becomes of values, naming all such properties.
    package init(_ diff: SchemaDiff) throws(StoreError) {
        var migration = LightweightMigration(diff)
        let steps = migration.steps()
        if let first = migration.open.first {
            let questions = migration.open.map(\.sentence).joined(separator: "; ")
            throw StoreError(
                134190,
                "No mapping model can be inferred, as the models do not say what becomes of values: \(questions). Nothing was changed. "
                    + "Make a mapping model that says it, or change the later model.",
                entity: first.entity, property: first.property)
        }
        self.init(diff, steps: steps)
    }
}

/// Walks through both schemas and notes what is left open.
struct LightweightMigration {
    struct Question {
        let place: Entity
        let property: String?
        let what: String
        var entity: String { place.name }
        var sentence: String { "\(entity)\(property.map { "." + $0 } ?? "") \(what)" }
    }

    private let diff: SchemaDiff
    let pairs: SchemaPairs
    /// The names of later entities that differ.
    private let changed: Set<String>
    private(set) var open: [Question] = []

    init(_ diff: SchemaDiff) {
        (self.diff, pairs) = (diff, diff.pairs)
        changed = Set(diff.entities.filter(\.entersHash).map(\.name))
    }

    /// *rows of later entities · members · what goes*
    mutating func steps() -> [MigrationPlan.Step] {
        trees()
        var steps: [MigrationPlan.Step] = []
        for later in pairs.destination.entities {
            if let earlier = pairs.source(of: later) {
                steps.append(.copy(EntityCopy(earlier.index, to: later.index, values(earlier, later))))
            } else {
                steps.append(.create(later.index))
            }
        }
        for later in pairs.destination.relationships where later.isToMany && !later.description.isTransient {
            if let earlier = members(of: later) {
                steps.append(.link(RelationshipCopy(earlier.index, to: later.index)))
            }
        }
        return steps + pairs.source.entities.filter { pairs.destination(of: $0) == nil }.map { .drop($0.index) }
    }

    /// The objects of a tree have numbers of their own.
    private mutating func trees() {
        var origins: [EntityIndex: EntityIndex] = [:]
        for later in pairs.destination.entities {
            guard let root = pairs.source(of: later)?.root else { continue }
            guard let other = origins.updateValue(root, forKey: later.root), other != root else { continue }
            let names = "\(pairs.source[other].name) and \(pairs.source[root].name)"
            note(
                pairs.destination[later.root], nil,
                "would unite \(names), which had no parent in common (leave them apart)")
        }
    }

    // MARK: Values

    private mutating func values(_ earlier: Entity, _ later: Entity) -> [SlotFill] {
        let origins = pairs.sourceProperties(of: later)
        refuseRequiredComposites(later)
        return later.slots.indices.compactMap { place in
            let slot = later.slots[place]
            if slot.isTransient || slot.kind == .entityTag { return nil }
            let source = formerPath(of: slot, origins).flatMap { name -> Slot? in
                guard case .slot(let former)? = earlier.places[name] else { return nil }
                return earlier.slots[former]
            }
            guard let source, !source.isTransient, let former = earlier.slots.firstIndex(where: { $0 === source })
            else {
                return slot.relationship.map {
                    target($0, slot, place, later, wasToMany: origins[slot.name] != nil && source == nil)
                }
                    ?? added(slot, place, later)
            }
            return kept(source, former, slot, place, later)
        }
    }

    private mutating func added(_ slot: Slot, _ place: Int, _ later: Entity) -> SlotFill? {
        if slot.attribute?.isDerived == true { return SlotFill(place, .derived) }
        if let value = slot.attribute?.defaultValue, !value.isNull {
            return SlotFill(place, .computed(.constant(value)))
        }
        let isNewElement = slot.attribute?.isOptional == false && formerComposite(of: slot, later) != nil
        guard slot.isRequired || isNewElement, !later.isAbstract else { return nil }
        return ask(later, slot.name, "is new, must have a value and has no default (give it one, or make it optional)")
    }

    /// A to-one that is new, unless its inverse was there before.
    private mutating func target(
        _ index: RelationshipIndex, _ slot: Slot, _ place: Int, _ later: Entity, wasToMany: Bool
    ) -> SlotFill? {
        let relationship = pairs.destination[index]
        let own = former(of: relationship, in: later.index) ?? former(of: relationship)
        if wasToMany, let own, own.isToMany, !own.description.isTransient {
            return ask(
                later, slot.name, "was a to-many and is a to-one (only a mapping model can say which member is kept)")
        }
        if let back = relationship.inverse, let earlier = former(of: pairs.destination[back]),
            !earlier.description.isTransient
        {
            if earlier.inverse == nil { return SlotFill(place, .owner(earlier.index)) }
            // The inverse that it had is this one, of other entities than this.
            guard let own, earlier.inverse == own.index else {
                return ask(later, slot.name, "is the inverse of a relationship that had another one")
            }
        }
        return slot.isRequired && !later.isAbstract
            ? ask(later, slot.name, "is new and must have a target (make it optional)") : nil
    }

    private mutating func kept(_ source: Slot, _ former: Int, _ slot: Slot, _ place: Int, _ later: Entity) -> SlotFill?
    {
        guard let old = source.attribute, let new = slot.attribute else {
            if let (from, to) = source.relationship.flatMap({ from in
                slot.relationship.map { (pairs.source[from], pairs.destination[$0]) }
            }),
                let stray = stray(of: from, to)
            {
                return ask(later, slot.name, stray)
            }
            return SlotFill(place, .kept(former))
        }
        if new.isDerived {
            let isSame = old.isDerived && old.derivationExpression == new.derivationExpression && old.type == new.type
            return SlotFill(place, isSame && isUntouched(slot) ? .kept(former) : .derived)
        }
        if old.type != new.type {
            let types = "was \(old.type.modelName) and is \(new.type.modelName)"
            return ask(later, slot.name, types + " (no value is converted; under another name it begins anew)")
        }
        if hasOpenElement(source, slot, later) {
            return ask(later, slot.name, "became required in a composite that may have no value (leave it optional)")
        }
        guard slot.isRequired, !source.isRequired else { return SlotFill(place, .kept(former)) }
        if new.defaultValue.isNull {
            return ask(later, slot.name, "became required and has no default for objects without a value (give it one)")
        }
        return SlotFill(place, .kept(former, or: new.defaultValue))
    }

    /// Whether nothing that a derived value depends on differs.
    private func isUntouched(_ slot: Slot) -> Bool {
        let root = pairs.destination[slot.owner].root
        let derived = try? pairs.destination.derivedAttributes(in: [root]).first {
            $0.entity == slot.owner && $0.name == slot.name
        }
        guard let derivation = derived?.derivation else { return false }
        let hops: [RelationshipIndex]
        switch derivation {
        case .now: return true
        case .text: hops = []
        case .copy(let path, _): hops = path
        case .count(let index), .sum(let index, _): hops = [index]
        }
        let trees = [root] + hops.map { pairs.destination[pairs.destination[$0].destination].root }
        let isKept = pairs.source.entities.allSatisfy { pairs.destination(of: $0) != nil }
        return isKept
            && pairs.destination.entities.allSatisfy { !trees.contains($0.root) || !changed.contains($0.name) }
    }

    // MARK: Members

    /// nil for a to-many that is new, or for which there is a question.
    private mutating func members(of later: ResolvedRelationship) -> ResolvedRelationship? {
        let formers = formers(of: later).filter { !$0.description.isTransient }
        guard let earlier = formers.first else { return nil }
        let owner = pairs.destination[later.owner]
        if formers.count > 1 {
            let names = formers.map { "\(pairs.source[$0.owner].name).\($0.name)" }.joined(separator: " and ")
            return ask(owner, later.name, "would unite the members of \(names) (only a mapping model can say how)")
        }
        if let stray = stray(of: earlier, later) { return ask(owner, later.name, stray) }
        let (back, forth) = (earlier.inverse.map { pairs.source[$0] }, later.inverse.map { pairs.destination[$0] })
        let isOther: Bool
        if let forth {
            let former = former(of: forth)
            isOther = former == nil ? back != nil : former?.index != back?.index
        } else {
            // Members of a to-many without inverse have one owner.
            isOther = earlier.isToMany && back?.isToMany == true
        }
        guard !isOther, (earlier.lender == nil) == (later.lender == nil) || !earlier.isToMany else {
            return ask(owner, later.name, "has another inverse, so that its members are written down elsewhere")
        }
        return earlier
    }

    /// In words, a kind of target that a relationship had and may not have any more. Where the inverse moves down the tree, objects that
    /// have it no longer are let go.
    private func stray(of earlier: ResolvedRelationship, _ later: ResolvedRelationship) -> String? {
        let targets = earlier.destinations.map { pairs.source[EntityIndex(rawValue: $0)] }.filter { !$0.isAbstract }
        let stray = targets.first { target in
            guard let now = pairs.destination(of: target), !later.accepts(now.index.rawValue) else { return false }
            return heir(of: earlier, later).map { now.isKind(of: $0) } ?? true
        }
        guard let stray else { return nil }
        return "may have led to \(stray.name) and leads to \(pairs.destination[later.destination].name)"
    }

    /// The entity that has the inverse afterwards; nil where it is not the one that it was.
    private func heir(of earlier: ResolvedRelationship, _ later: ResolvedRelationship) -> Entity? {
        guard let back = earlier.inverse, let forth = later.inverse.map({ pairs.destination[$0] }),
            former(of: forth)?.index == back
        else { return nil }
        return pairs.destination[forth.owner]
    }

    /// nil for a new one, and for one that unites several.
    private func former(of later: ResolvedRelationship) -> ResolvedRelationship? {
        let formers = formers(of: later)
        return formers.count == 1 ? formers[0] : nil
    }

    /// What a relationship was: of the entity that declares it, else of those below which had it before it moved up the tree.
    private func formers(of later: ResolvedRelationship) -> [ResolvedRelationship] {
        if let own = former(of: later, in: later.owner) { return [own] }
        var formers: [ResolvedRelationship] = []
        for number in later.owner.rawValue...pairs.destination[later.owner].last.rawValue {
            if let former = former(of: later, in: EntityIndex(rawValue: number)),
                !formers.contains(where: { $0.index == former.index })
            {
                formers.append(former)
            }
        }
        return formers
    }

    private func former(of later: ResolvedRelationship, in entity: EntityIndex) -> ResolvedRelationship? {
        guard let origin = pairs.sourceProperties(of: pairs.destination[entity])[later.name],
            let owner = pairs.source.entity(named: origin.entity)
        else { return nil }
        return owner.relationships.map { pairs.source[$0] }.first { $0.name == origin.name }
    }

    mutating func ask<Answer>(_ entity: Entity, _ property: String, _ what: String) -> Answer? {
        note(entity, property, what)
        return nil
    }

    private mutating func note(_ entity: Entity, _ property: String?, _ what: String) {
        // What an entity inherits is told of one in the line.
        func isInLine(_ other: Entity) -> Bool { other.isKind(of: entity) || entity.isKind(of: other) }
        if open.contains(where: { $0.property == property && $0.what == what && isInLine($0.place) }) { return }
        open.append(Question(place: entity, property: property, what: what))
    }
}
