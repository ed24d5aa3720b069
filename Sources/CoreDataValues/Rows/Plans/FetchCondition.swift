// Which rows of an entity a fetch finds.

/// The condition of a fetch.
package enum FetchCondition: Sendable {
    /// All rows.
    case everything
    case tree(Predicate)
    /// A comparison of a text that was read before, and the value that it names now. A tree of it is only made for whoever asks for one.
    case filled(PlainComparison, Value)

    package init(_ predicate: Predicate?) { self = predicate.map { .tree($0) } ?? .everything }

    package var isEverything: Bool { if case .everything = self { true } else { false } }

    /// nil for all rows.
    package var tree: Predicate? {
        switch self {
        case .everything: nil
        case .tree(let predicate): predicate
        case .filled(let comparison, let value): .comparison(comparison.filled(value))
        }
    }
}

/// A comparison of a key path with an argument, as a format text has it.
///
/// It is made once a text: fetches by the same text are told by it, so that neither their trees are made nor their keys are compared.
package final class PlainComparison: Sendable {
    /// On the right stands the variable that the argument travels as.
    package let comparison: Comparison
    /// Which of the text's arguments it is compared with.
    package let place: Int
    let keyPath: [String]

    /// nil unless a key path stands on the left, which is not the object itself.
    package init?(_ comparison: Comparison, place: Int) {
        guard comparison.isPlain, case .keyPath(let keyPath) = comparison.left, case .variable = comparison.right else {
            return nil
        }
        self.comparison = comparison
        self.place = place
        self.keyPath = keyPath
    }

    /// The comparison with a value in the argument's place.
    package func filled(_ value: Value) -> Comparison {
        Comparison(comparison.left, comparison.op, .constant(value))
    }
}
