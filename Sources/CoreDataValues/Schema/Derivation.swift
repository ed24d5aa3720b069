// How the value of a derived attribute follows from others.

import Foundation

/// One of the derivations that Core Data documents (`NSDerivedAttributeDescription`).
package enum Derivation: Sendable, Hashable {
    package enum TextForm: String, Sendable, CaseIterable {
        case canonical = "canonical:"
        case uppercase = "uppercase:"
        case lowercase = "lowercase:"

        /// The same text as predicates make of it.
        package func text(_ text: String) -> String {
            switch self {
            case .canonical: TextComparison.fold(text, options: [.caseInsensitive, .diacriticInsensitive])
            case .uppercase: text.uppercased()
            case .lowercase: text.lowercased()
            }
        }
    }
    /// The time of the save.
    case now
    /// An attribute of the object itself, or of the one at the end of to-ones.
    case copy(hops: [RelationshipIndex], slot: Int)
    /// A text attribute of the object, rewritten.
    case text(TextForm, slot: Int)
    case count(RelationshipIndex)
    /// The slot is the members'.
    case sum(RelationshipIndex, slot: Int)
}

/// A derived attribute of a checked model.
package struct DerivedAttribute: Sendable {
    /// The entity that declares it.
    package let entity: EntityIndex
    package let slot: Int
    package let name: String
    package let kind: SlotKind
    package let derivation: Derivation
}

extension Attribute {
    /// Whether its value is computed when the object is saved.
    package var isDerived: Bool { derivationExpression != nil && !isTransient }
}

extension Entity {
    /// The slots whose values a store computes, inherited ones included.
    package var derivedSlots: [Int] { slots.indices.filter { slots[$0].attribute?.isDerived == true } }
}

extension Schema {
    /// The derived attributes of the trees under `roots`, each once, under the entity that declares it.
    ///
    /// - Throws: 134060 `unsupported` for a derivation that Core Data does not document or that cannot be
    /// computed.
    package func derivedAttributes(in roots: Set<EntityIndex>) throws(StoreError) -> [DerivedAttribute] {
        var all: [DerivedAttribute] = []
        for entity in entities where roots.contains(entity.root) {
            for (slot, property) in entity.slots.enumerated() where property.owner == entity.index {
                guard let attribute = property.attribute, attribute.isDerived else { continue }
                let derivation = try DerivationReader(schema: self, entity: entity, attribute: attribute).read()
                all.append(
                    DerivedAttribute(
                        entity: entity.index, slot: slot, name: attribute.name, kind: property.kind,
                        derivation: derivation))
            }
        }
        return all
    }
}

/// Reads one derivation expression and checks it against the model.
struct DerivationReader {
    let schema: Schema
    let entity: Entity
    let attribute: Attribute

    private var expression: String { attribute.derivationExpression ?? "" }

    func read() throws(StoreError) -> Derivation {
        let tree: Expression
        do {
            tree = try FormatParser.expression(expression)
        } catch { throw unsupported(error.sentence) }
        switch tree {
        case .keyPath(let path): return path.contains { $0.hasPrefix("@") } ? try aggregate(path) : try copy(path)
        case .function(let name, let arguments): return try function(name, arguments)
        case .constant, .list, .this, .variable, .subquery: throw undocumented()
        }
    }

    private func function(_ name: String, _ arguments: [Expression]) throws(StoreError) -> Derivation {
        if name == "now", arguments.isEmpty {
            guard attribute.type == .date else { throw unsupported("now() needs an attribute of type Date.") }
            return .now
        }
        guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { throw undocumented() }
        if let form = Derivation.TextForm(rawValue: name) { return try text(form, path) }
        switch (name, path.count) {
        case ("count:", 1): return try aggregate(path + ["@count"])
        case ("sum:", 2): return try aggregate([path[0], "@sum", path[1]])
        case (_, _): throw undocumented()
        }
    }

    private func text(_ form: Derivation.TextForm, _ path: [String]) throws(StoreError) -> Derivation {
        guard path.count == 1 else {
            throw unsupported("\(form.rawValue) takes an attribute of the entity itself, not a path.")
        }
        let slot = try source(path[0], in: entity)
        guard entity.slots[slot].kind == .text, attribute.type == .string else {
            throw unsupported("\(form.rawValue) makes a String of a String.")
        }
        return .text(form, slot: slot)
    }

    private func copy(_ path: [String]) throws(StoreError) -> Derivation {
        var place = entity
        var hops: [RelationshipIndex] = []
        for name in path.dropLast() {
            guard case .slot(let slot)? = place.places[name], let index = place.slots[slot].relationship,
                !place.slots[slot].isTransient
            else { throw unsupported("“\(name)” is no stored to-one of \(place.name).") }
            hops.append(index)
            place = schema[schema[index].destination]
        }
        guard let name = path.last else { throw undocumented() }
        let slot = try source(name, in: place)
        let given = place.slots[slot].kind
        guard given == kind || (given.isPlainNumber && kind.isPlainNumber) else {
            throw unsupported("“\(name)” is no \(attribute.type.modelName).")
        }
        return .copy(hops: hops, slot: slot)
    }

    /// `members.@count` and `members.@sum.attribute`.
    private func aggregate(_ path: [String]) throws(StoreError) -> Derivation {
        guard path.count >= 2, case .toMany(let place)? = entity.places[path[0]] else { throw undocumented() }
        let relationship = schema[entity.toMany[place]]
        guard !relationship.description.isTransient else { throw undocumented() }
        guard kind.isPlainNumber else { throw unsupported("The attribute must be a number.") }
        if path[1] == "@count", path.count == 2 { return .count(relationship.index) }
        guard path[1] == "@sum", path.count == 3 else { throw undocumented() }
        let members = schema[relationship.destination]
        let slot = try source(path[2], in: members)
        guard members.slots[slot].kind.isPlainNumber else { throw unsupported("“\(path[2])” is no number.") }
        return .sum(relationship.index, slot: slot)
    }

    /// The slot of an attribute that is stored as it is.
    private func source(_ name: String, in owner: Entity) throws(StoreError) -> Int {
        guard case .slot(let slot)? = owner.places[name], let given = owner.slots[slot].attribute else {
            throw unsupported("\(owner.name) has no attribute “\(name)”.")
        }
        guard !given.isTransient, !given.isDerived, !given.allowsExternalBinaryDataStorage else {
            throw unsupported("\(owner.name).\(name) is transient, derived itself or stored in files.")
        }
        return slot
    }

    private var kind: SlotKind {
        guard case .slot(let slot)? = entity.places[attribute.name] else { return .text }
        return entity.slots[slot].kind
    }

    private func undocumented() -> StoreError {
        unsupported(
            "Use now(), canonical:(a), uppercase:(a), lowercase:(a), a key path over to-ones, toMany.@count or "
                + "toMany.@sum.a.")
    }

    private func unsupported(_ why: String) -> StoreError {
        StoreError(
            134060,
            "unsupported: \(entity.name).\(attribute.name) cannot be derived by “\(expression.shortened())”. \(why)",
            entity: entity.name, property: attribute.name)
    }
}

extension SlotKind {
    /// Numbers that can be added and copied to one another.
    package var isPlainNumber: Bool {
        switch self {
        case .int, .bool, .double, .float, .decimal: true
        case .date, .text, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag: false
        }
    }
}
