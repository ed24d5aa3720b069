// From a draft to a schema: order, inheritance, slots, inverses. Checks stand in SchemaCheck.

import Foundation

/// Resolves one draft. A value used once.
struct SchemaResolver {
    private let draft: SchemaDraft
    private let names: DraftIndex
    private let expansion: CompositeExpansion
    private var order: [EntityDraft] = []
    private var indexes: [String: EntityIndex] = [:]

    init(_ draft: SchemaDraft) {
        self.draft = draft
        names = DraftIndex(draft)
        expansion = CompositeExpansion(draft)
    }

    struct Result {
        var entities: [Entity]
        var relationships: [ResolvedRelationship]
        var warnings: [SchemaWarning] = []
    }

    /// *check · number the entities · number the relationships · give places · hash*
    func resolve() throws(SchemaError) -> Result {
        let warnings = try SchemaCheck(draft, names: names).run()
        var copy = self
        copy.numberEntities()
        var result = copy.build()
        result.warnings = warnings
        return result
    }

    /// Depth-first, siblings by name without case (ties by bytes): the order of `Z_ENT`.
    private mutating func numberEntities() {
        let children = Dictionary(grouping: draft.entities, by: { $0.parentName ?? "" })
        func visit(_ name: String) -> [EntityDraft] {
            (children[name] ?? []).sorted(by: SchemaResolver.nameOrder).flatMap { [$0] + visit($0.name) }
        }
        order = visit("")
        for (position, entity) in order.enumerated() { indexes[entity.name] = EntityIndex(position) }
    }

    static func nameOrder(_ a: EntityDraft, _ b: EntityDraft) -> Bool {
        let (x, y) = (a.name.lowercased(), b.name.lowercased())
        return x == y ? byteOrder(a.name, b.name) : byteOrder(x, y)
    }

