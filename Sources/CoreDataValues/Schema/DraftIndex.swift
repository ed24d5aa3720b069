// Finding things in a draft by name, before anything in it is known to be right.

/// The entities and properties of a draft by name. Safe on any draft: lines of parents end where they are cut
/// or cyclic.
struct DraftIndex {
    enum Property {
        case attribute(Attribute)
        case relationship(Relationship)
        case fetched(FetchedProperty)
    }

    let entities: [EntityDraft]
    private let positions: [String: Int]
    private let own: [[String: Property]]

    init(_ draft: SchemaDraft) {
        entities = draft.entities
        positions = Dictionary(
            draft.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let expansion = CompositeExpansion(draft)
        own = draft.entities.map { Self.properties(of: $0, expansion) }
    }

    func entity(named name: String) -> EntityDraft? { positions[name].map { entities[$0] } }

    /// The entity of that name and its ancestors, nearest first; at most `SchemaLimits.depth` of them.
    func line(of name: String) -> [EntityDraft] { positionLine(of: name).map { entities[$0] } }

    /// An own or inherited property, with the entity that declares it.
    func property(named name: String, in entity: String) -> (owner: EntityDraft, property: Property)? {
        for position in positionLine(of: entity) {
            if let property = own[position][name] { return (entities[position], property) }
        }
        return nil
    }

    /// The inverse is looked for in the entity that the model names, then in the destination; in each also
    /// upwards, since either may inherit it.
    func inverse(of relationship: Relationship) -> (owner: EntityDraft, inverse: Relationship)? {
        guard let name = relationship.inverseName else { return nil }
        for start in [relationship.inverseEntityName, relationship.destinationName] {
            guard let start, let found = property(named: name, in: start) else { continue }
            if case .relationship(let inverse) = found.property { return (found.owner, inverse) }
        }
        return nil
    }

    /// The inverse of a relationship, if that names the relationship back.
    func mutualInverse(of relationship: Relationship, in entity: String) -> (owner: EntityDraft, inverse: Relationship)?
    {
        guard let found = inverse(of: relationship), let back = inverse(of: found.inverse), back.owner.name == entity,
            back.inverse.name == relationship.name
        else { return nil }
        return found
    }

    /// Whether one is the other or an ancestor of it.
    func areRelated(_ a: String, _ b: String) -> Bool {
        line(of: a).contains { $0.name == b } || line(of: b).contains { $0.name == a }
    }

    private func positionLine(of name: String) -> [Int] {
        var line: [Int] = []
        var current = positions[name]
        while let next = current, line.count <= SchemaLimits.depth {
            line.append(next)
            current = entities[next].parentName.flatMap { positions[$0] }
        }
        return line
    }

    /// Elements of composites stand under their paths.
    private static func properties(of entity: EntityDraft, _ expansion: CompositeExpansion) -> [String: Property] {
        var properties: [String: Property] = [:]
        var budget = SchemaLimits.properties
        for attribute in entity.attributes {
            properties[attribute.name] = .attribute(attribute)
            guard attribute.type == .composite else { continue }
            for leaf in expansion.leaves(of: attribute, budget: &budget) {
                properties[leaf.attribute.name] = .attribute(leaf.attribute)
            }
        }
        for relationship in entity.relationships {
            properties[relationship.name] = .relationship(relationship)
        }
        for fetched in entity.fetchedProperties { properties[fetched.name] = .fetched(fetched) }
        return properties
    }
}

/// How large a model may be.
enum SchemaLimits {
    /// Stores number entities from 1, and the numbers from 16,001 belong to the history tables.
    static let entities = 16_000
    /// Levels of inheritance, and of composites in composites.
    static let depth = 100
    /// Own and inherited properties of one entity.
    static let properties = 10_000
    /// Bytes of a name.
    static let name = 1_000
}
