// What a context reads from and saves into.

import CoreDataValues
import Foundation

/// What a context reads from and saves into: its coordinator's stores (`CoordinatorLink`), or a parent (`ParentLink`).
///
/// What a child context does otherwise than others is decided behind these requirements. A few callers ask
/// `givesUnsavedRows` beside them, since rows from a parent carry transient values, and keys and versions that it may
/// replace. Each call names the context whose link it is.
protocol ContextLink: AnyObject {
    var parent: NSManagedObjectContext? { get }
    /// Whether rows from here may be unsaved: with keys that are replaced later, values of transient attributes, and
    /// changes that do not count in their versions.
    var givesUnsavedRows: Bool { get }

    /// Runs a block that may read from here, with everything held that this needs.
    func holdingAncestors<T>(of context: NSManagedObjectContext, _ body: () throws -> T) rethrows -> T

    // MARK: Reading

    /// The stores that a fetch asks.
    func stores(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore]

    /// The stores beneath all ancestors, as the topmost context reads them.
    func storesBelow(for fetch: BoundFetch, _ context: NSManagedObjectContext) -> [NumberedStore]

    /// The reader of a store's rows; nil for a store that is not here.
    func reader(of store: UInt16, _ context: NSManagedObjectContext) -> (any StoreReader)?

    /// Reads an object by a temporary key; nil when there is none.
    func readUnsaved(_ key: ObjectKey, _ context: NSManagedObjectContext) throws -> NSManagedObject?

    /// The store in which a fetch finds another context's new object; nil if this is for the context itself to say.
    func home(of object: NSManagedObject, among fetch: BoundFetch, _ context: NSManagedObjectContext) -> UInt16?

    /// How many unsaved objects of ancestors a fetch judges.
    func unsavedAbove(of query: Query, _ fetch: BoundFetch, _ context: NSManagedObjectContext) -> Int

    /// The value of a transient attribute that is in no row; nil if there is none here either.
    func live(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> LiveValue?

    /// A value whose file is gone; nil if there is none here either.
    func externalData(of object: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> Data?

    // MARK: Pinned states

    func queryGenerationToken(of context: NSManagedObjectContext) -> NSQueryGenerationToken?

    /// - Throws: 134060 where the context cannot choose the state that it reads.
    func checkMayPin() throws

    /// The state after a save; nil if the save went to no store.
    func savedGeneration(of context: NSManagedObjectContext) -> NSQueryGenerationToken?

    // MARK: Keys

    /// Gives permanent keys to the context's objects that were saved above: before it reads from there, and when it meets such a key
    /// otherwise.
    func acceptPermanentKeys(_ context: NSManagedObjectContext)

    /// The object that still had a temporary key when this permanent key replaced it; nil if there is none.
    func registeredAnew(_ key: ObjectKey, _ context: NSManagedObjectContext) -> NSManagedObject?

    /// The key of the target in an unsaved object's row; nil when the row tells it.
    func targetKey(of owner: NSManagedObject, at slot: Int, _ context: NSManagedObjectContext) -> ObjectKey?

    /// Replaces temporary keys among a to-many's stored members by the permanent keys that they have now.
    func replaceTemporaryKeys(of members: ToMany, store: UInt16, _ context: NSManagedObjectContext)

    /// Gives permanent IDs to those of the objects that are unsaved above.
    func obtainPermanentIDs(for objects: [NSManagedObject], _ context: NSManagedObjectContext) throws

    /// Whether a restored object has its key still, since its row was not deleted here.
    func keepsKey(_ former: ObjectKey, _ context: NSManagedObjectContext) -> Bool

    /// Whether the context, or one above, has a row. If that cannot be read, the answer is yes, and the save reports the error.
    func knows(_ key: ObjectKey, _ context: NSManagedObjectContext) -> Bool

    // MARK: Saving

    /// Saves the context, with everything held that this needs.
    func save(_ context: NSManagedObjectContext) throws

    /// Writes what a save has collected, and makes it the objects' snapshots.
    func write(_ operation: inout SaveOperation) throws

    /// Writes metadata that was set, in a save without changes.
    func saveMetadata(of context: NSManagedObjectContext) throws

    /// Prepares a deletion for the comparison of versions at the save.
    func prepareDeletion(of object: NSManagedObject, _ context: NSManagedObjectContext)

    /// The version that an object's row must have.
    func comparedVersion(of object: NSManagedObject, _ context: NSManagedObjectContext) -> Int32

    /// Refuses a save whose objects were overtaken by another writer, if it writes to the store that found this.
    func refuse(_ conflicts: [Conflict], in store: NumberedStore, _ operation: SaveOperation) throws

    /// The error of changes to objects whose rows were found gone.
    func error(ofMissing objects: [NSManagedObject], _ context: NSManagedObjectContext) -> any Error

    /// - Throws: `unsupported` where a transaction cannot be reverted.
    func checkMayRevert() throws
}
