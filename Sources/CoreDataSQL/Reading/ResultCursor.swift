// A result whose rows are read as they are pulled.

import CoreDataValues
import Synchronization

/// A result half-way through its rows, on a session that is kept for it.
final class ResultCursor<Steps: ResultSteps>: ReadCursor, @unchecked Sendable {
    private let held: any HeldResult
    private let isDone = Atomic<Bool>(false)
    // During a use of what is held.
    private var steps: Steps

    init(_ held: any HeldResult, _ steps: Steps) {
        self.held = held
        self.steps = steps
    }

    func next() throws -> Steps.Batch? {
        guard !isDone.load(ordering: .acquiring) else { return nil }
        do {
            var batch: Steps.Batch?
            try held.use { batch = try steps.next($0) }
            if batch == nil { close() }
            return batch
        } catch {
            // What ended with its view or its store goes on saying so.
            if held.isOpen { close() }
            throw error
        }
    }

    func close() {
        isDone.store(true, ordering: .releasing)
        held.close()
    }
}
