// A context over a coordinator, without a parent.

import CoreDataValues
import Foundation

/// The stores of a context's coordinator. Has no state of its own, so all contexts share one.
final class CoordinatorLink: ContextLink, Sendable {
    static let shared = CoordinatorLink()

    var parent: NSManagedObjectContext? { nil }
    var givesUnsavedRows: Bool { false }

    func holdingAncestors<T>(of context: NSManagedObjectContext, _ body: () throws -> T) rethrows -> T { try body() }

    // MARK: Reading

    func stores(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore] {
        context.shown(context.requiredCoordinator.stores(for: fetch))
    }

    func storesBelow(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore] {
        stores(for: fetch, context)
    }

    func reader(of store: UInt16, _ context: NSManagedObjectContext) -> (any StoreReader)? {
        context.requiredCoordinator.reader(of: store).map(context.shown)
    }

    func readUnsaved(_ key: ObjectKey, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let now = context.currentKey(key)
        return now.number > 0 && now.store != 0 ? try context.faulting.read(now) : nil
    }

    func home(of object: NSManagedObject, among fetch: BoundFetch, _ context: NSManagedObjectContext) -> UInt16? { nil }

    func unsavedAbove(of query: Query, _ fetch: BoundFetch, _ context: NSManagedObjectContext) -> Int { 0 }

    func live(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> LiveValue? { nil }

    func externalData(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> Data? { nil }

    // MARK: Pinned states

    func queryGenerationToken(of context: NSManagedObjectContext) -> NSQueryGenerationToken? { context.ownToken }

    func checkMayPin() throws {}

    func savedGeneration(of context: NSManagedObjectContext) -> NSQueryGenerationToken? {
        let coordinator = context.requiredCoordinator
        guard coordinator.showsGenerations else { return nil }
        return NSQueryGenerationToken(.state(context.generation ?? QueryGeneration(of: coordinator)))
    }

    // MARK: Keys

    func acceptPermanentKeys(_ context: NSManagedObjectContext) {}

    func registeredAnew(_ key: ObjectKey, _ context: NSManagedObjectContext) -> NSManagedObject? { nil }

    func targetKey(of owner: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> ObjectKey? { nil }

    func replaceTemporaryKeys(of members: ToMany, store: UInt16, _ context: NSManagedObjectContext) {}

    func obtainPermanentIDs(for objects: [NSManagedObject], _ context: NSManagedObjectContext) throws {}

    func keepsKey(_ former: ObjectKey, _ context: NSManagedObjectContext) -> Bool { false }

    func knows(_ key: ObjectKey, _ context: NSManagedObjectContext) -> Bool {
        do { return try context.faulting.read(key) != nil } catch { return true }
    }

    // MARK: Saving

    func save(_ context: NSManagedObjectContext) throws { try context.saveNow() }

    func write(_ operation: inout SaveOperation) throws { try operation.writeToStores() }

    func saveMetadata(of context: NSManagedObjectContext) throws {
        try context.persistentStoreCoordinator?.saveNewMetadata()
    }

    func prepareDeletion(of object: NSManagedObject, _ context: NSManagedObjectContext) {
        if object._state.pointee.toMany != nil { context.faulting.unseen { object.dropMembersOlderThanRow() } }
    }

    func comparedVersion(of object: NSManagedObject, _ context: NSManagedObjectContext) -> Int32 {
        object.comparedVersion
    }

    func refuse(_ conflicts: [Conflict], in store: NumberedStore, _ operation: SaveOperation) throws {
        throw try operation.error(of: conflicts, in: store)
    }

    func error(ofMissing objects: [NSManagedObject], _ context: NSManagedObjectContext) -> any Error {
        context.conflict(ofMissing: objects)
    }

    func checkMayRevert() throws {}
}