    /// Names by their UTF-8 bytes.
    static func byteOrder(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    private func build() -> Result {
        let numbers = relationshipNumbers()
        var entities: [Entity] = []
        var relationships: [ResolvedRelationship?] = Array(repeating: nil, count: numbers.count)
        let hashes = VersionHash(draft: draft).entityHashes()
        let lasts = lastDescendants()
        let children = childIndexes()
        for (position, entity) in order.enumerated() {
            let index = EntityIndex(position)
            let parent = entity.parentName.flatMap { indexes[$0] }.map { entities[$0.value] }
            let plan = places(of: entity, index: index, parent: parent, numbers: numbers, lasts: lasts)
            for relationship in plan.declared { relationships[relationship.index.rawValue] = relationship }
            entities.append(
                Entity(
                    index: index, name: entity.name, className: entity.className,
                    isAbstract: entity.isAbstract,
                    parent: parent?.index, root: parent?.root ?? index, last: lasts[position],
                    children: children[position], draft: entity, slots: plan.slots, toMany: plan.toMany,
                    relationships: (parent?.relationships ?? []) + plan.declared.map(\.index),
                    fetchedProperties: (parent?.fetchedProperties ?? []) + entity.fetchedProperties,
                    places: plan.places, composites: plan.composites,
                    constraints: constraints(of: entity, index, plan) + (parent?.constraints ?? []),
                    versionHash: hashes[entity.name] ?? Data()))
        }
        return Result(entities: entities, relationships: relationships.compactMap { $0 })
    }

    private func constraints(of entity: EntityDraft, _ index: EntityIndex, _ plan: Places) -> [UniquenessConstraint] {
        entity.uniquenessConstraints.enumerated().map { position, names in
            let slots = names.compactMap { name in if case .slot(let slot)? = plan.places[name] { slot } else { nil } }
            return UniquenessConstraint(owner: index, position: position, names: names, slots: slots)
        }
    }

    private func lastDescendants() -> [EntityIndex] {
        var last = order.indices.map { EntityIndex($0) }
        for position in order.indices.reversed() {
            if let parent = order[position].parentName.flatMap({ indexes[$0] }) {
                last[parent.value] = max(last[parent.value], last[position])
            }
        }
        return last
    }

    private func childIndexes() -> [[EntityIndex]] {
        var children: [[EntityIndex]] = order.map { _ in [] }
        for (position, entity) in order.enumerated() {
            guard let parent = entity.parentName.flatMap({ indexes[$0] }) else { continue }
            children[parent.value].append(EntityIndex(position))
        }
        return children
    }

    private struct RelationshipName: Hashable {
        var entity: String
        var name: String
    }

    private func relationshipNumbers() -> [RelationshipName: RelationshipIndex] {
        var numbers: [RelationshipName: RelationshipIndex] = [:]
        for entity in order {
            for relationship in entity.relationships.sorted(by: { Self.byteOrder($0.name, $1.name) }) {
                numbers[RelationshipName(entity: entity.name, name: relationship.name)] =
                    RelationshipIndex(numbers.count)
            }
        }
        return numbers
    }

    private struct Places {
        var slots: [Slot]
        var toMany: [RelationshipIndex]
        var declared: [ResolvedRelationship] = []
        var places: [String: PropertyPlace]
        var composites: [String: CompositePlace]
    }

    /// Inherited places first, then the entity's own properties by name.
    private func places(
        of entity: EntityDraft, index: EntityIndex, parent: Entity?,
        numbers: [RelationshipName: RelationshipIndex], lasts: [EntityIndex]
    ) -> Places {
        var plan = Places(
            slots: parent?.slots ?? [], toMany: parent?.toMany ?? [], places: parent?.places ?? [:],
            composites: parent?.composites ?? [:])
        let attributes = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })
        let relationships = Dictionary(uniqueKeysWithValues: entity.relationships.map { ($0.name, $0) })
        for name in (Array(attributes.keys) + Array(relationships.keys)).sorted(by: Self.byteOrder) {
            if let attribute = attributes[name], attribute.type == .composite {
                addComposite(attribute, owner: index, to: &plan)
            } else if let attribute = attributes[name] {
                plan.places[name] = .slot(plan.slots.count)
                plan.slots.append(Self.slot(attribute, owner: index))
            } else if let relationship = relationships[name] {
                let resolved = resolve(
                    relationship, of: entity, index: index, plan: &plan, numbers: numbers, lasts: lasts)
                plan.declared.append(resolved)
                plan.places[name] = resolved.place
            }
        }
        for (position, property) in ((parent?.fetchedProperties ?? []) + entity.fetchedProperties)
            .enumerated()
        {
            plan.places[property.name] = .fetched(position)
        }
        return plan
    }

    private func addComposite(_ attribute: Attribute, owner: EntityIndex, to plan: inout Places) {
        let part = CompositeExpansion.Part(attribute: attribute, isAnchored: !attribute.isOptional)
        _ = composite(part, root: attribute.name, owner: owner, depth: 0, &plan)
    }

    /// Gives slots to the leaves of a composite, nested ones included; checks have limited their depth.
    private func composite(
        _ part: CompositeExpansion.Part, root: String, owner: EntityIndex, depth: Int, _ plan: inout Places
    ) -> CompositePlace {
        var elements: [CompositePlace.Element] = []
        var required: [Int] = []
        let prefix = part.attribute.name.count + 1
        for inner in depth < SchemaLimits.depth ? expansion.elements(of: part) : [] {
            let name = String(inner.attribute.name.dropFirst(prefix))
            guard inner.attribute.type != .composite else {
                let nested = composite(inner, root: root, owner: owner, depth: depth + 1, &plan)
                elements.append(CompositePlace.Element(name: name, content: .composite(nested)))
                continue
            }
            let slot = plan.slots.count
            let isRequired = !inner.attribute.isOptional && !inner.attribute.isTransient
            if isRequired, !part.isAnchored { required.append(slot) }
            plan.places[inner.attribute.name] = .slot(slot)
            plan.slots.append(
                Slot(
                    name: inner.attribute.name, kind: SlotKind(inner.attribute), attribute: inner.attribute,
                    relationship: nil, owner: owner, isTransient: inner.attribute.isTransient,
                    isRequired: isRequired && part.isAnchored, composite: root))
            elements.append(CompositePlace.Element(name: name, content: .slot(slot)))
        }
        let place = CompositePlace(
            path: part.attribute.name, elements: elements, isOptional: part.attribute.isOptional,
            isTransient: part.attribute.isTransient, required: required)
        plan.composites[place.path] = place
        return place
    }

    private func resolve(
        _ relationship: Relationship, of entity: EntityDraft, index: EntityIndex, plan: inout Places,
        numbers: [RelationshipName: RelationshipIndex], lasts: [EntityIndex]
    ) -> ResolvedRelationship {
        let number =
            numbers[RelationshipName(entity: entity.name, name: relationship.name)] ?? RelationshipIndex(0)
        let destination = indexes[relationship.destinationName] ?? index
        let tagged = !relationship.isToMany && lasts[destination.value] != destination
        let place: PropertyPlace
        if relationship.isToMany {
            place = .toMany(plan.toMany.count)
            plan.toMany.append(number)
        } else {
            place = .slot(plan.slots.count)
            plan.slots.append(
                Slot(
                    name: relationship.name, kind: .toOne, attribute: nil, relationship: number, owner: index,
                    isTransient: relationship.isTransient, isRequired: !relationship.isOptional))
            if tagged {
                plan.slots.append(
                    Slot(
                        name: relationship.name, kind: .entityTag, attribute: nil, relationship: number,
                        owner: index, isTransient: relationship.isTransient, isRequired: false))
            }
        }
        return ResolvedRelationship(
            index: number, description: relationship, owner: index, destination: destination,
            inverse: inverse(of: relationship, in: entity, numbers),
            lender: lender(of: relationship, in: entity, numbers),
            place: place, lastDestination: lasts[destination.value])
    }

    private func inverse(
        of relationship: Relationship, in entity: EntityDraft, _ numbers: [RelationshipName: RelationshipIndex]
    ) -> RelationshipIndex? {
        guard let (owner, inverse) = names.mutualInverse(of: relationship, in: entity.name) else { return nil }
        return numbers[RelationshipName(entity: owner.name, name: inverse.name)]
    }

    /// The to-one that a to-many names as its inverse and that does not name it back.
    private func lender(
        of relationship: Relationship, in entity: EntityDraft, _ numbers: [RelationshipName: RelationshipIndex]
    ) -> RelationshipIndex? {
        guard relationship.isToMany, names.mutualInverse(of: relationship, in: entity.name) == nil,
            let (owner, inverse) = names.inverse(of: relationship), !inverse.isToMany, !inverse.isTransient
        else { return nil }
        return numbers[RelationshipName(entity: owner.name, name: inverse.name)]
    }

    private static func slot(_ attribute: Attribute, owner: EntityIndex) -> Slot {
        Slot(
            name: attribute.name, kind: SlotKind(attribute), attribute: attribute, relationship: nil,
            owner: owner,
            isTransient: attribute.isTransient, isRequired: !attribute.isOptional && !attribute.isTransient)
    }
}

extension SlotKind {
    /// The kind of cell an attribute's values are kept in.
    package init(_ attribute: Attribute) {
        switch attribute.type {
        case .integer16, .integer32, .integer64: self = .int
        case .boolean: self = .bool
        case .double: self = .double
        case .float: self = .float
        case .date: self = .date
        case .string: self = .text
        case .binary: self = attribute.allowsExternalBinaryDataStorage ? .externalData : .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .decimal: self = .decimal
        case .undefined, .transformable, .objectID, .composite: self = .transformable
        }
    }
}
