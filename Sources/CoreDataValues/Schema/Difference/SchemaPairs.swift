// Which entity and which property of one schema became which of another.

/// Pairs what two schemas declare: by renaming identifiers, then by names.
///
/// A renaming identifier is the name that a thing had at first, so that several versions may lie between; one that is the name it
/// had last is taken as well. What has an identifier goes before what merely has the name.
package struct SchemaPairs: Sendable {
    package let source: Schema
    package let destination: Schema
    /// The earlier entity of each later one.
    private let sources: [EntityIndex?]
    /// The later entity of each earlier one.
    private let destinations: [EntityIndex?]
    /// Of each later entity the earlier properties by the names of the later ones.
    private let origins: [[String: DeclaredProperty]]

    package init(from source: Schema, to destination: Schema) {
        self.source = source
        self.destination = destination
        let pairs = Self.pair(
            source.entities.map { Named(name: $0.name, identifier: $0.draft.renamingIdentifier) },
            destination.entities.map { Named(name: $0.name, identifier: $0.draft.renamingIdentifier) })
        sources = pairs.map { $0.map { EntityIndex($0) } }
        var destinations = [EntityIndex?](repeating: nil, count: source.entities.count)
        for (later, earlier) in pairs.enumerated() {
            if let earlier { destinations[earlier] = EntityIndex(later) }
        }
        self.destinations = destinations
        origins = destination.entities.map { later in
            guard let earlier = pairs[later.index.value] else { return [:] }
            let (from, to) = (source.properties(of: source.entities[earlier]), destination.properties(of: later))
            var found: [String: DeclaredProperty] = [:]
            for (place, match) in Self.pair(from.map(\.named), to.map(\.named)).enumerated() {
                if let match { found[to[place].name] = from[match] }
            }
            return found
        }
    }

    package func source(of later: Entity) -> Entity? { sources[later.index.value].map { source[$0] } }
    package func destination(of earlier: Entity) -> Entity? {
        destinations[earlier.index.value].map { destination[$0] }
    }

    /// Where the values of a later entity's properties come from, inherited ones included, by its names; what it has not from the
    /// earlier one is left out. Empty for an added entity.
    package func sourceProperties(of later: Entity) -> [String: DeclaredProperty] {
        origins[later.index.value]
    }

    /// The names of earlier entities, and of their stored properties, that nothing later comes from.
    package var lost: [String] {
        source.entities.flatMap { earlier -> [String] in
            guard let later = destination(of: earlier) else { return [earlier.name] }
            let kept = Set(sourceProperties(of: later).values.map(\.name))
            let (attributes, relationships) = (earlier.draft.attributes, earlier.draft.relationships)
            let stored =
                attributes.filter { !$0.isTransient }.map(\.name) + relationships.filter { !$0.isTransient }.map(\.name)
            return stored.filter { !kept.contains($0) }.map { "\(earlier.name).\($0)" }
        }
    }

    /// What can be told apart by name and renaming identifier. Only things of one kind can be the same thing.
    struct Named {
        enum Kind { case entity, attribute, relationship, fetched }
        let name: String
        let identifier: String?
        var kind = Kind.entity
    }

    /// For each of the later things the place of the earlier one.
    ///
    /// *the same first name · the name it had last · the same name*
    static func pair(_ earlier: [Named], _ later: [Named]) -> [Int?] {
        var result = [Int?](repeating: nil, count: later.count)
        var taken = Set<Int>()
        func match(_ name: (Named) -> String?, _ formerName: (Named) -> String) {
            guard later.indices.contains(where: { result[$0] == nil && name(later[$0]) != nil }) else { return }
            let open = earlier.indices.filter { !taken.contains($0) }
            let places = Dictionary(open.map { (formerName(earlier[$0]), $0) }, uniquingKeysWith: { first, _ in first })
            for place in later.indices where result[place] == nil {
                guard let found = name(later[place]).flatMap({ places[$0] }), earlier[found].kind == later[place].kind,
                    taken.insert(found).inserted
                else { continue }
                result[place] = found
            }
        }
        match(\.identifier) { $0.identifier ?? $0.name }
        match(\.identifier, \.name)
        match({ $0.identifier ?? $0.name }, { $0.identifier ?? $0.name })
        match(\.name, \.name)
        return result
    }
}

/// A property with the entity that declares it.
package struct DeclaredProperty: Sendable, Hashable {
    package let entity: String
    package let name: String
    let identifier: String?
    let kind: SchemaPairs.Named.Kind

    var named: SchemaPairs.Named { SchemaPairs.Named(name: name, identifier: identifier, kind: kind) }
}

extension EntityDraft {
    /// The entity's own properties as what pairing knows of them.
    var declaredProperties: [DeclaredProperty] {
        attributes.map {
            DeclaredProperty(entity: name, name: $0.name, identifier: $0.renamingIdentifier, kind: .attribute)
        }
            + relationships.map {
                DeclaredProperty(entity: name, name: $0.name, identifier: $0.renamingIdentifier, kind: .relationship)
            }
            + fetchedProperties.map { DeclaredProperty(entity: name, name: $0.name, identifier: nil, kind: .fetched) }
    }
}

extension Schema {
    /// Own and inherited properties.
    package func properties(of entity: Entity) -> [DeclaredProperty] {
        var line: [Entity] = [entity]
        while let parent = line.last?.parent { line.append(self[parent]) }
        return line.flatMap(\.draft.declaredProperties)
    }
}
