// Predicates that name objects, asked of several stores.

extension Predicate {
    /// The same for the rows of one store: an object of another one is none of them, though a row here may have its number.
    package func asked(of store: UInt16) -> Predicate { renamed(for: store, 0) ?? self }

    /// What is nested deeper no store answers.
    fileprivate static var deepest: Int { 128 }

    /// nil where no object of another store is named.
    fileprivate func renamed(for store: UInt16, _ depth: Int) -> Predicate? {
        guard depth < Predicate.deepest else { return nil }
        switch self {
        case .constant: return nil
        case .comparison(var comparison):
            let left = comparison.left.renamed(for: store, depth + 1)
            let right = comparison.right.renamed(for: store, depth + 1)
            guard left != nil || right != nil else { return nil }
            (comparison.left, comparison.right) = (left ?? comparison.left, right ?? comparison.right)
            return .comparison(comparison)
        case .and: return changed(conjuncts) { $0.renamed(for: store, depth + 1) }.map { .and($0) }
        case .or: return changed(disjuncts) { $0.renamed(for: store, depth + 1) }.map { .or($0) }
        case .not(let part): return part.renamed(for: store, depth + 1).map { .not($0) }
        }
    }
}

extension Expression {
    package func asked(of store: UInt16) -> Expression { renamed(for: store, 0) ?? self }

    fileprivate func renamed(for store: UInt16, _ depth: Int) -> Expression? {
        guard depth < Predicate.deepest else { return nil }
        switch self {
        case .constant(.key(let key)):
            // No row has the number 0.
            return key.store == 0 || key.store == store
                ? nil : .constant(.key(ObjectKey(number: 0, entity: key.entity, store: 0)))
        case .constant, .this, .keyPath, .variable: return nil
        case .list(let items): return changed(items) { $0.renamed(for: store, depth + 1) }.map { .list($0) }
        case .function(let name, let arguments):
            return changed(arguments) { $0.renamed(for: store, depth + 1) }.map { .function(name, $0) }
        case .subquery(let collection, let variable, let predicate):
            let (members, condition) = (
                collection.renamed(for: store, depth + 1), predicate.renamed(for: store, depth + 1)
            )
            guard members != nil || condition != nil else { return nil }
            return .subquery(collection: members ?? collection, variable: variable, predicate: condition ?? predicate)
        case .conditional(let predicate, let first, let second):
            let condition = predicate.renamed(for: store, depth + 1)
            let sides = changed([first, second]) { $0.renamed(for: store, depth + 1) }
            guard condition != nil || sides != nil else { return nil }
            return .conditional(condition ?? predicate, sides?[0] ?? first, sides?[1] ?? second)
        }
    }
}

/// nil where nothing changes.
private func changed<Part>(_ parts: [Part], _ change: (Part) -> Part?) -> [Part]? {
    var changed: [Part]?
    for (place, part) in parts.enumerated() {
        guard let new = change(part) else { continue }
        if changed == nil { changed = parts }
        changed?[place] = new
    }
    return changed
}
