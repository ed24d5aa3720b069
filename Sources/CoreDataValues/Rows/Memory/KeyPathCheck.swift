// Whether a fetch asks only for what a store keeps.

/// Refuses paths in a plan that the entity does not have, or whose values no store holds.
struct KeyPathCheck {
    let schema: Schema

    func run(_ plan: FetchPlan) throws(StoreError) {
        let entity = schema[plan.entity]
        if let predicate = plan.predicate { try check(predicate, entity) }
        for term in plan.sort { try checkSort(term.keyPath, entity) }
    }

    private func check(_ predicate: Predicate, _ entity: Entity) throws(StoreError) {
        switch predicate {
        case .constant: break
        case .comparison(let comparison):
            try check(comparison.left, entity)
            try check(comparison.right, entity)
        case .and(let parts), .or(let parts): for part in parts { try check(part, entity) }
        case .not(let part): try check(part, entity)
        }
    }

    /// Inside a subquery the paths hang on its variable; the evaluator answers for them.
    private func check(_ expression: Expression, _ entity: Entity) throws(StoreError) {
        switch expression {
        case .constant, .this, .variable: break
        case .list(let parts), .function(_, let parts): for part in parts { try check(part, entity) }
        case .keyPath(let path): _ = try walk(path, from: entity)
        case .subquery(let collection, _, _): try check(collection, entity)
        }
    }

    private func checkSort(_ path: [String], _ entity: Entity) throws(StoreError) {
        for key in try walk(path, from: entity) {
            guard key.isToMany else { continue }
            throw StoreError(
                134060, "“\(path.joined(separator: "."))” leads through the to-many “\(key.name)”, which has no one "
                    + "value to sort by; sort by attributes and to-ones.", entity: entity.name, property: key.name)
        }
    }

    /// Follows a path and answers the relationships on it.
    private func walk(_ path: [String], from start: Entity) throws(StoreError) -> [ResolvedRelationship] {
        var entity = start
        var passed: [ResolvedRelationship] = []
        for key in path where !key.hasPrefix("@") && key.lowercased() != "self" && key != "objectID" {
            let text = path.joined(separator: ".")
            switch entity.places[key] {
            case .slot(let slot)?:
                guard !entity.slots[slot].isTransient else {
                    throw StoreError(
                        134060, "“\(text)” asks for “\(key)” of \(entity.name), which is transient and not in the store.",
                        entity: entity.name, property: key)
                }
                guard let index = entity.slots[slot].relationship else { return passed }
                passed.append(schema[index])
            case .toMany(let position)?: passed.append(schema[entity.toMany[position]])
            case .fetched?, nil:
                throw StoreError(
                    134060, "keypath \(text) not found in entity \(entity.name): it has no stored property “\(key)”.",
                    entity: entity.name, property: key)
            }
            if let last = passed.last { entity = schema[last.destination] }
        }
        return passed
    }
}
