// The results of a fetch one by one, for results that need not fit into memory.

import CoreDataValues
import Foundation

/// The results of a fetch, read from the stores in batches while a loop runs.
///
/// Made by a context's `objects(of:)` and `values(of:_:)`. Every loop over it fetches anew.
public struct FetchedSequence<Element>: AsyncSequence {
    private let context: NSManagedObjectContext
    private let open: () throws -> FetchCursor
    private let make: (NSManagedObject) throws -> Element

    init(
        _ context: NSManagedObjectContext, _ open: @escaping () throws -> FetchCursor,
        _ make: @escaping (NSManagedObject) throws -> Element
    ) {
        self.context = context
        self.open = open
        self.make = make
    }

    public func makeAsyncIterator() -> Iterator { Iterator(Reading(context, open, make)) }

    /// Reads the results for one loop; the stores are released when it ends.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading

        fileprivate init(_ reading: Reading) { self.reading = reading }

        public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

        /// Returns the next result; runs on the context's queue whenever a batch is used up.
        ///
        /// - Throws: what the fetch throws; `CancellationError` in a task that was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let element = reading.removeFirst() { return element }
            try Task.checkCancellation()
            let reading = reading
            try await reading.context.perform { try reading.fill() }
            return reading.removeFirst()
        }
    }

    /// Results of one loop that it has not returned yet. Used on the context's queue while the loop waits, else by it.
    fileprivate final class Reading: @unchecked Sendable {
        let context: NSManagedObjectContext
        private let open: () throws -> FetchCursor
        private let make: (NSManagedObject) throws -> Element
        private var cursor: FetchCursor?
        private var isDone = false
        private var batch: [Element] = []
        private var place = 0

        init(
            _ context: NSManagedObjectContext, _ open: @escaping () throws -> FetchCursor,
            _ make: @escaping (NSManagedObject) throws -> Element
        ) {
            self.context = context
            self.open = open
            self.make = make
        }

        func removeFirst() -> Element? {
            guard place < batch.count else { return nil }
            defer {
                place += 1
                if place == batch.count { (batch, place) = ([], 0) }
            }
            return batch[place]
        }

        func fill() throws {
            guard !isDone else { return }
            // After an error the loop has ended.
            isDone = true
            let cursor = try cursor ?? open()
            self.cursor = cursor
            guard let objects = try cursor.next() else { return self.cursor = nil }
            batch = try objects.map(make)
            isDone = false
        }
    }
}

extension NSManagedObjectContext {
    /// Returns the objects that `fetch` would find, for a loop that need not retain them beyond a batch.
    ///
    /// Runs one statement, whose rows are read as the loop goes on and stay out of the row cache; a paused loop keeps
    /// the store's state and no thread. Unsaved changes count as they are when the loop begins; objects deleted later
    /// are left out. For loops on the context's own queue or actor, as the main actor; else see `values(of:_:)`.
    public final func objects<T: NSManagedObject>(of request: NSFetchRequest<T>) -> FetchedSequence<T> {
        FetchedSequence(self, { try self.cursor(request) }, { try self.typed($0) })
    }

    /// Returns what a closure makes of each object that `fetch` would find, on the context's queue. Loops run anywhere.
    public final func values<T: NSManagedObject, Value: Sendable>(
        of request: NSFetchRequest<T>, _ make: @escaping (T) throws -> Value
    ) -> FetchedSequence<Value> {
        FetchedSequence(self, { try self.cursor(request) }, { try make(self.typed($0)) })
    }

    private func cursor<T>(_ request: NSFetchRequest<T>) throws -> FetchCursor {
        try faulting.throwReadError()
        guard request.resultType == .managedObjectResultType else {
            throw CocoaError.unsupported("a sequence of NSFetchRequest.resultType \(request.resultType.rawValue)")
        }
        return try FetchCursor(self, bound(request))
    }

    private func typed<T>(_ object: NSManagedObject) throws -> T {
        guard let typed = object as? T else {
            throw CocoaError.coreData(
                134060, "A fetch found \(Swift.type(of: object)) where the request says \(T.self).")
        }
        return typed
    }
}
