// Set changes as batches of rows, for stores that write nothing else.

/// What a set change comes to over the rows that a store has now.
struct SetPlan {
    var batch = ChangeBatch()
    var outcome = SetOutcome()
}

/// A set change that is worked out row by row: over any reading, as often as another writer comes between.
package final class SetWork {
    private enum Work {
        case update(BoundUpdate)
        case delete(FetchPlan)
        case insert(StreamedRows)
    }
    private let work: Work
    let change: SetChange
    private let schema: Schema
    /// The rows that are to be inserted; nil for another change.
    var stream: StreamedRows? { if case .insert(let rows) = work { rows } else { nil } }

    /// Binds the change, and reads a stream to its end.
    package init(_ change: SetChange, in schema: Schema) throws {
        self.change = change
        self.schema = schema
        switch change.kind {
        case .update(let plan, let assignments): work = .update(try BoundUpdate(plan, assignments, in: schema))
        case .delete(let plan):
            _ = try Query(plan.asRows, in: schema)
            work = .delete(plan.asRows)
        case .stream(let next): work = .insert(try StreamedRows(next, change.uniqueness, in: schema))
        }
    }

    func plan(over store: any RowStore) throws -> SetPlan {
        var plan: SetPlan
        switch work {
        case .update(let update): plan = try UpdatePlanner(update, store).plan()
        case .delete(let query): plan = try DeletePlanner(query, store).plan()
        case .insert(let rows): plan = try InsertPlanner(rows.chunks, rows.rules, change.uniqueness, store).plan()
        }
        plan.batch.note = change.note
        return plan
    }

    /// Works the change out over a store and has it committed there, again while other writers come between.
    ///
    /// - Parameters:
    ///   - most: how many attempts are made.
    ///   - commit: writes a batch as one transaction.
    package func run(
        over store: any RowStore, attempts most: Int = SetWork.mostAttempts,
        _ commit: (ChangeBatch) throws -> CommitOutcome
    ) throws -> SetOutcome {
        var attempts = 0
        while true {
            let plan = try plan(over: store)
            if plan.batch.isEmpty { return answer(plan.outcome, touched: []) }
            switch try commit(plan.batch) {
            case .committed(let touched, let overtaken): return answer(plan.outcome, touched: touched + overtaken)
            case .conflicts(let conflicts):
                attempts += 1
                if let error = refusal(conflicts, isLast: attempts == most) { throw error }
            }
        }
    }

    package static var mostAttempts: Int { 32 }

    /// nil if another attempt may come through.
    func refusal(_ conflicts: [Conflict], isLast: Bool) -> StoreError? {
        for conflict in conflicts {
            guard case .constraint(let names) = conflict.kind else { continue }
            if isLast || change.uniqueness == .fail || !isInsert {
                return .notUnique(schema[conflict.key.entity], names)
            }
        }
        guard isLast, let first = conflicts.first else { return nil }
        let name = schema[first.key.entity].name
        return StoreError(
            133020,
            "A change of many rows of \(name) met other writers \(SetWork.mostAttempts) times and was given up; nothing was written. "
                + "Try again.", entity: name)
    }

    private var isInsert: Bool { if case .insert = work { true } else { false } }

    private func answer(_ outcome: SetOutcome, touched: [RowKey]) -> SetOutcome {
        var outcome = outcome
        let gone = Set(outcome.touched.deleted)
        let known = gone.union(outcome.touched.changed)
        outcome.touched.changed += touched.filter { !known.contains($0) }
        return outcome.cut(to: change.answer)
    }
}

extension SetOutcome {
    /// Without what was not asked for.
    package func cut(to answer: SetChange.Answer) -> SetOutcome {
        var outcome = self
        if answer != .effects { outcome.effects = [] }
        guard answer == .count else { return outcome }
        outcome.keys = []
        outcome.touched.entities.formUnion((touched.changed + touched.deleted).map(\.entity))
        (outcome.touched.changed, outcome.touched.deleted) = ([], [])
        return outcome
    }
}

extension FetchPlan {
    /// The same plan for whole rows.
    package var asRows: FetchPlan {
        var plan = self
        plan.projection = .rows
        return plan
    }
}

extension StoreError {
    /// Two rows of a set change, or one and a stored row, have the same unique values.
    package static func notUnique(_ entity: Entity, _ names: [String]) -> StoreError {
        StoreError(
            133021,
            "Two rows of \(entity.name) would have the same \(names.joined(separator: ", ")), which must be unique; nothing was "
                + "written.", entity: entity.name, property: names.first)
    }
}

extension RowStore {
    /// Changes a set of rows as one transaction, row by row: what a store does that knows nothing better.
    package func apply(_ change: SetChange) throws -> SetOutcome {
        try SetWork(change, in: schema).run(over: self, commit)
    }

    /// All rows of a plan.
    func rows(of plan: FetchPlan) throws -> [MemoryRow] {
        var rows: [MemoryRow] = []
        try fetch(plan, .latest) { batch in
            rows += batch.memoryRows
            return .more
        }
        return rows
    }
}
