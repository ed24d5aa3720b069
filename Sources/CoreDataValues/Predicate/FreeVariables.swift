// Which variables a predicate still needs.

extension Predicate {
    /// The `$names` that nothing inside binds.
    package var freeVariables: Set<String> {
        switch self {
        case .constant: []
        case .comparison(let comparison): comparison.left.freeVariables.union(comparison.right.freeVariables)
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.freeVariables) }
        case .not(let part): part.freeVariables
        }
    }
}

extension Expression {
    package var freeVariables: Set<String> {
        switch self {
        case .constant, .this, .keyPath: []
        case .variable(let name): [name]
        case .list(let items), .function(_, let items): items.reduce(into: []) { $0.formUnion($1.freeVariables) }
        case .subquery(let collection, let variable, let predicate):
            collection.freeVariables.union(predicate.freeVariables.subtracting([variable]))
        }
    }
}
