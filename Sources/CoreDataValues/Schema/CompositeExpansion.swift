// From composite attributes to their leaves.

/// Takes the composites of a draft apart. Safe on any draft: what holds itself, and what is larger than a model may be, is cut.
struct CompositeExpansion {
    /// One leaf or one composite inside an attribute.
    struct Part {
        /// The whole path, as its `name` too.
        var attribute: Attribute
        /// Whether every composite around it must have a value.
        var isAnchored: Bool
    }
    private let composites: [String: Composite]

    init(_ draft: SchemaDraft) {
        composites = Dictionary(draft.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    var isEmpty: Bool { composites.isEmpty }

    /// The leaves of a composite attribute, named by their paths and in their order.
    ///
    /// - Parameter budget: how many may still come; less than one afterwards means that there are more.
    func leaves(of attribute: Attribute, budget: inout Int) -> [Part] {
        var leaves: [Part] = []
        collect(Part(attribute: attribute, isAnchored: !attribute.isOptional), depth: 0, &budget, &leaves)
        return leaves
    }

    /// The elements of a composite attribute, with their paths, in the order of their names.
    func elements(of part: Part) -> [Part] {
        let attribute = part.attribute
        guard let composite = attribute.compositeName.flatMap({ composites[$0] }) else { return [] }
        return composite.attributes.sorted { SchemaResolver.byteOrder($0.name, $1.name) }.map { element in
            var inner = element
            inner.name = attribute.name + "." + element.name
            inner.isTransient = attribute.isTransient || element.isTransient
            let isAnchored = part.isAnchored && !(element.type == .composite && element.isOptional)
            return Part(attribute: inner, isAnchored: isAnchored)
        }
    }

    private func collect(_ part: Part, depth: Int, _ budget: inout Int, _ leaves: inout [Part]) {
        guard budget > 0, depth <= SchemaLimits.depth else { return }
        guard part.attribute.type == .composite else {
            leaves.append(part)
            budget -= 1
            return
        }
        budget -= 1
        for element in elements(of: part) { collect(element, depth: depth + 1, &budget, &leaves) }
    }
}

extension SchemaCheck {
    /// Composites in composites multiply: an entity may not come to more columns than it may have properties.
    mutating func checkCompositeSize(of entity: EntityDraft) {
        guard !draft.composites.isEmpty, errors.isEmpty else { return }
        let expansion = CompositeExpansion(draft)
        var budget = SchemaLimits.properties
        for attribute in entity.attributes where attribute.type == .composite {
            _ = expansion.leaves(of: attribute, budget: &budget)
            guard budget < 1 else { continue }
            report(
                "“\(entity.name)” comes to more than \(SchemaLimits.properties) columns with the elements of its composite "
                    + "attributes. Use smaller ones", entity.name, attribute.name, attribute.location ?? entity.location
            )
            return
        }
    }
}
