// How a store in a database is written.

import CoreDataValues
import Foundation

/// Turns what is to be written into statements of sessions that are lent. Whether the store may be written at all is asked before.
package struct SQLWriter: Sendable {
    let plan: StorePlan
    let source: any SQLSource
    /// Of the store.
    private let identifier: String
    /// nil when no attribute may be stored in files.
    private let files: ExternalColumns?
    /// nil unless commits are recorded.
    private let history: HistoryWriter?
    private let keys = KeyBlocks()
    private var schema: Schema { plan.map.schema }

    package init(
        _ plan: StorePlan, _ source: any SQLSource, store identifier: String, files: ExternalColumns?,
        history: HistoryWriter?
    ) {
        self.plan = plan
        self.source = source
        self.identifier = identifier
        self.files = files
        self.history = history
    }

    // MARK: Rows

    package func allocateKeys(_ count: Int, in root: EntityIndex) throws -> Range<Int64> {
        guard count > 0 else { return 0..<0 }
        return try keys.allocate(count, of: schema[schema[root].root], plan.writes) { reserve in
            var numbers = 0..<(0 as Int64)
            try source.writing { numbers = try reserve($0) }
            return numbers
        }
    }

    package func commit(_ batch: ChangeBatch) throws -> CommitOutcome {
        try commit(batch) { write in try source.writing { try write($0) } }
    }

    /// - Parameter writing: lends the session that writes, once large values lie in their files.
    private func commit(
        _ batch: ChangeBatch, _ writing: ((any SQLSession) throws -> Void) throws -> Void
    ) throws -> CommitOutcome {
        let files = try files?.stage(batch, store: identifier)
        do {
            var outcome = CommitOutcome.committed(touched: [])
            try writing { session in
                outcome = try Committer(plan: plan, files: files, history: history, session: session).commit(batch)
            }
            files?.end(isCommitted: outcome.isCommitted)
            return outcome
        } catch {
            files?.end(isCommitted: false)
            throw error
        }
    }

    // MARK: Sets

    /// Changes a set of rows by statements over all of them; by rows where only a look at each tells what to write.
    ///
    /// - Parameters:
    ///   - store: is read where it is done by rows.
    ///   - committed: is told what a look at the rows came to, once it is written.
    package func apply(
        _ change: SetChange, over store: any RowStore, _ committed: (ChangeBatch) -> Void
    ) throws -> SetOutcome {
        switch change.kind {
        case .update(let rows, let assignments):
            let update = try BoundUpdate(rows, assignments, in: schema)
            guard try SetUpdateCompiler(update, plan.map).isOneStatement else {
                return try rowByRow(change, over: store, committed)
            }
            return try write(change) { try $0.update(update) }
        case .delete(let rows):
            let query = try Query(rows.asRows, in: schema)
            guard
                SetDeleteCompiler(query.bound.entity, last: query.bound.last, plan.map, notesPairs: history != nil)
                    .isPossible
            else {
                return try rowByRow(change, over: store, committed)
            }
            return try write(change) { try $0.delete(query) }
        case .stream(let next):
            return try write(change) { try $0.insert(next, change.uniqueness) }
        }
    }

    /// Nobody else of this process writes between what is read and its commit; another process may, and then it is read again.
    private func rowByRow(
        _ change: SetChange, over store: any RowStore, _ committed: (ChangeBatch) -> Void
    ) throws -> SetOutcome {
        let work = try SetWork(change, in: schema)
        var answer = SetOutcome()
        try source.writing { session in
            answer = try work.run(over: store) { batch in
                let outcome = try commit(batch) { write in try write(session) }
                if outcome.isCommitted { committed(batch) }
                return outcome
            }
        }
        return answer
    }

    private func write(_ change: SetChange, _ body: (SetWriter) throws -> SetOutcome) throws -> SetOutcome {
        let files = SetFiles(files, store: identifier, plan.writes)
        do {
            var outcome = SetOutcome()
            try source.writing { session in
                let history = SetHistory(history, change.note, plan.map, session)
                let writer = SetWriter(
                    plan: plan, session: session, files: files, history: history, answer: change.answer)
                outcome = try writer.transaction { try body(writer) }
            }
            files?.end(isCommitted: true)
            return outcome
        } catch {
            files?.end(isCommitted: false)
            throw error
        }
    }

    // MARK: Beside the rows

    package func setMetadata(_ metadata: StoreMetadata) throws {
        try source.writing { session in
            try session.transaction {
                try MetadataRecord.write(metadata, schema: schema, to: session)
                return true
            }
        }
    }

    /// Removes what came before a transaction from a history that is there; answers how many transactions there were.
    package func deleteHistory(upTo number: Int64) throws -> Int { try deleteHistory { _ in number } }

    /// The same for what came before the first transaction that is not older than a time.
    package func deleteHistory(before time: Double) throws -> Int {
        try deleteHistory { session in
            let first = try session.numbers(HistoryReading(plan.map.dialect).firstNotBefore, each: 1, [.date(time)])
            return first.first.flatMap { $0 } ?? 0
        }
    }

    func deleteHistory(upTo number: (any SQLSession) throws -> Int64) throws -> Int {
        var removed = 0
        try source.writing { session in
            try session.transaction {
                removed = try HistoryReading(plan.map.dialect).shorten(before: number(session), session, plan.writes)
                return true
            }
        }
        return removed
    }

    /// Ends what killed processes left of files half done.
    package func sweepFiles() throws {
        try files?.sweep(store: identifier, plan.writes) { try source.writing($0) }
    }
}
