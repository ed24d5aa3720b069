// Attributes that no store can keep.

/// Finds attributes that no store has a form for. Elements of composites are looked at one by one.
package struct StorableCheck {
    private let schema: Schema

    package init(schema: Schema) { self.schema = schema }

    /// - Throws: 134060 `unsupported`, naming the first such entity and attribute of the trees under `roots`, also for a derivation
    ///   that cannot be computed.
    package func run(_ roots: Set<EntityIndex>) throws(StoreError) {
        for entity in schema.entities where roots.contains(entity.root) {
            for slot in entity.slots where slot.owner == entity.index && !slot.isTransient {
                guard let attribute = slot.attribute, let reason = refusal(attribute) else { continue }
                throw StoreError(
                    134060,
                    "unsupported: the attribute \(entity.name).\(attribute.name) is \(reason), which the stores of this version "
                        + "cannot keep. Make it transient or give it another type.",
                    entity: entity.name, property: attribute.name)
            }
        }
        _ = try schema.derivedAttributes(in: roots)
    }

    private func refusal(_ attribute: Attribute) -> String? {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary,
            .uuid,
            .uri, .transformable:
            return nil
        case .undefined: return "of undefined type"
        case .objectID: return "an object ID"
        case .composite: return "composite"
        }
    }
}
