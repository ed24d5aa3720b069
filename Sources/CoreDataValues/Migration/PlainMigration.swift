// The steps that a difference alone tells.

import Foundation

extension MigrationPlan {
    /// What is kept, renamed or moved in its tree keeps its values, what is new has its default value or nothing, what is gone is
    /// dropped. An attribute that became required gets its default value where it has none.
    ///
    /// - Throws: 134190 for a difference that leaves open what becomes of values, naming all such properties.
    package init(_ diff: SchemaDiff) throws(StoreError) {
        var plain = PlainMigration(diff.pairs)
        let steps = plain.steps()
        guard plain.open.isEmpty else {
            let questions = plain.open.map(\.sentence).joined(separator: "; ")
            throw StoreError(
                134190, "The differences between the models do not say what becomes of the values: \(questions). Nothing was changed.",
                entity: plain.open[0].entity, property: plain.open[0].property)
        }
        self.init(diff, steps: steps)
    }
}

/// Walks through both schemas and notes what is left open.
private struct PlainMigration {
    struct Question {
        let entity: String
        let property: String
        let what: String
        var sentence: String { "\(entity).\(property) \(what)" }
    }

    private let pairs: SchemaPairs
    private(set) var open: [Question] = []

    init(_ pairs: SchemaPairs) { self.pairs = pairs }

    /// *rows of later entities · members · what goes*
    mutating func steps() -> [MigrationPlan.Step] {
        var steps: [MigrationPlan.Step] = []
        for later in pairs.destination.entities {
            if let earlier = pairs.source(of: later) {
                steps.append(.copy(EntityCopy(earlier.index, to: later.index, values(earlier, later))))
            } else {
                steps.append(.create(later.index))
            }
        }
        for later in pairs.destination.relationships where later.isToMany && !later.description.isTransient {
            if let earlier = origin(of: later) { steps.append(.link(RelationshipCopy(earlier.index, to: later.index))) }
        }
        return steps + pairs.source.entities.filter { pairs.destination(of: $0) == nil }.map { .drop($0.index) }
    }

    // MARK: Values

    private mutating func values(_ earlier: Entity, _ later: Entity) -> [SlotFill] {
        let origins = pairs.sourceProperties(of: later)
        return later.slots.indices.compactMap { place in
            let slot = later.slots[place]
            if slot.isTransient || slot.kind == .entityTag { return nil }
            let source = former(of: slot, origins).flatMap { name -> Slot? in
                guard case .slot(let former)? = earlier.places[name] else { return nil }
                return earlier.slots[former]
            }
            guard let source, !source.isTransient, let former = earlier.slots.firstIndex(where: { $0 === source }) else {
                return added(slot, place, later, isOther: slot.relationship != nil && origins[slot.name] != nil)
            }
            return kept(source, former, slot, place, later)
        }
    }

    /// The name that the property had; an element of a composite attribute goes by its path.
    private func former(of slot: Slot, _ origins: [String: DeclaredProperty]) -> String? {
        guard slot.composite != nil, let end = slot.name.firstIndex(of: ".") else { return origins[slot.name]?.name }
        return origins[String(slot.name[..<end])].map { $0.name + slot.name[end...] }
    }

    private mutating func added(_ slot: Slot, _ place: Int, _ later: Entity, isOther: Bool) -> SlotFill? {
        if isOther { return ask(later, slot.name, "was a to-many") }
        if slot.attribute?.isDerived == true { return ask(later, slot.name, "is new and derived, so that it would have to be computed") }
        if let value = slot.attribute?.defaultValue, !value.isNull { return SlotFill(place, .computed(.constant(value))) }
        return slot.isRequired && !later.isAbstract ? ask(later, slot.name, "is new, must have a value and has no default") : nil
    }

    private mutating func kept(_ source: Slot, _ former: Int, _ slot: Slot, _ place: Int, _ later: Entity) -> SlotFill? {
        guard let old = source.attribute, let new = slot.attribute else { return SlotFill(place, .kept(former)) }
        if old.type != new.type { return ask(later, slot.name, "was \(old.type.modelName) and is \(new.type.modelName)") }
        if source.kind != slot.kind { return ask(later, slot.name, "may no longer, or may now, lie in a file of its own") }
        if new.isDerived, old.derivationExpression != new.derivationExpression { return ask(later, slot.name, "is derived otherwise") }
        guard slot.isRequired, !source.isRequired else { return SlotFill(place, .kept(former)) }
        if new.defaultValue.isNull { return ask(later, slot.name, "became required and has no default for objects without a value") }
        return SlotFill(place, .kept(former, or: new.defaultValue))
    }

    // MARK: Members

    /// nil for a to-many that is new, or for which there is a question.
    private mutating func origin(of later: ResolvedRelationship) -> ResolvedRelationship? {
        guard let earlier = former(of: later), !earlier.description.isTransient else { return nil }
        let owner = pairs.destination[later.owner]
        guard earlier.isToMany else { return ask(owner, later.name, "was a to-one") }
        let (back, forth) = (earlier.inverse.map { pairs.source[$0] }, later.inverse.map { pairs.destination[$0] })
        let isSame = (back == nil && forth == nil) || (back != nil && forth.flatMap { former(of: $0) }?.index == back?.index)
        guard isSame, back?.isToMany == forth?.isToMany, (earlier.lender == nil) == (later.lender == nil) else {
            return ask(owner, later.name, "has another inverse")
        }
        return earlier
    }

    private func former(of later: ResolvedRelationship) -> ResolvedRelationship? {
        let origin = pairs.sourceProperties(of: pairs.destination[later.owner])[later.name]
        guard let origin, let owner = pairs.source.entity(named: origin.entity) else { return nil }
        return owner.relationships.map { pairs.source[$0] }.first { $0.name == origin.name }
    }

    private mutating func ask<Answer>(_ entity: Entity, _ property: String, _ what: String) -> Answer? {
        if !open.contains(where: { $0.property == property && $0.what == what }) {
            open.append(Question(entity: entity.name, property: property, what: what))
        }
        return nil
    }
}
