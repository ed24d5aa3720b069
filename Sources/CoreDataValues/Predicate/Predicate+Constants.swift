// Looking into predicates: their constants and key paths.

extension Predicate {
    /// The predicate with every constant replaced.
    package func mapConstants(_ change: (Value) -> Value) -> Predicate {
        switch self {
        case .constant: self
        case .comparison(var comparison):
            {
                comparison.left = comparison.left.mapConstants(change)
                comparison.right = comparison.right.mapConstants(change)
                return .comparison(comparison)
            }()
        case .and(let parts): .and(parts.map { $0.mapConstants(change) })
        case .or(let parts): .or(parts.map { $0.mapConstants(change) })
        case .not(let part): .not(part.mapConstants(change))
        }
    }

    /// Whether the answer for an object may depend on other objects: a key path goes on behind a relationship, or a collection
    /// is looked into.
    package var followsRelationships: Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison):
            comparison.modifier != .direct || comparison.left.followsRelationships
                || comparison.right.followsRelationships
        case .and(let parts), .or(let parts): parts.contains { $0.followsRelationships }
        case .not(let part): part.followsRelationships
        }
    }
}

extension Expression {
    package func mapConstants(_ change: (Value) -> Value) -> Expression {
        switch self {
        case .constant(let value): .constant(change(value))
        case .list(let items): .list(items.map { $0.mapConstants(change) })
        case .this, .keyPath, .variable: self
        case .function(let name, let arguments): .function(name, arguments.map { $0.mapConstants(change) })
        case .subquery(let collection, let variable, let predicate):
            .subquery(
                collection: collection.mapConstants(change), variable: variable,
                predicate: predicate.mapConstants(change))
        }
    }

    package var followsRelationships: Bool {
        switch self {
        case .constant, .this, .variable: false
        case .list(let items): items.contains { $0.followsRelationships }
        case .keyPath(let path): path.count > 1
        case .function(_, let arguments): arguments.contains { $0.followsRelationships }
        case .subquery: true
        }
    }
}
