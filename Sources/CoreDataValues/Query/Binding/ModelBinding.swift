// What a model's own texts and a program's key paths come to, outside of queries.

extension Schema {
    /// A condition on the objects of an entity, its values as constants.
    package func condition(_ predicate: Predicate, on entity: Entity) throws(StoreError) -> BoundCondition {
        try ConditionBinder(Binding(entity, in: self)).bind(predicate)
    }

    func expression(_ expression: Expression, on entity: Entity) throws(StoreError) -> BoundExpression {
        try ExpressionBinder(Binding(entity, in: self)).bind(expression)
    }

    /// The relationships that a key path leads over, one after the other; nil if it ends in anything else.
    package func relationships(along path: [String], from entity: Entity) throws(StoreError) -> [ResolvedRelationship]?
    {
        switch try KeyPathBinder.bind(path, from: 0, Binding(entity, in: self)) {
        case .single(.path(let end)): return end.relationships
        case .many(let chain, .path(let end)):
            guard let last = end.relationships else { return nil }
            return chain.flatMap { $0.owner.hops + [$0.relationship] } + last
        case .single, .many, .list: return nil
        }
    }

    /// The first key of a path that the model does not have; nil when all are there, whatever they are good for.
    func missingKey(along path: [String], from entity: Entity) -> Binding.MissingKey? {
        let binding = Binding(entity, in: self)
        _ = try? KeyPathBinder.bind(path, from: 0, binding)
        return binding.missing
    }
}

extension BoundPath {
    /// Those that it goes over, its end included; nil for an attribute.
    fileprivate var relationships: [ResolvedRelationship]? {
        switch end {
        case .attribute: nil
        case .target(let relationship): hops + [relationship]
        case .object, .entity: hops
        }
    }
}
