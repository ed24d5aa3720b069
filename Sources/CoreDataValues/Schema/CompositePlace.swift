// Composite attributes: named groups of slots. Their leaves are slots like any others, so that rows know nothing of them.

/// One composite attribute of an entity, or one inside another.
package final class CompositePlace: Sendable {
    package enum Content: Sendable {
        case slot(Int)
        case composite(CompositePlace)
    }
    package struct Element: Sendable {
        package let name: String
        package let content: Content
    }
    /// `location`, or `location.area` for one inside another.
    package let path: String
    /// In the order of their names.
    package let elements: [Element]
    package let isOptional: Bool
    package let isTransient: Bool
    /// Elements that a value must have, as slots; only those of this composite itself.
    package let required: [Int]
    /// The slots of all leaves, nested ones included.
    package let slots: [Int]

    init(path: String, elements: [Element], isOptional: Bool, isTransient: Bool, required: [Int]) {
        self.path = path
        self.elements = elements
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.required = required
        slots = elements.flatMap { element in
            switch element.content {
            case .slot(let slot): [slot]
            case .composite(let inner): inner.slots
            }
        }
    }

    package func element(named name: String) -> Content? { elements.first { $0.name == name }?.content }
}

extension Entity {
    /// The key that the head of a key path comes to, and what follows it: `location.latitude` is one key.
    ///
    /// nil when the path does not begin with a composite attribute. The key may still name nothing, or a composite as a whole.
    package func compositeKey(of path: some Collection<String>) -> (key: String, length: Int)? {
        guard !composites.isEmpty, var key = path.first, composites[key] != nil else { return nil }
        var length = 1
        for name in path.dropFirst() {
            guard composites[key] != nil, !name.hasPrefix("@") else { break }
            key += "." + name
            length += 1
        }
        return (key, length)
    }
}

/// A composite of one row or object, as predicates and sort orders see it.
package struct CompositeSource: EvaluationSource {
    private let place: CompositePlace
    private let read: (Int) -> Operand

    /// - Parameter read: answers what a slot holds.
    package init(_ place: CompositePlace, _ read: @escaping (Int) -> Operand) {
        self.place = place
        self.read = read
    }

    package var identity: Value { .null }

    package func operand(forKey key: String) -> Operand {
        switch place.element(named: key) {
        case .slot(let slot)?: read(slot)
        case .composite(let inner)?: .source(CompositeSource(inner, read))
        case nil: .value(.null)
        }
    }
}
