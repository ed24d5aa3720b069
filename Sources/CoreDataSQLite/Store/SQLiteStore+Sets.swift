// Set changes of a SQLite store.

import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore {
    /// Changes a set of rows by statements over all of them; by rows where only a look at each tells what to write.
    package func apply(_ change: SetChange) throws -> SetOutcome {
        try refuseIfReadOnly("Rows cannot be changed")
        switch change.kind {
        case .update(let rows, let assignments):
            let update = try BoundUpdate(rows, assignments, in: schema)
            guard try SetUpdateCompiler(update, plan.map).isOneStatement else {
                return try SetWork(change, in: schema).run(over: self, commit)
            }
            return try write(change) { try $0.update(update) }
        case .delete(let rows):
            let query = try Query(rows.asRows, in: schema)
            guard SetDeleteCompiler(query.bound.entity, last: query.bound.last, plan.map).isPossible else {
                return try SetWork(change, in: schema).run(over: self, commit)
            }
            return try write(change) { try $0.delete(query) }
        case .insert(let next):
            return try write(change) { try $0.insert(next, change.uniqueness) }
        }
    }

    private func write(_ change: SetChange, _ body: (SetWriter) throws -> SetOutcome) throws -> SetOutcome {
        let files = SetFiles(externals, store: identifier, plan.writes)
        do {
            let outcome = try pool.write { connection in
                let history = SetHistory(historyWriter, change.note, plan.map, connection)
                let writer = SetWriter(
                    plan: plan, session: connection, files: files, history: history, answer: change.answer)
                return try writer.transaction { try body(writer) }
            }
            files?.end(isCommitted: true)
            return outcome
        } catch {
            files?.end(isCommitted: false)
            throw error
        }
    }
}
