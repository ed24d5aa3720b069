// A migration plan whose names and values are resolved, or one refusal in the same words for every store.

import Foundation

/// What a store needs to migrate; whatever can be refused without a look at rows was refused.
package struct BoundMigration: Sendable {
    package struct Copy: Sendable {
        package let source: Entity
        package let destination: Entity
        package let values: [Fill]
    }

    package struct Fill: Sendable {
        package enum Source: Sendable {
            /// A slot of the source entity, and what stands for null, in the form that the slot keeps.
            case kept(Int, or: Value)
            case constant(Value)
            case operand(BoundOperand)
            /// Computed when all rows are there.
            case derived
            /// The object that has the row by a relationship of the source, which has no inverse.
            case owner(RelationshipIndex)
        }
        package let slot: Int
        package let source: Source
    }

    package let pairs: SchemaPairs
    package let source: Schema
    package let destination: Schema
    package let copies: [Copy]
    /// What the rows of an entity of the source become; nothing for one that is dropped.
    package let destinations: [EntityIndex: EntityIndex]
    /// For a to-many of the destination the relationship that its members come from.
    package let links: [RelationshipIndex: RelationshipIndex]

    /// - Throws: 134110 for a plan that contradicts itself or its schemas.
    package init(_ plan: MigrationPlan) throws(StoreError) {
        pairs = plan.diff.pairs
        source = plan.source
        destination = plan.destination
        var (copies, links, destinations) = (
            [EntityCopy](), [RelationshipIndex: RelationshipIndex](), [EntityIndex: EntityIndex]()
        )
        var count = StepCount(plan)
        for step in plan.steps {
            switch step {
            case .create(let entity): try count.reach(entity)
            case .drop(let entity): try count.leave(entity)
            case .copy(let copy):
                try count.leave(copy.source)
                try count.reach(copy.destination)
                destinations[copy.source] = copy.destination
                copies.append(copy)
            case .link(let link): links[link.destination] = link.source
            }
        }
        try count.end()
        self.links = links
        self.destinations = destinations
        let check = MigrationCheck(source: source, destination: destination, destinations: destinations, links: links)
        try check.trees()
        try check.members()
        var bound: [Copy] = []
        for copy in copies { bound.append(try check.bind(copy)) }
        self.copies = bound
    }
}

extension BoundMigration {
    /// The entities of the source that may stand where a relationship of the source has an end, and whose rows may stand there in the
    /// destination.
    ///
    /// - Parameter range: by numbers.
    package func kept(_ range: ClosedRange<UInt16>, as end: ClosedRange<UInt16>) -> [UInt16] {
        range.filter { destinations[EntityIndex(rawValue: $0)].map { end.contains($0.rawValue) } ?? false }
    }

    /// How the members of a relationship of the source are written down.
    package enum MemberPlace: Sendable {
        /// As pairs of numbers.
        case pairs
        /// In the members' rows.
        case members
        /// In the owner's row.
        case owner
    }

    package func place(of index: RelationshipIndex) -> MemberPlace {
        let relationship = source[index]
        if !relationship.isToMany { return .owner }
        return relationship.inverse.map { source[$0].isToMany } == true ? .pairs : .members
    }
}

/// Sees to it that every entity stands in one step.
private struct StepCount {
    private let plan: MigrationPlan
    private var left: Set<EntityIndex> = []
    private var reached: Set<EntityIndex> = []

    init(_ plan: MigrationPlan) { self.plan = plan }

    mutating func leave(_ entity: EntityIndex) throws(StoreError) {
        guard plan.source.entities.indices.contains(entity.value) else {
            throw Self.contradiction("names an entity that the source has not")
        }
        guard left.insert(entity).inserted else {
            throw Self.contradiction("says twice what becomes of \(plan.source[entity].name)", plan.source[entity].name)
        }
    }

    mutating func reach(_ entity: EntityIndex) throws(StoreError) {
        guard plan.destination.entities.indices.contains(entity.value) else {
            throw Self.contradiction("names an entity that the destination has not")
        }
        guard reached.insert(entity).inserted else {
            throw Self.contradiction(
                "says twice where \(plan.destination[entity].name) comes from", plan.destination[entity].name)
        }
    }

    func end() throws(StoreError) {
        if let entity = plan.source.entities.first(where: { !left.contains($0.index) }) {
            throw Self.contradiction("does not say what becomes of \(entity.name). Copy or drop it", entity.name)
        }
        if let entity = plan.destination.entities.first(where: { !reached.contains($0.index) }) {
            throw Self.contradiction(
                "does not say where \(entity.name) comes from. Create it or copy to it", entity.name)
        }
    }

    private static func contradiction(_ what: String, _ entity: String? = nil) -> StoreError {
        StoreError(134110, "The migration plan \(what); nothing was changed.", entity: entity)
    }
}
