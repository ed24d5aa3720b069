// Results that are pulled.

import Foundation

/// A result that its reader pulls, batch by batch. Between two pulls it holds no thread; a store that reads from connections lends it
/// one until its end. One that is let go closes.
///
/// May move between threads. It is for one caller at a time: a second one waits its turn and gets the next batch.
package protocol ReadCursor<Batch>: AnyObject, Sendable {
    associatedtype Batch
    /// The next batch; nil at the end, where it closes by itself, and once it is closed.
    ///
    /// - Throws: what the read throws, and closes; 134070 when the store or its view was closed meanwhile.
    func next() throws -> Batch?
    /// Ends the read. Does nothing where it has ended.
    func close()
}

extension ReadCursor {
    /// Hands out what is left, until `receive` has enough; then closes.
    package func forEach(_ receive: (Batch) throws -> FetchStep) throws {
        defer { close() }
        while let batch = try next() {
            if try receive(batch) == .stop { return }
        }
    }
}

/// A cursor over what is in memory already.
package final class StepCursor<Batch>: ReadCursor, @unchecked Sendable {
    private let lock = NSLock()
    private var step: (() throws -> Batch?)?

    /// - Parameter step: answers the next batch, nil at the end.
    package init(_ step: @escaping () throws -> Batch?) { self.step = step }

    package convenience init(_ batches: [Batch]) {
        var rest = batches[...]
        self.init { rest.popFirst() }
    }

    package func next() throws -> Batch? {
        try lock.withLock {
            do {
                if let batch = try step?() { return batch }
                step = nil
                return nil
            } catch {
                step = nil
                throw error
            }
        }
    }

    package func close() { lock.withLock { step = nil } }
}
