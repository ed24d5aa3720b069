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
        if tree == .function("now", []) {
            guard attribute.type == .date else { throw unsupported("now() needs an attribute of type Date.") }
            return .now
        }
        let bound: BoundExpression
        do {
            bound = try schema.expression(tree, on: entity)
        } catch { throw unsupported("\(error.sentence) \(DerivationReader.documented)") }
        guard case .single(let operand) = bound else { throw undocumented() }
        switch operand {
        case .path(let path): return try copy(path)
        case .aggregate(let aggregate): return try self.aggregate(aggregate)
        case .call(let name, let arguments): return try text(name, arguments)
        case .value, .conditional, .grouped: throw undocumented()
        }
    }

    private func text(_ name: String, _ arguments: [BoundOperand]) throws(StoreError) -> Derivation {
        guard let form = Derivation.TextForm(rawValue: name), case .path(let path)? = arguments.first else {
            throw undocumented()
        }
        guard path.hops.isEmpty else {
            throw unsupported("\(form.rawValue) takes an attribute of the entity itself, not a path.")
        }
        let slot = try source(path)
        guard entity.slots[slot].kind == .text, attribute.type == .string else {
            throw unsupported("\(form.rawValue) makes a String of a String.")
        }
        return .text(form, slot: slot)
    }

    private func copy(_ path: BoundPath) throws(StoreError) -> Derivation {
        let slot = try source(path)
        let given = path.entity.slots[slot].kind
        guard given == kind || (given.isPlainNumber && kind.isPlainNumber) else {
            throw unsupported("“\(path.entity.slots[slot].name)” is no \(attribute.type.modelName).")
        }
        return .copy(hops: path.hops.map(\.index), slot: slot)
    }

    /// `members.@count` and `members.@sum.attribute`.
    private func aggregate(_ aggregate: BoundAggregate) throws(StoreError) -> Derivation {
        guard aggregate.chain.count == 1, let members = aggregate.chain.first, members.owner.hops.isEmpty,
            members.filter == nil
        else { throw undocumented() }
        guard kind.isPlainNumber else { throw unsupported("The attribute must be a number.") }
        switch (aggregate.function, aggregate.operand) {
        case (.count, nil): return .count(members.relationship.index)
        case (.sum, .path(let path)?) where path.hops.isEmpty:
            let slot = try source(path)
            guard path.entity.slots[slot].kind.isPlainNumber else {
                throw unsupported("“\(path.entity.slots[slot].name)” is no number.")
            }
            return .sum(members.relationship.index, slot: slot)
        case (.count, _), (.sum, _), (.average, _), (.minimum, _), (.maximum, _), (.item, _), (.last, _):
            throw undocumented()
        }
    }

    /// The slot of an attribute that is stored as it is.
    private func source(_ path: BoundPath) throws(StoreError) -> Int {
        guard case .attribute(let slot) = path.end, let given = path.entity.slots[slot].attribute else {
            throw unsupported("It leads to an object, which is no value.")
        }
        guard !given.isTransient, !given.isDerived, !given.allowsExternalBinaryDataStorage else {
            throw unsupported("\(path.entity.name).\(given.name) is transient, derived itself or stored in files.")
        }
        return slot
    }

    private var kind: SlotKind {
        guard case .slot(let slot)? = entity.places[attribute.name] else { return .text }
        return entity.slots[slot].kind
    }

    private static let documented =
        "Use now(), canonical:(a), uppercase:(a), lowercase:(a), a key path over to-ones, toMany.@count or toMany.@sum.a."

    private func undocumented() -> StoreError { unsupported(DerivationReader.documented) }

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
