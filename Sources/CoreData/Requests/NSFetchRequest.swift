// What a program asks of a store.

import CoreDataValues
import Foundation

/// What a fetch may answer: managed objects, object IDs, dictionaries, counts.
@_marker public protocol NSFetchRequestResult: AnyObject {}
extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// What the results of a fetch are.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let managedObjectResultType: NSFetchRequestResultType = []
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
}

/// A request to one or more stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// Only these stores are asked; nil for all that have the entity.
    @exclusivity(unchecked) open var affectedStores: [NSPersistentStore]?
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// A request of its own that asks the same; changing either leaves the other as it is.
    ///
    /// The copy is of the library's class: a class of a program that adds to it overrides this.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.affectedStores = affectedStores
        return copy
    }

    /// What the coordinator's `execute(_:with:)` answers.
    func executed(in context: NSManagedObjectContext) throws -> Any {
        throw CocoaError.unsupported("execute(_:with:) of \(Swift.type(of: self))")
    }

    /// What a context's `execute(_:)` answers.
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        throw CocoaError.unsupported("execute(_:) of \(Swift.type(of: self))")
    }
}

/// A description of which objects to find, in which order, and how much of them to read.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
    // Unchecked, as a fetch reads a dozen of these (76 instructions each): no access of ours overlaps another.
    @exclusivity(unchecked) private var name: String?
    @exclusivity(unchecked) private var description_: NSEntityDescription?

    /// The entity; looked up by name in the context's model when the request was made from a name.
    open var entity: NSEntityDescription? {
        get { description_ }
        set { description_ = newValue }
    }
    open var entityName: String? { description_?.name ?? name }
    @exclusivity(unchecked) open var predicate: NSPredicate?
    @exclusivity(unchecked) open var sortDescriptors: [NSSortDescriptor]?
    /// 0 for no limit.
    @exclusivity(unchecked) open var fetchLimit = 0
    @exclusivity(unchecked) open var fetchOffset = 0
    /// How many rows are read at a time; 0 to read all of them with the fetch.
    ///
    /// Objects come as faults without rows, of which the fetch reads the keys alone; the first read of one reads the rows of those that
    /// stand beside it in one statement. With `fetchLimit`, it counts where it is less than that. A fetch that refreshes
    /// objects, and one of IDs, dictionaries or counts, takes no notice of it.
    @exclusivity(unchecked) open var fetchBatchSize = 0
    @exclusivity(unchecked) open var resultType: NSFetchRequestResultType = .managedObjectResultType
    @exclusivity(unchecked) open var includesSubentities = true
    /// Whether the values are read with the rows. They stay in memory, so that firing such a fault reads nothing.
    @exclusivity(unchecked) open var includesPropertyValues = true
    /// Whether unsaved changes of the context count.
    @exclusivity(unchecked) open var includesPendingChanges = true
    /// Whether objects come as faults, which wake (`awakeFromFetch`) at the first read of a value.
    @exclusivity(unchecked) open var returnsObjectsAsFaults = true
    /// Whether objects that are in the context already take the values that the fetch reads; unsaved changes stay on top.
    ///
    /// False at first: a fetch leaves values alone that were read before. Costs a comparison a row.
    @exclusivity(unchecked) open var shouldRefreshRefetchedObjects = false
    /// Whether faults are unexpected that the found objects, or objects reached from them, fire from then on: each is answered,
    /// and told to the context's `unexpectedFaultHandler` with the key path to prefetch. Ours.
    @exclusivity(unchecked) open var refusesFaults = false
    /// The properties that dictionaries have: names, key paths and property descriptions; nil for all attributes that a store keeps.
    ///
    /// A key path may follow to-ones, or end in `@count` and other operators of a to-many; a to-one gives an object ID. An
    /// `NSExpressionDescription` computes its value. What has no value in the store has no entry. A fetch of objects refuses names that
    /// the entity lacks, and reads whole rows.
    @exclusivity(unchecked) open var propertiesToFetch: [Any]?
    /// What the rows of a group have in common, where each dictionary stands for a group; named as in `propertiesToFetch`, whose other
    /// properties must be aggregates then.
    @exclusivity(unchecked) open var propertiesToGroupBy: [Any]?
    /// Which groups are wanted. It may name the entries of the dictionaries as variables, `$total > 10`.
    @exclusivity(unchecked) open var havingPredicate: NSPredicate?
    /// Whether equal dictionaries come once. Objects are different ones in any case.
    @exclusivity(unchecked) open var returnsDistinctResults = false
    /// Key paths of relationships to read together with the objects, `patients.doctors`.
    ///
    /// Each relationship of each path costs one statement, however many objects there are; reading it costs none then. A
    /// path that is no chain of relationships makes the fetch throw 134060.
    @exclusivity(unchecked) open var relationshipKeyPathsForPrefetching: [String]?

    public override init() { super.init() }

    /// The results of the request in the context whose block the caller's thread runs, the innermost one.
    ///
    /// Outside the blocks of all contexts it ends the process: no context is meant there, and `fetch(_:)` of one is to be used.
    /// - Throws: what `fetch(_:)` throws.
    open func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.executing else {
            misuse(
                "\(description) was executed outside the block of any context. Execute it inside perform or performAndWait of one, or call "
                    + "its fetch(_:).")
        }
        return try context.fetch(self)
    }

    open override func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    open override var description: String { "<\(Swift.type(of: self)): \(summary)>" }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(NSAsynchronousFetchRequest(fetchRequest: self), context)
        result.deliver(try context.fetch(self))
        return result
    }

    public convenience init(entityName: String) {
        self.init()
        name = entityName
    }
}
