// Where the first version's entities and properties have gone by the end.

import CoreDataValues

/// Follows entities, properties and members through the steps of a chain.
struct Fates {
    /// How few members a relationship can hold on its way.
    struct Limits: Hashable {
        /// An owner has one member.
        var ownersHaveOne = false
        /// A member has one owner.
        var membersHaveOne = false

        fileprivate var count: Int { (ownersHaveOne ? 1 : 0) + (membersHaveOne ? 1 : 0) }
    }
    let flows: [StepFlow]
    /// One more than flows.
    let versions: [Schema]

    func goesOn(_ entity: String) -> Bool {
        !flows.reduce(into: Set([entity])) { present, flow in
            present = present.reduce(into: Set()) { $0.formUnion(flow.entities[$1] ?? []) }
        }.isEmpty
    }

    func goesOn(_ entity: String, _ property: String) -> Bool {
        let isComputed = versions.first?.isComputed(StepFlow.Target(entity: entity, property: property)) ?? false
        var present = Set([StepFlow.Target(entity: entity, property: property)])
        for (flow, later) in zip(flows, versions.dropFirst()) {
            present = present.reduce(into: Set()) { next, target in
                next.formUnion(
                    (flow.properties[target.entity]?[target.property] ?? []).filter {
                        !later.isTransient($0) && (isComputed || !later.isComputed($0))
                    })
            }
        }
        return !present.isEmpty
    }

    /// Whether a relationship may lead to objects of an entity to the end.
    func leads(_ entity: String, _ property: String, to member: String) -> Bool {
        var present = Set([StepFlow.Target(entity: entity, property: property)])
        var members = Set([member])
        for (flow, later) in zip(flows, versions.dropFirst()) {
            members = members.reduce(into: Set()) { $0.formUnion(flow.entities[$1] ?? []) }
            present = present.reduce(into: Set()) { $0.formUnion(flow.properties[$1.entity]?[$1.property] ?? []) }
            present = present.filter { target in members.contains { later.accepts($0, as: target) } }
        }
        return !present.isEmpty
    }

    /// What the members of a relationship have to fit into by the end, that of the way that has most room for them. nil where they end, or
    /// where something else is made of them than members.
    func limits(_ entity: String, _ property: String) -> Limits? {
        let start = StepFlow.Target(entity: entity, property: property)
        guard let first = versions.first.flatMap({ limits(start, in: $0, keepsTargets: false) }) else { return nil }
        var present = [start: Set([first])]
        for (flow, later) in zip(flows, versions.dropFirst()) {
            var next: [StepFlow.Target: Set<Limits>] = [:]
            for (target, ways) in present {
                for end in flow.properties[target.entity]?[target.property] ?? [] {
                    guard flow.carriesMembers(target, to: end),
                        let here = limits(end, in: later, keepsTargets: flow.isInferred)
                    else { return nil }
                    for way in ways {
                        next[end, default: []].insert(
                            Limits(
                                ownersHaveOne: way.ownersHaveOne || here.ownersHaveOne,
                                membersHaveOne: way.membersHaveOne || here.membersHaveOne))
                    }
                }
            }
            present = next
        }
        return present.values.joined().min { $0.count < $1.count }
    }

    /// nil for what is no relationship.
    ///
    /// - Parameter keepsTargets: whether a to-one keeps its target whatever its inverse has.
    private func limits(_ target: StepFlow.Target, in schema: Schema, keepsTargets: Bool) -> Limits? {
        guard let found = schema.relationship(target) else { return nil }
        // A member without inverse has one owner.
        let hasOne = found.inverse.map { !schema[$0].isToMany } ?? found.isToMany
        let membersHaveOne = hasOne && (found.isToMany || !keepsTargets)
        return Limits(ownersHaveOne: !found.isToMany, membersHaveOne: membersHaveOne)
    }
}

extension Schema {
    private func slot(_ target: StepFlow.Target) -> Slot? {
        entity(named: target.entity)?.slots.first { $0.name == target.property && $0.kind != .entityTag }
    }

    fileprivate func relationship(_ target: StepFlow.Target) -> ResolvedRelationship? {
        entity(named: target.entity)?.relationships.map { self[$0] }.first { $0.name == target.property }
    }

    /// Whether a property has values that no store keeps.
    fileprivate func isTransient(_ target: StepFlow.Target) -> Bool {
        slot(target)?.isTransient ?? relationship(target)?.description.isTransient ?? false
    }

    /// Whether the store computes an attribute's values.
    fileprivate func isComputed(_ target: StepFlow.Target) -> Bool { slot(target)?.attribute?.isDerived ?? false }

    /// Whether objects of an entity may be what a relationship leads to.
    fileprivate func accepts(_ entity: String, as target: StepFlow.Target) -> Bool {
        guard let kind = self.entity(named: entity) else { return false }
        return relationship(target)?.accepts(kind.index.rawValue) ?? false
    }

    /// nil for what is no relationship with an inverse.
    func inverse(of name: String, _ entity: Entity) -> StepFlow.Target? {
        let relationship = relationship(StepFlow.Target(entity: entity.name, property: name))
        guard let back = relationship?.inverse.map({ self[$0] }) else { return nil }
        return StepFlow.Target(entity: self[back.owner].name, property: back.name)
    }
}
