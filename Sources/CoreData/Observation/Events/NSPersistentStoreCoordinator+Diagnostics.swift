// Looking at a coordinator from outside.

import CCoreDataRuntime
import CoreDataSQLite
import CoreDataValues
import Foundation

extension NSPersistentStoreCoordinator {
    /// Who uses and awaits connections, which contexts are alive with how many changes, and how large log and cache are.
    ///
    /// May be called from any thread, and waits for no read, save or block. Costs a look at each context. Ours, beside Core Data's API.
    public final func diagnostics() -> CoreDataDiagnostics {
        let contexts = livingContexts()
        let blocks = ActiveBlocks.shared.counts
        let (writing, reading) = (writers.report, readers.report)
        let now = DispatchTime.now().uptimeNanoseconds
        func wait(since start: UInt64?) -> Duration? {
            start.map { .nanoseconds(Int64(clamping: now > $0 ? now - $0 : 0)) }
        }
        return CoreDataDiagnostics(
            name: name, date: Date(), stores: persistentStores.map(CoreDataDiagnostics.Store.init),
            contexts: contexts.known,
            contextCount: contexts.count, writersInLine: writing.count, longestWriterWait: wait(since: writing.since),
            readersInLine: reading.count,
            longestReaderWait: wait(since: reading.since), activeBlocks: blocks.running,
            activeBlockLimit: blocks.limit,
            blocksInLine: blocks.waiting, longestBlockWait: wait(since: ActiveBlocks.shared.waitsSince),
            cacheSize: rowCache.counts.bytes, cacheLimit: rowCache.limit,
            counters: counters)
    }

    private func livingContexts() -> (known: [CoreDataDiagnostics.Context], count: Int) {
        let capacity = 1024
        var places = [UnsafeMutableRawPointer](
            repeating: UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()), count: capacity)
        var changes = [Int64](repeating: 0, count: capacity)
        let count = coredata_contexts(Unmanaged.passUnretained(self).toOpaque(), &places, &changes, capacity)
        let known = zip(places, changes).prefix(count).map { place, changes in
            CoreDataDiagnostics.Context(
                Unmanaged<NSManagedObjectContext>.fromOpaque(place).takeRetainedValue(), changes: Int(changes))
        }
        return (known, count)
    }
}

extension NSPersistentContainer {
    /// `diagnostics()` of the container's coordinator. Ours, beside Core Data's API.
    public final func diagnostics() -> CoreDataDiagnostics { persistentStoreCoordinator.diagnostics() }
}

extension CoreDataDiagnostics.Context {
    /// A context that nobody has is asked itself.
    fileprivate init(_ context: NSManagedObjectContext, changes: Int) {
        name = ContextNames.shared.name(of: context) ?? ObjectIdentifier(context).hexadecimal
        isMainQueue = context.concurrencyType == .mainQueueConcurrencyType
        (isBusy, self.changes) = context.looked(changes)
    }
}

extension NSManagedObjectContext {
    /// Whether somebody has the context, and how many objects have changes.
    fileprivate final func looked(_ noted: Int) -> (isBusy: Bool, changes: Int) {
        guard turn.enter() else { return (turn.isTaken || turn.awaiters.isTaken, noted) }
        defer { turn.leave() }
        turn.join()
        return (false, tracker.dirtyCount)
    }
}

extension CoreDataDiagnostics.Store {
    fileprivate init(_ store: NSPersistentStore) {
        let sqlite = store.rows as? SQLiteStore
        let report = sqlite?.poolReport
        type = store.type
        path = store.url?.path
        connections = report?.uses.map(CoreDataDiagnostics.Connection.init) ?? []
        waiting = report?.waits.map(CoreDataDiagnostics.Connection.init) ?? []
        readerLimit = report?.readerLimit ?? 0
        logSize = sqlite?.logSize ?? 0
    }
}

extension CoreDataDiagnostics.Connection {
    fileprivate init(_ use: PoolReport.Use) {
        purpose = CoreDataEvent.Wait.Purpose(use.purpose)
        duration = .seconds(use.seconds)
        sql = use.sql
    }
}
