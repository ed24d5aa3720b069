// A fetch's predicate, made ready for the rows of a store in memory.

/// Judges rows by a predicate; the place where the store meets the evaluator.
struct RowMatcher {
    private let constant: Bool

    init(_ predicate: Predicate?, tables: MemoryTables, schema: Schema) throws {
        guard let predicate else {
            constant = true
            return
        }
        guard case .constant(let value) = predicate else {
            throw StoreError(
                134060, "The store in memory has no evaluator for the predicate \(predicate); fetch without one.")
        }
        constant = value
    }

    func matches(_ source: MemorySource) -> Bool { constant }
}
