// Contradictions that a draft must not hold.

/// Checks one draft: names, parents, destinations, inverses, constraints, indexes.
struct SchemaCheck {
    private let draft: SchemaDraft
    init(_ draft: SchemaDraft) { self.draft = draft }

    func run() throws(SchemaError) {
    }
}
