// What a model was when a store recorded its hashes, found by trying.

import Foundation

/// Alters entities until they hash as a store recorded. A hash does not tell what went into it; an alteration that
/// reproduces it is certain.
///
/// Single changes of an entity are tried first, then pairs, then triples, the likely ones before the others. Costs one
/// SHA-256 of an entity's size for each attempt, at most `limit` of them for all entities together.
package struct HashSearch {
    /// What is known of one entity in the store beside its hash.
    package struct Evidence: Sendable {
        /// Properties that the store has no column for.
        package var absent: Set<String> = []
        /// Many-to-manys that the store has no join table for under their names.
        package var unjoined: Set<String> = []
        /// Attributes that have a column, with the types that it may be for.
        package var types: [String: [AttributeType]] = [:]
        /// To-manys of which the store shows whether they are ordered.
        package var isOrdered: [String: Bool] = [:]
        /// The uniqueness constraints in the store.
        package var constraints: [[String]]?
        /// Names in upper case of which the model knows nothing, with the types that their columns may be for; no types
        /// where it is a relationship.
        package var leftovers: [(name: String, types: [AttributeType])] = []
        /// The parent's name in the store, nil inside for none.
        package var parent: String??

        package init() {}
    }

    /// What is found out of one entity.
    package enum Finding: Sendable, Equatable {
        /// All that differs in the entity itself, a sentence each; none when only its ancestors differ.
        case explained([String])
        /// The store has the entity under this name.
        case renamed(String)
        /// Nothing that was tried explains the hash.
        case unknown
    }

    package static let limit = 50_000

    private let hashes: VersionHash
    private let drafts: [String: EntityDraft]
    private let names: [String]
    private let recorded: [String: Data]
    private let evidence: [String: Evidence]
    private var budget: Int
    private var findings: [String: Finding] = [:]
    /// The stored properties of an entity, inherited ones included, as the store knew them.
    private var known: [String: [VersionHash.HashedProperty]] = [:]
    /// Names that properties had in the store.
    private var formerNames: Set<String> = []

    /// - Parameters:
    ///   - recorded: the store's hashes by entity.
    ///   - evidence: by entity; an entity without any is searched by its hash alone.
    package init(schema: Schema, recorded: [String: Data], evidence: [String: Evidence] = [:], limit: Int = limit) {
        var draft = SchemaDraft()
        draft.entities = schema.entities.map(\.draft)
        draft.composites = schema.composites
        hashes = VersionHash(draft: draft)
        drafts = Dictionary(draft.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // From the roots down.
        names = draft.entities.map(\.name)
        self.recorded = recorded
        self.evidence = evidence
        budget = limit
    }

    /// Looks for the entities of these names, ancestors first.
    package func run(on differing: Set<String>) -> [String: Finding] {
        var copy = self
        let gone = recorded.keys.filter { drafts[$0] == nil }.sorted()
        for name in names {
            guard let entity = copy.drafts[name] else { continue }
            if recorded[name] == nil {
                copy.findRenamed(entity, gone)
            } else if differing.contains(name) {
                copy.find(entity)
            }
            if copy.known[name] == nil { copy.known[name] = copy.properties(of: entity) }
        }
        return copy.findings
    }

    /// The properties that the model gives an entity, below what is known of its ancestors.
    private func properties(of entity: EntityDraft) -> [VersionHash.HashedProperty] {
        (entity.parentName.flatMap { known[$0] } ?? []) + hashes.ownProperties(of: entity)
    }
}

// MARK: - In words

extension HashSearch {
    /// What is said of entities of a store without tables: what is known for certain, else what it may be.
    package func sentences(on differing: [String], in schema: Schema) -> [String] {
        let found = run(on: Set(differing))
        return schema.entities.flatMap { entity -> [String] in
            switch found[entity.name] {
            case .explained(let sentences): sentences
            case .renamed(let name): ["\(entity.name) was called \(name) in the store"]
            case .unknown: [Self.unknown(entity)]
            case nil: []
            }
        }
    }

    /// What is said of an entity that nothing explains.
    package static func unknown(_ entity: Entity) -> String {
        var names = Set(entity.places.keys.filter { !$0.contains(".") })
        names.formUnion(entity.composites.keys.filter { !$0.contains(".") })
        names.subtract(entity.fetchedProperties.map(\.name))
        let properties = names.isEmpty ? "" : "any of its properties (" + names.sorted().joined(separator: ", ") + ") or "
        return "no change that was tried explains \(entity.name): what differs may be \(properties)what belongs to it as a whole"
    }
}

// MARK: - One entity

extension HashSearch {
    private mutating func findRenamed(_ entity: EntityDraft, _ gone: [String]) {
        for name in gone {
            var renamed = entity
            renamed.name = name
            guard let target = recorded[name] else { continue }
            let parts = self.parts(renamed, parent: renamed.parentName)
            if parts.with(hashes.sorted(parts.properties + hashes.ownProperties(of: renamed))).matches(target) {
                findings[entity.name] = .renamed(name)
                known[entity.name] = parts.properties + hashes.ownProperties(of: renamed)
                return
            }
        }
    }

    private mutating func find(_ entity: EntityDraft) {
        guard let target = recorded[entity.name] else { return }
        let evidence = self.evidence[entity.name]
        // What the tables seem to say may mislead: numbered columns move with what stands before them.
        let attempts = evidence == nil ? [nil] : [evidence, nil]
        for (position, evidence) in attempts.enumerated() {
            if find(entity, target, evidence, keeping: position == 0 && attempts.count > 1 ? budget / 2 : 0) { return }
        }
        findings[entity.name] = .unknown
    }

    /// - Parameter keeping: what must be left of the budget.
    private mutating func find(
        _ entity: EntityDraft, _ target: Data, _ evidence: Evidence?, keeping: Int
    ) -> Bool {
        var parent = entity.parentName
        var lead: [String] = []
        if let former = evidence?.parent, former != parent {
            lead = ["\(entity.name) had \(former.map { "the parent \($0)" } ?? "no parent") in the store"]
            parent = former
        }
        let alterations = Alterations(
            entity: entity, evidence: evidence, hashes: hashes, entities: drafts,
            entityNames: Set(recorded.keys).union(drafts.keys), formerNames: formerNames)
        var trial = Trial(
            base: parts(entity, parent: parent), dimensions: alterations.dimensions(),
            attempts: budget - keeping, target: target)
        let found = trial.run()
        budget = keeping + trial.attempts
        guard let found else { return false }
        findings[entity.name] = .explained(lead + found.variants.compactMap(\.sentence))
        known[entity.name] = found.parts.properties
        formerNames.formUnion(found.variants.compactMap(\.formerName))
        return true
    }

    /// What enters the hash but the entity's own properties.
    private func parts(_ entity: EntityDraft, parent: String?) -> VersionHash.EntityParts {
        VersionHash.EntityParts(
            name: entity.name, isAbstract: entity.isAbstract,
            parentHash: parent.flatMap { recorded[storedName($0)] }.map { Array($0) } ?? [],
            properties: parent.flatMap { known[$0] } ?? [], modifier: entity.versionHashModifier,
            constraints: entity.uniquenessConstraints)
    }

    private func storedName(_ name: String) -> String {
        if case .renamed(let former)? = findings[name] { former } else { name }
    }

}

extension VersionHash.EntityParts {
    func with(_ properties: [VersionHash.HashedProperty]) -> VersionHash.EntityParts {
        var copy = self
        copy.properties = properties
        return copy
    }

    /// Whether the parts hash to this. Behind the mark of derived attributes only the rest is compared.
    func matches(_ target: Data) -> Bool {
        let mark = VersionHash.derivedMark
        let start = target.starts(with: mark) ? mark.count : 0
        return hash().dropFirst(start).elementsEqual(target.dropFirst(start))
    }
}

// MARK: - Attempts

/// One way in which a part of an entity may have been.
struct HashVariant {
    enum Part {
        case property(VersionHash.HashedProperty?)
        case isAbstract(Bool)
        case modifier(String?)
        case constraints([[String]])
    }
    let part: Part
    /// 0 for what the model or the tables say, more for what is less likely.
    var cost = 0
    /// nil when it is as in the model.
    var sentence: String?
    /// Another name that the property had.
    var formerName: String?
}

/// Puts variants together until they hash as they should.
private struct Trial {
    let base: VersionHash.EntityParts
    /// For each part of the entity the ways in which it may have been.
    let dimensions: [[HashVariant]]
    var attempts: Int
    let target: Data
    private var chosen: [HashVariant] = []

    init(base: VersionHash.EntityParts, dimensions: [[HashVariant]], attempts: Int, target: Data) {
        self.base = base
        self.dimensions = dimensions
        self.attempts = attempts
        self.target = target
    }

    /// How many changes are made of what cost in all: none, one or two by their cost, then three.
    private static let order: [(changes: Int, cost: Int)] = {
        let few = (1...6).flatMap { cost in (1...2).map { ($0, cost) } }
        return [(0, 0)] + few + (3...5).map { (3, $0) }
    }()

    mutating func run() -> (variants: [HashVariant], parts: VersionHash.EntityParts)? {
        for (changes, cost) in Self.order {
            chosen = []
            if let parts = visit(0, changes: changes, cost: cost) { return (chosen, parts) }
            if attempts <= 0 { return nil }
        }
        return nil
    }

    /// Chooses a variant for each dimension from `place` on, with so many changes of so much cost among them.
    private mutating func visit(_ place: Int, changes: Int, cost: Int) -> VersionHash.EntityParts? {
        guard place < dimensions.count else { return changes == 0 && cost == 0 ? tried() : nil }
        if changes > dimensions.count - place || attempts <= 0 { return nil }
        for variant in dimensions[place] {
            let isChange = variant.cost > 0 ? 1 : 0
            if isChange > changes || variant.cost > cost { continue }
            chosen.append(variant)
            if let parts = visit(place + 1, changes: changes - isChange, cost: cost - variant.cost) { return parts }
            chosen.removeLast()
        }
        return nil
    }

    private mutating func tried() -> VersionHash.EntityParts? {
        attempts -= 1
        var parts = base
        for variant in chosen {
            switch variant.part {
            case .property(let property): if let property { parts.properties.append(property) }
            case .isAbstract(let flag): parts.isAbstract = flag
            case .modifier(let text): parts.modifier = text
            case .constraints(let list): parts.constraints = list
            }
        }
        parts.properties.sort { VersionHash.precedes($0.name, $1.name) }
        return parts.matches(target) ? parts : nil
    }
}
