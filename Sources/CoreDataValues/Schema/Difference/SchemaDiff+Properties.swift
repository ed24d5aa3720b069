// Comparing properties that stand for each other.

/// Compares attributes, relationships and fetched properties, each with the one of the same kind.
struct PropertyComparison {
    private let earlier: PropertyTable
    private let later: PropertyTable

    init(_ pairs: SchemaPairs) {
        earlier = PropertyTable(pairs.source)
        later = PropertyTable(pairs.destination)
    }

    /// nil where nothing differs.
    func diff(from: DeclaredProperty, to: DeclaredProperty) -> PropertyDiff? {
        guard let (old, new) = both(from, to) else { return nil }
        let changes = changes(old, from.entity, new, to.entity)
        let isRenamed = !from.name.hasSameBytes(to.name)
        if !isRenamed, changes.isEmpty { return nil }
        return PropertyDiff(
            kind: isRenamed ? .renamed : .changed, source: from.name, destination: to.name, form: new.form,
            changes: changes,
            entersHash: isRenamed && (old.isStored || new.isStored) || changes.contains(where: \.entersHash))
    }

    func added(_ property: DeclaredProperty, _ kind: PropertyDiff.Kind, from origin: DeclaredProperty?) -> PropertyDiff?
    {
        guard let new = later[property] else { return nil }
        let old = origin.flatMap { both($0, property)?.0 }
        return PropertyDiff(
            kind: kind, source: origin?.name, destination: property.name, form: new.form,
            changes: old.map { changes($0, origin?.entity ?? "", new, property.entity) } ?? [], entersHash: new.isStored
        )
    }

    func removed(_ property: DeclaredProperty, _ kind: PropertyDiff.Kind, to target: DeclaredProperty?) -> PropertyDiff
    {
        let old = earlier[property]
        return PropertyDiff(
            kind: kind, source: property.name, destination: target?.name, form: old?.form ?? "", changes: [],
            entersHash: old?.isStored == true)
    }

    private func both(_ from: DeclaredProperty, _ to: DeclaredProperty) -> (DraftIndex.Property, DraftIndex.Property)? {
        guard let old = earlier[from], let new = later[to] else { return nil }
        return (old, new)
    }

    private func changes(
        _ old: DraftIndex.Property, _ formerOwner: String, _ new: DraftIndex.Property, _ owner: String
    ) -> [Difference] {
        var found = Differences()
        switch (old, new) {
        case (.attribute(let old), .attribute(let new)): compare(old, new, &found)
        case (.relationship(let old), .relationship(let new)): compare(old, formerOwner, new, owner, &found)
        case (.fetched(let old), .fetched(let new)): compare(old, new, &found)
        case (.attribute, _), (.relationship, _), (.fetched, _): break
        }
        return found.all
    }

    private func compare(_ old: Attribute, _ new: Attribute, _ found: inout Differences) {
        found.entersHash = old.isTransient != new.isTransient
        found.compare(.isTransient, old.transience, new.transience)
        found.entersHash = !old.isTransient || !new.isTransient
        found.compare(.type, old.type.modelName, new.type.modelName)
        found.compare(.isOptional, old.optionality, new.optionality)
        found.compare(.storage, old.storage, new.storage)
        found.compare(.history, old.history, new.history)
        found.compare(.derivation, old.derivationExpression.nonEmpty, new.derivationExpression.nonEmpty)
        found.compare(.modifier, old.versionHashModifier.nonEmpty, new.versionHashModifier.nonEmpty)
        found.compare(.elements, earlier.elements(of: old), later.elements(of: new))
        found.entersHash = false
        found.compare(.defaultValue, old.defaultValue, new.defaultValue)
        found.compare(.minimum, old.minimum ?? .null, new.minimum ?? .null)
        found.compare(.maximum, old.maximum ?? .null, new.maximum ?? .null)
        found.compare(.minimumLength, old.minimumLength.map(String.init), new.minimumLength.map(String.init))
        found.compare(.maximumLength, old.maximumLength.map(String.init), new.maximumLength.map(String.init))
        found.compare(.pattern, old.pattern, new.pattern)
        found.compare(.transformer, old.valueTransformerName, new.valueTransformerName)
        found.compare(.valueClass, old.customClassName, new.customClassName)
    }

    /// The inverse enters the hash but for a relationship that is its own.
    private func compare(
        _ old: Relationship, _ formerOwner: String, _ new: Relationship, _ owner: String, _ found: inout Differences
    ) {
        found.entersHash = old.isTransient != new.isTransient
        found.compare(.isTransient, old.transience, new.transience)
        let isStored = !old.isTransient || !new.isTransient
        found.entersHash = isStored
        found.compare(.isOptional, old.optionality, new.optionality)
        found.compare(.destination, old.destinationName, new.destinationName)
        found.compare(.isOrdered, old.isOrdered ? "ordered" : "unordered", new.isOrdered ? "ordered" : "unordered")
        found.compare(.cardinality, old.isToMany ? "to-many" : "to-one", new.isToMany ? "to-many" : "to-one")
        found.compare(
            .minimumCount, old.minCount == 0 ? nil : "\(old.minCount)", new.minCount == 0 ? nil : "\(new.minCount)")
        if old.isToMany, new.isToMany {
            found.compare(
                .maximumCount, old.maxCount == 0 ? nil : "\(old.maxCount)", new.maxCount == 0 ? nil : "\(new.maxCount)")
        }
        found.compare(.modifier, old.versionHashModifier.nonEmpty, new.versionHashModifier.nonEmpty)
        let inverses = (VersionHash.inverse(of: old, owner: formerOwner), VersionHash.inverse(of: new, owner: owner))
        found.entersHash = isStored && !inverses.0.hasSameBytes(inverses.1)
        found.compare(.inverse, old.inverseName.nonEmpty, new.inverseName.nonEmpty)
        found.entersHash = false
        found.compare(.deleteRule, old.deleteRule.word, new.deleteRule.word)
    }

    private func compare(_ old: FetchedProperty, _ new: FetchedProperty, _ found: inout Differences) {
        found.entersHash = false
        found.compare(.isOptional, old.isOptional ? "optional" : "required", new.isOptional ? "optional" : "required")
        if old.request.unplaced != new.request.unplaced { found.add(.request, nil, nil) }
    }
}

/// The declared properties of a schema by entity and name, and what composite attributes are made of.
private struct PropertyTable {
    private var properties: [DeclaredProperty: DraftIndex.Property] = [:]
    private let composites: [String: Composite]

    init(_ schema: Schema) {
        composites = Dictionary(schema.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for draft in schema.entities.map(\.draft) {
            let all =
                draft.attributes.map(DraftIndex.Property.attribute)
                + draft.relationships.map(DraftIndex.Property.relationship)
                + draft.fetchedProperties.map(DraftIndex.Property.fetched)
            for (declared, property) in zip(draft.declaredProperties, all) { properties[declared] = property }
        }
    }

    subscript(declared: DeclaredProperty) -> DraftIndex.Property? { properties[declared] }

    /// All that the elements of a composite attribute add to its hash, in the order of their names.
    func elements(of attribute: Attribute, depth: Int = 0) -> String? {
        guard attribute.type == .composite, depth <= SchemaLimits.depth,
            let composite = attribute.compositeName.flatMap({ composites[$0] })
        else { return nil }
        return composite.attributes.sorted { VersionHash.precedes($0.name, $1.name) }.map { element in
            "\(element.name) (\(element.form)\(elements(of: element, depth: depth + 1).map { ": " + $0 } ?? ""))"
        }.joined(separator: ", ")
    }
}
