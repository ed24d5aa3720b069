// Contradictions in attributes and composites.

import Foundation

extension SchemaCheck {
    mutating func checkAttribute(_ attribute: Attribute, of entity: String) {
        let owner = Place(
            entity: entity, property: attribute.name, location: attribute.location ?? location(of: entity))
        checkType(attribute, at: owner)
        checkDerivation(attribute, at: owner)
        checkDefault(attribute, at: owner)
        checkBounds(attribute, at: owner)
        checkLengths(attribute, at: owner)
        checkPattern(attribute, at: owner)
    }

    /// Which attribute a finding is about.
    struct Place {
        var entity: String
        var property: String
        var location: SourceLocation?
        var title: String { "“\(entity).\(property)”" }
    }

    private func location(of entity: String) -> SourceLocation? { names.entity(named: entity)?.location }

    private mutating func report(_ message: String, at place: Place) {
        report(message, place.entity, place.property, place.location)
    }

    private mutating func checkType(_ attribute: Attribute, at place: Place) {
        switch attribute.type {
        case .undefined, .objectID:
            // Models with such attributes are in use, so that they load; what they hold has no form in a
            // store.
            guard !attribute.isTransient else { return }
            warn(
                "\(place.title) is of type \(attribute.type.modelName) and not transient: its values cannot be stored. "
                    + "Give it a type or make it transient", place.entity, place.property, place.location)
        case .composite:
            guard let name = attribute.compositeName, !name.isEmpty else {
                return report("\(place.title) is a composite and does not name which. Name one", at: place)
            }
            guard !draft.composites.contains(where: { $0.name == name }) else { return }
            report(
                "\(place.title) is of the composite “\(name)”, which the model does not declare. "
                    + "Declare it or correct the name", at: place)
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary,
            .uuid,
            .uri, .transformable:
            guard let name = attribute.compositeName else { return }
            warn(
                "\(place.title) names the composite “\(name)” and is of type \(attribute.type.modelName): "
                    + "the name is ignored", place.entity, place.property, place.location)
        }
    }

    private mutating func checkDerivation(_ attribute: Attribute, at place: Place) {
        guard let expression = attribute.derivationExpression else { return }
        if expression.allSatisfy(\.isWhitespace) {
            report("\(place.title) is derived and has no expression. Give it one", at: place)
        }
    }

    private mutating func checkDefault(_ attribute: Attribute, at place: Place) {
        let value = attribute.defaultValue
        guard !value.isNull else { return }
        guard attribute.type.accepts(value) else {
            return report(
                "the default of \(place.title), \(value.shown), does not fit its type, \(attribute.type.modelName). "
                    + "Correct the default or the type", at: place)
        }
        if let minimum = attribute.minimum, value.precedes(minimum) == true {
            report(
                "the default of \(place.title), \(value.shown), is below its minimum, \(minimum.shown)",
                at: place)
        }
        if let maximum = attribute.maximum, maximum.precedes(value) == true {
            report(
                "the default of \(place.title), \(value.shown), is above its maximum, \(maximum.shown)",
                at: place)
        }
        guard case .text(let text) = value else { return }
        if let minimum = attribute.minimumLength, text.count < minimum {
            report("the default of \(place.title) is shorter than its minimum length, \(minimum)", at: place)
        }
        if let maximum = attribute.maximumLength, text.count > maximum {
            report("the default of \(place.title) is longer than its maximum length, \(maximum)", at: place)
        }
    }

    private mutating func checkBounds(_ attribute: Attribute, at place: Place) {
        for bound in [attribute.minimum, attribute.maximum].compactMap({ $0 })
        where !attribute.type.canBound(with: bound) {
            report(
                "the bound \(bound.shown) of \(place.title) does not fit its type, \(attribute.type.modelName). Correct it",
                at: place)
        }
        guard let minimum = attribute.minimum, let maximum = attribute.maximum else { return }
        if maximum.precedes(minimum) == true {
            report(
                "the minimum of \(place.title), \(minimum.shown), is above its maximum, \(maximum.shown): "
                    + "no value can pass", at: place)
        }
    }

    private mutating func checkLengths(_ attribute: Attribute, at place: Place) {
        for length in [attribute.minimumLength, attribute.maximumLength].compactMap({ $0 }) {
            if attribute.type != .string {
                report(
                    "\(place.title) bounds a length and is no String but \(attribute.type.modelName)",
                    at: place)
            } else if length < 0 {
                report("\(place.title) has the length bound \(length). Lengths begin at 0", at: place)
            }
        }
        guard let minimum = attribute.minimumLength, let maximum = attribute.maximumLength, minimum > maximum
        else { return }
        report(
            "the minimum length of \(place.title), \(minimum), is above its maximum, \(maximum): no text can pass",
            at: place)
    }

    private mutating func checkPattern(_ attribute: Attribute, at place: Place) {
        guard let pattern = attribute.pattern else { return }
        guard attribute.type == .string else {
            return report(
                "\(place.title) has a regular expression and is no String but \(attribute.type.modelName)",
                at: place)
        }
        do {
            _ = try NSRegularExpression(pattern: pattern)
        } catch {
            report(
                "the regular expression “\(Self.shown(pattern))” of \(place.title) does not compile. Correct it",
                at: place)
        }
    }
}

// MARK: - Composites

extension SchemaCheck {
    mutating func checkComposites() {
        var seen: Set<String> = []
        for composite in draft.composites {
            if composite.name.isEmpty {
                report("a composite has no name. Name it", location: composite.location)
            } else if !seen.insert(composite.name).inserted {
                report(
                    "the composite “\(composite.name)” is declared twice. Rename or remove one",
                    composite.name, nil,
                    composite.location)
            } else {
                checkParts(of: composite)
            }
        }
        guard errors.isEmpty else { return }
        checkCompositeNesting()
    }

    private mutating func checkParts(of composite: Composite) {
        var seen: Set<String> = []
        for attribute in composite.attributes {
            let location = attribute.location ?? composite.location
            if attribute.name.isEmpty {
                report(
                    "an attribute of “\(composite.name)” has no name. Name it", composite.name, nil, location)
            } else if let flaw = Self.flaw(in: attribute.name, isProperty: true) {
                report(
                    "the attribute name “\(Self.shown(attribute.name))” of “\(composite.name)” \(flaw). Rename it",
                    composite.name, attribute.name, location)
            } else if !seen.insert(attribute.name).inserted {
                report(
                    "“\(composite.name)” declares the attribute “\(attribute.name)” twice. Rename or remove one",
                    composite.name, attribute.name, location)
            }
            checkAttribute(attribute, of: composite.name)
        }
    }

    /// A composite must end. Level by level, names are followed until only composites within composites are
    /// left.
    private mutating func checkCompositeNesting() {
        var parts: [String: Set<String>] = [:]
        for composite in draft.composites {
            parts[composite.name] = Set(
                composite.attributes.compactMap { $0.type == .composite ? $0.compositeName : nil })
        }
        var ended: Set<String> = []
        for _ in 0..<SchemaLimits.depth {
            let next = parts.keys.filter { name in parts[name]?.isSubset(of: ended) == true }
            guard next.count > ended.count else { break }
            ended = Set(next)
        }
        for composite in draft.composites where !ended.contains(composite.name) {
            report(
                "the composite “\(composite.name)” holds itself, or more than \(SchemaLimits.depth) levels of others. "
                    + "Remove one of them", composite.name, nil, composite.location)
        }
    }
}
