// What becomes of the elements of composite attributes.

extension LightweightMigration {
    /// The name that the property had; an element of a composite attribute has a path.
    func formerPath(of slot: Slot, _ origins: [String: DeclaredProperty]) -> String? {
        guard let root = slot.composite else { return origins[slot.name]?.name }
        return origins[root].flatMap { pairs.sourcePath(of: slot, in: root, from: $0) }
    }

    /// The composite attribute of the earlier entity that the slot's own one was; nil for a slot that is no element, or of a new one.
    func formerComposite(of slot: Slot, _ later: Entity) -> CompositePlace? {
        guard let root = slot.composite, let origin = pairs.sourceProperties(of: later)[root] else { return nil }
        return pairs.source(of: later)?.composites[origin.name]
    }

    /// Whether an element became required in a composite that may be nil: of a row's columns nobody can tell which it was.
    func hasOpenElement(_ source: Slot, _ slot: Slot, _ later: Entity) -> Bool {
        slot.attribute?.isOptional == false && source.attribute?.isOptional == true && !slot.isRequired
            && formerComposite(of: slot, later) != nil
    }

    /// Asks for composite attributes that must have a value now, as none of their elements has a default.
    mutating func refuseRequiredComposites(_ later: Entity) {
        guard let earlier = pairs.source(of: later), !later.isAbstract else { return }
        for place in later.composites.values.sorted(by: { $0.path < $1.path }) where !place.isOptional {
            guard let origin = pairs.sourceProperties(of: later)[place.path],
                earlier.composites[origin.name]?.isOptional == true, !place.isTransient,
                !place.slots.contains(where: { later.slots[$0].isRequired })
            else { continue }
            let _: Void? = ask(
                later, place.path, "became required and is a composite, which has no default (leave it optional)")
        }
    }
}
