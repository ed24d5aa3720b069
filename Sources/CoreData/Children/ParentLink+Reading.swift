// What a child reads from its parent.

import CoreDataValues
import Foundation

extension ParentLink {
    func stores(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore] {
        context.requiredCoordinator.stores(for: fetch).map { store in
            NumberedStore(
                number: store.number,
                rows: ParentRows(child: context, self, number: store.number, below: store.rows), store: store.store,
                isOnlyOne: store.isOnlyOne)
        }
    }

    func storesBelow(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore] {
        withParent(of: context) { $0.link.storesBelow(for: fetch, $0) }
    }

    func reader(of store: UInt16, _ context: NSManagedObjectContext) -> (any StoreReader)? {
        ParentRows(child: context, self, number: store, below: context.requiredCoordinator.reader(of: store))
    }

    /// From the parent, or from the store if it was saved since.
    func readUnsaved(_ key: ObjectKey, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        var now = key
        var batches: [RowBatch] = []
        try withParent(of: context) { parent in
            now = context.currentKey(key)
            guard now.number <= 0 else { return }
            batches = try parent.batches(for: [now.number], in: context.runtime.schema[now.entity].root, from: 0)
        }
        if now.number > 0 { return now.store == 0 ? nil : try context.faulting.read(now) }
        var found: ContiguousArray<NSManagedObject> = []
        for batch in batches { context.faulting.materialize(batch, store: 0, asFaults: false, into: &found) }
        return found.first
    }

    func home(of object: NSManagedObject, among fetch: BoundFetch, _ context: NSManagedObjectContext) -> UInt16? {
        guard !object._state.has(.inserted) else { return nil }
        let key = object._state.key
        return withParent(of: context) { parent in parent.registered(key).map { parent.home(of: $0, among: fetch) } }
    }

    func unsavedAbove(of query: Query, _ fetch: BoundFetch, _ context: NSManagedObjectContext) -> Int {
        withParent(of: context) { $0.unsaved(of: query, fetch) }
    }

    /// A copy of the parent's value.
    func live(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> LiveValue? {
        withParent(of: context) { parent in
            parent.object(for: parent.currentKey(object._state.key)).heldLive(at: slot)?.copied
        }
    }

    /// The value of the parent's object; one that cannot be read there either is for the child to report.
    func externalData(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> Data? {
        withParent(of: context) { parent in
            let former = parent.faulting.readError
            defer { parent.faulting.readError = former }
            return parent.object(for: parent.currentKey(object._state.key)).data(at: slot)
        }
    }

    // MARK: Pinned states

    func queryGenerationToken(of context: NSManagedObjectContext) -> NSQueryGenerationToken? {
        withParent(of: context) { $0.queryGenerationToken }
    }

    func checkMayPin() throws {
        throw CocoaError.coreData(
            134060, "A context with a parent reads the state that its parent is pinned to; pin the topmost one.")
    }

    func savedGeneration(of context: NSManagedObjectContext) -> NSQueryGenerationToken? { nil }
}
