// Which variables a predicate still needs, whether it asks the object itself, and whether it names rows.

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
    /// Whether it asks the object that is judged.
    package var asksObject: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.asksObject || comparison.right.asksObject
        case .and(let parts), .or(let parts): parts.contains { $0.asksObject }
        case .not(let part): part.asksObject
        }
    }
}

extension Expression {
    /// Whether it asks the object that is judged. The path of a step behind something else asks that.
    package var asksObject: Bool {
        switch self {
        case .constant, .variable: false
        case .this, .keyPath: true
        case .function("valueForKeyPath:", let items) where items.count == 2: items[0].asksObject
        case .list(let items), .function(_, let items): items.contains { $0.asksObject }
        case .subquery(let collection, _, let predicate): collection.asksObject || predicate.asksObject
        case .conditional(let condition, let first, let second):
            condition.asksObject || first.asksObject || second.asksObject
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
