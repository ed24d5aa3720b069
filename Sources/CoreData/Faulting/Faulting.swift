// The part of a context that makes objects of rows and reads the rows of faults.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Makes objects of rows, and reads the rows of faults: one by one, together with their siblings, and beforehand.
final class Faulting {
    /// The context that this is a part of, and which lives as long.
    var context: NSManagedObjectContext { owner.unsafelyUnwrapped.takeUnretainedValue() }
    @exclusivity(unchecked) private var owner: Unmanaged<NSManagedObjectContext>?

    /// The first error of a read inside a getter, until a call can throw it.
    var readError: (any Error)?
    /// Increases whenever rows that objects hold may have become old: at saves, merges and refreshes.
    var rowTime = 0
    /// Whether rows are being read that the program does not see: for a delete rule, a write or a save.
    @exclusivity(unchecked) var readsUnseen = false
    /// Rows that were read with a fault and have no object yet.
    var siblingRows: [SiblingRows] = []
    /// Faults that came one by one, in a group for each tree of entities and store.
    var openSiblings: [OpenSiblings] = []
    /// Whether firing a fault reads its siblings.
    var readsTogether = true
    /// Reports unexpected faults; nil until the program asks for it.
    var watch: FaultWatch?
    var isTellingOfFault = false
    /// Whether every fault is reported, so that it matters how objects are reached. Read for each to-many.
    @exclusivity(unchecked) var isTracing = false

    func begin(in context: NSManagedObjectContext) { owner = .passUnretained(context) }

    /// Hands out the context without retaining it, for what is done for each look-up (5 % of one, measured).
    @inline(__always)
    func withContext<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        try owner.unsafelyUnwrapped._withUnsafeGuaranteedRef { try body($0) }
    }

    /// Records the error of a read that cannot throw it, unless one waits already.
    func recordReadError(_ error: @autoclosure () -> any Error) { if readError == nil { readError = error() } }

    /// Throws the error of an earlier read in a getter, once.
    @inline(__always)
    func throwReadError() throws { if readError != nil { try throwKept() } }

    @inline(never)
    private func throwKept() throws {
        guard let error = readError else { return }
        readError = nil
        throw CocoaError.cancelledOr(error)
    }

    /// Forgets what belongs to objects that are let go.
    func reset() {
        readError = nil
        siblingRows = []
        openSiblings = []
        watch?.forgetPaths()
    }
}

extension NSManagedObject {
    /// Reads the row of a fault. If that fails it stays a fault, and the context keeps the error (`pendingReadError`).
    ///
    /// - Parameter slot: what is read of it, whose name an error carries.
    final func fire(reading slot: Int? = nil) {
        if _state.pointee.slow == SlowReason.dormant {
            if _state.has(.readIncidentally) { noteUnseen() }
            _state.pointee.slow = 0
            return
        }
        guard _state.isFault, let context = managedObjectContext else {
            if let slot, _state.pointee.slow & SlowReason.standsIn != 0 { standIn(at: slot) }
            return
        }
        context.faulting.fire(self, reading: slot)
    }
}

extension Faulting {
    /// Fulfils a fault from the row that it has, the row cache or the store.
    func fire(_ object: NSManagedObject, reading slot: Int? = nil) {
        let state = object._state
        if state.pointee.row == nil {
            // A row in the cache is no read of the store.
            if state.pointee.number > 0, cachedObject(for: state.key) === object { return }
            noteFault(of: object)
            context.persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        }
        guard state.pointee.row != nil || readTogether(object) else {
            do {
                // The read fulfils the object and calls `awakeFromFetch`.
                if try readStored(state.key) == nil { handleMissingRow(of: object, reading: slot) }
            } catch {
                recordReadError(CocoaError.unread(object, reading: slot, cause: error))
            }
            return
        }
        if state.has(.readIncidentally), readsUnseen { state.set(.unseen) }
        state.pointee.slow &= ~SlowReason.anyFault
        if !state.info.classBinding.sleepsThroughFetch { wake(object) }
    }

    /// Returns the object of one row from the row cache or the store, nil if there is no row.
    func read(_ key: ObjectKey) throws -> NSManagedObject? {
        if key.number > 0, let object = cachedObject(for: key) { return object }
        return try readStored(key)
    }

    /// Returns the object of a cached row, nil if the store must be asked: the row is not cached or too old, or a merge
    /// is running, which needs the store's current rows.
    func cachedObject(for key: ObjectKey) -> NSManagedObject? {
        withContext { context in
            guard context.stalenessInterval != 0, context.saveMemory == nil, let cache = context.rowCache,
                let found = cache.row(for: key, within: context.stalenessInterval)
            else { return nil }
            if coredata_is_observed() { context.tellCacheHit(key) }
            return materialize(found.chunk, found.chunk.row(found.row), store: key.store)
        }
    }

    /// Returns the object of one row from the store, past the row cache.
    private func readStored(_ key: ObjectKey) throws -> NSManagedObject? {
        try withContext { context in
            guard key.number > 0, key.store != 0 else { return try context.link.readUnsaved(key, context) }
            guard let store = try context.requiredReader(of: key.store) else { return nil }
            let cache = context.rowCache
            let ticket = cache?.ticket ?? 0
            var found: NSManagedObject?
            let begun = context.observedTime
            defer { if begun != 0 { context.tellFault(of: key, rows: found == nil ? 0 : 1, since: begun) } }
            do {
                let root = context.runtime.infos[key.entity.value].entity.root
                try store.rows(for: [key.number], in: root, .latest) { batch in
                    cache?.add(batch, store: key.store, since: ticket)
                    found = materialize(batch.first, batch.first.row(0), store: key.store)
                    return .stop
                }
            } catch { throw CocoaError.reading(error) }
            return found
        }
    }
}

extension NSManagedObjectContext {
    /// The reader of a store, kept until a store is added or removed.
    final func reader(of store: UInt16) -> (any StoreReader)? {
        let version = requiredCoordinator.storesVersion.load(ordering: .acquiring)
        if let lastStore, lastStore.number == store, lastStore.version == version { return lastStore.rows }
        guard let rows = link.reader(of: store, self) else { return nil }
        lastStore = (store, version, rows)
        return rows
    }

    /// The reader of the store that an object was saved in; nil for one that was never saved.
    ///
    /// - Throws: 134070 when the store was removed: its rows are not gone, but they cannot be reached.
    final func requiredReader(of store: UInt16) throws -> (any StoreReader)? {
        if let reader = reader(of: store) { return reader }
        guard store != 0 else { return nil }
        throw CocoaError.removedStore(requiredCoordinator.identities.uuid(of: store))
    }
}
