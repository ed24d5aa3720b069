// Which element of a composite attribute was which.

extension SchemaPairs {
    /// The path that an element of a composite attribute had, each step of which may have been renamed; nil for a new one.
    ///
    /// - Parameter origin: what the attribute was.
    func sourcePath(of element: Slot, in attribute: String, from origin: DeclaredProperty) -> String? {
        var former = source.entity(named: origin.entity)?.draft.attributes.first { $0.name == origin.name }
        var later = destination[element.owner].draft.attributes.first { $0.name == attribute }
        var path = origin.name
        for name in element.name.split(separator: ".").dropFirst() {
            let (from, to) = (elements(of: former, source), elements(of: later, destination))
            guard let place = to.firstIndex(where: { $0.name == name }),
                let match = Self.pair(from.map(Self.named), to.map(Self.named))[place]
            else { return nil }
            (former, later) = (from[match], to[place])
            path += "." + from[match].name
        }
        return path
    }

    /// For the elements of a later entity's composite attributes the paths that they had; new ones are left out.
    package func sourceElements(of later: Entity) -> [String: String] {
        let origins = sourceProperties(of: later)
        var found: [String: String] = [:]
        for slot in later.slots {
            guard let attribute = slot.composite, let origin = origins[attribute] else { continue }
            found[slot.name] = sourcePath(of: slot, in: attribute, from: origin)
        }
        return found
    }

    private func elements(of attribute: Attribute?, _ schema: Schema) -> [Attribute] {
        schema.composites.first { $0.name == attribute?.compositeName }?.attributes ?? []
    }

    private static func named(_ element: Attribute) -> Named {
        Named(name: element.name, identifier: element.renamingIdentifier, kind: .attribute)
    }
}
