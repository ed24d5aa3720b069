// Which variables a predicate still needs, and whether it names rows.

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
        case .conditional(let condition, let first, let second):
            condition.freeVariables.union(first.freeVariables).union(second.freeVariables)
        }
    }
}

extension Predicate {
    /// Whether a constant is the key of a row, which means something to one store alone.
    package var namesRows: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.namesRows || comparison.right.namesRows
        case .and(let parts), .or(let parts): parts.contains { $0.namesRows }
        case .not(let part): part.namesRows
        }
    }
}

extension Expression {
    package var namesRows: Bool {
        switch self {
        case .constant(.key): true
        case .constant, .this, .keyPath, .variable: false
        case .list(let items), .function(_, let items): items.contains { $0.namesRows }
        case .subquery(let collection, _, let predicate): collection.namesRows || predicate.namesRows
        case .conditional(let condition, let first, let second):
            condition.namesRows || first.namesRows || second.namesRows
        }
    }
}
