// What differs between two schemas, entity by entity and property by property.

/// The way from one schema to another. The refusal of a store, lightweight migration and tools read it.
///
/// What was renamed counts as the same thing under its new name (`SchemaPairs`). Costs a walk through both schemas.
package struct SchemaDiff: Sendable {
    /// In the order of the later schema, removed ones behind; entities without a difference are left out.
    package let entities: [EntityDiff]
    /// Which entity and which property stands for which.
    package let pairs: SchemaPairs

    package init(from source: Schema, to destination: Schema) {
        let pairs = SchemaPairs(from: source, to: destination)
        self.pairs = pairs
        let comparison = EntityComparison(pairs: pairs)
        let present = destination.entities.compactMap { comparison.diff(to: $0) }
        let kept = Set(destination.entities.compactMap { pairs.source(of: $0)?.index })
        entities = present + source.entities.filter { !kept.contains($0.index) }.map { EntityDiff(removed: $0.name) }
    }

    package subscript(entity name: String) -> EntityDiff? { entities.first { $0.name == name } }
}

/// One aspect that differs, with what it was and what it is.
package struct Difference: Sendable, Hashable {
    package enum Aspect: Sendable, Hashable, CaseIterable {
        case type, isOptional, isTransient, isOrdered, cardinality, storage, history, isAbstract
        case destination, inverse, minimumCount, maximumCount, deleteRule
        case derivation, elements, defaultValue, minimum, maximum, minimumLength, maximumLength, pattern, transformer,
            valueClass
        case parent, className, constraints, indexes, modifier, request
        /// The parent is the same entity and differs itself.
        case ancestor
    }

    package let aspect: Aspect
    /// nil where there was none.
    package let from: String?
    /// nil where there is none.
    package let to: String?
    /// Whether the version hash of the entity differs by it, so that a store does not fit.
    package let entersHash: Bool
}

/// How an entity differs.
package struct EntityDiff: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case added, removed, renamed, changed }

    package let kind: Kind
    /// The name in the earlier schema, nil for an added entity.
    package let source: String?
    /// The name in the later schema, nil for a removed one.
    package let destination: String?
    /// What differs in the entity itself.
    package let changes: [Difference]
    /// By name. Properties of added and removed entities are not listed, nor inherited ones.
    package let properties: [PropertyDiff]

    package var name: String { destination ?? source ?? "" }

    /// Whether the entity's version hash differs.
    package var entersHash: Bool {
        kind != .changed || changes.contains(where: \.entersHash) || properties.contains(where: \.entersHash)
    }

    init(removed name: String) { self.init(kind: .removed, source: name, destination: nil) }

    init(
        kind: Kind, source: String?, destination: String?, changes: [Difference] = [], properties: [PropertyDiff] = []
    ) {
        self.kind = kind
        self.source = source
        self.destination = destination
        self.changes = changes
        self.properties = properties
    }
}

/// How a property of an entity differs.
package struct PropertyDiff: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case added, removed, renamed, changed
        /// Another entity of the tree declared it, under its source name.
        case movedFrom(entity: String)
        /// Another entity of the tree declares it, under its destination name.
        case movedTo(entity: String)
    }

    package let kind: Kind
    /// The name in the earlier schema, nil for an added property.
    package let source: String?
    /// The name in the later schema, nil for a removed one.
    package let destination: String?
    /// What an added or removed one is: `optional Date`, `to-many to Book`.
    package let form: String
    package let changes: [Difference]
    /// Whether the version hash of the entity differs by it.
    package let entersHash: Bool

    package var name: String { destination ?? source ?? "" }
}
