// Whether a fetch asks only for what a store keeps.

/// Refuses paths in a plan that the entity does not have, or whose values no store holds. A store in memory
/// asks it of every fetch, a context of those that pending changes keep from the store.
package struct KeyPathCheck {
    private let schema: Schema
    /// The entities that the variables of subqueries stand for.
    private var variables: [String: Entity] = [:]

    package init(schema: Schema) { self.schema = schema }

    package func run(_ plan: FetchPlan) throws(StoreError) {
        let entity = schema[plan.entity]
        if let predicate = plan.predicate {
            if let name = predicate.freeVariables.sorted().first {
                throw refusal("the variable $\(name), which has no value; substitute it first", entity)
            }
            try check(predicate, entity)
        }
        for term in plan.sort { try checkSort(term.keyPath, entity) }
    }

    private func check(_ predicate: Predicate, _ entity: Entity) throws(StoreError) {
        switch predicate {
        case .constant: break
        case .comparison(let comparison):
            try check(comparison.left, entity)
            try check(comparison.right, entity)
            try checkMembers(comparison, entity)
            try checkBytes(comparison.left, against: comparison.right, entity)
            try checkBytes(comparison.right, against: comparison.left, entity)
        case .and(let parts), .or(let parts): for part in parts { try check(part, entity) }
        case .not(let part): try check(part, entity)
        }
    }

    /// A to-many is compared member by member, as SQL can; not as a whole.
    private func checkMembers(_ comparison: Comparison, _ entity: Entity) throws(StoreError) {
        guard comparison.modifier == .direct, comparison.op != .contains, comparison.op != .in,
            case .keyPath(let path) = comparison.left, let last = try walk(path, from: entity).last,
            last.isToMany, path.last == last.name
        else { return }
        throw refusal("the to-many \(last.name) as a whole; compare its members (ANY, ALL) or its @count", entity)
    }

    private func refusal(_ what: String, _ entity: Entity) -> StoreError {
        StoreError(134060, "The predicate on \(entity.name) uses \(what).", entity: entity.name)
    }

    /// Bytes that another kind of store keeps in files can only be compared with nil.
    private func checkBytes(_ side: Expression, against other: Expression, _ entity: Entity) throws(StoreError) {
        if other == .constant(.null) { return }
        guard case .keyPath(let path) = side, let name = path.last else { return }
        let owner = try walk(path, from: entity).last.map { schema[$0.destination] } ?? entity
        guard case .slot(let slot)? = owner.places[name], owner.slots[slot].kind == .externalData else { return }
        throw StoreError(
            134060, "The predicate on \(entity.name) uses \(ExternalReference.refusal(name)). Fetch without it.",
            entity: entity.name, property: name)
    }

    private func check(_ expression: Expression, _ entity: Entity) throws(StoreError) {
        switch expression {
        case .constant, .this, .variable: break
        case .keyPath(let path): _ = try walk(path, from: entity)
        case .function("valueForKeyPath:", let parts):
            guard parts.count == 2, case .keyPath(let path) = parts[1] else { break }
            try check(parts[0], entity)
            if let target = target(of: parts[0], entity) { _ = try walk(path, from: target) }
        case .list(let parts), .function(_, let parts): for part in parts { try check(part, entity) }
        case .subquery(let collection, let variable, let predicate):
            try check(collection, entity)
            var inner = self
            inner.variables[variable] = target(of: collection, entity)
            try inner.check(predicate, entity)
        }
    }

    /// The entity of the objects that an expression comes to; nil when it is not known beforehand.
    private func target(of expression: Expression, _ entity: Entity) -> Entity? {
        switch expression {
        case .this: return entity
        case .variable(let name): return variables[name]
        case .keyPath(let path):
            guard let last = try? walk(path, from: entity).last, path.last == last.name else { return nil }
            return schema[last.destination]
        case .subquery(let collection, _, _): return target(of: collection, entity)
        case .constant, .list, .function: return nil
        }
    }

    /// Only the number of a to-many's members can be sorted by.
    private func checkSort(_ path: [String], _ entity: Entity) throws(StoreError) {
        let passed = try walk(path, from: entity)
        for (position, key) in passed.enumerated() where key.isToMany {
            if position == passed.count - 1, path.last == "@count" { continue }
            throw StoreError(
                134060,
                "“\(path.joined(separator: "."))” leads through the to-many “\(key.name)”, which has no one "
                    + "value to sort by; sort by attributes, to-ones and @count.",
                entity: entity.name, property: key.name)
        }
    }

    /// Follows a path and answers the relationships on it.
    private func walk(_ path: [String], from start: Entity) throws(StoreError) -> [ResolvedRelationship] {
        var entity = start
        var passed: [ResolvedRelationship] = []
        var next = 0
        for (position, name) in path.enumerated() where !name.hasPrefix("@") && name.lowercased() != "self" {
            guard position >= next else { continue }
            let composite = entity.compositeKey(of: path[position...])
            let key = composite?.key ?? name
            next = position + (composite?.length ?? 1)
            switch entity.places[key] {
            case .slot(let slot)?:
                let property = entity.slots[slot]
                guard !property.isTransient else {
                    throw unknown(path, key, entity, "which is transient and not in the store")
                }
                guard let index = property.relationship else {
                    try checkInside(path, next, property, entity)
                    return passed
                }
                passed.append(schema[index])
            case .toMany(let place)?: passed.append(schema[entity.toMany[place]])
            case nil where key == "objectID": return passed
            case nil where entity.composites[key] != nil:
                throw unknown(path, key, entity, "which is a composite; name one of its elements")
            case .fetched?, nil:
                throw unknown(
                    path, key, entity, "which it does not have as a stored property; correct the key path")
            }
            if let last = passed.last { entity = schema[last.destination] }
        }
        return passed
    }

    /// What may follow an attribute: the few keys that every text answers.
    private func checkInside(
        _ path: [String], _ start: Int, _ slot: Slot, _ entity: Entity
    ) throws(StoreError) {
        for key in path.dropFirst(start) where !key.hasPrefix("@") && key.lowercased() != "self" {
            let isText = slot.kind == .text || slot.kind == .uri
            guard isText, KeyPathReader.isTextProperty(key) else {
                throw unknown(path, key, entity, "which its attribute “\(slot.name)” does not have")
            }
        }
    }

    private func unknown(_ path: [String], _ key: String, _ entity: Entity, _ why: String) -> StoreError {
        StoreError(
            134060,
            "keypath \(path.joined(separator: ".")) not found in entity \(entity.name): "
                + "it names “\(key)”, \(why).",
            entity: entity.name, property: key)
    }
}
