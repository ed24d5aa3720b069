// A fetch's predicate, made ready for the rows of a store in memory.

/// Judges rows by a predicate; the place where the store meets the evaluator.
struct RowMatcher {
    private let evaluator: Evaluator?

    /// - Throws: 134060 for a predicate that cannot be evaluated.
    init(_ predicate: Predicate?, tables: MemoryTables, schema: Schema) throws {
        guard let predicate else {
            evaluator = nil
            return
        }
        // A store does not know its own number, and a key's entity is a hint that only the row can correct.
        let own = predicate.mapConstants { value in
            guard case .key(let key) = value else { return value }
            let root = schema[key.entity].root
            let entity = tables.row(key.number, in: root)?.key.entity ?? key.entity
            return .key(ObjectKey(number: key.number, entity: entity, store: 0))
        }
        do {
            evaluator = try Evaluator(own)
        } catch {
            throw StoreError(134060, "The predicate cannot be evaluated: \(error.sentence)")
        }
        if let name = evaluator?.freeVariables.min() {
            throw StoreError(134060, "The predicate has the variable $\(name) (give it a value first).")
        }
    }

    func matches(_ source: MemorySource) -> Bool { evaluator?.matches(source) ?? true }
}
