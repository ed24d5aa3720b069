// Adding rows to a store, without objects in a context.

import CoreDataValues
import Foundation

/// What a batch insertion answers.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case statusOnly = 0
    /// The IDs of the rows that were inserted or updated.
    case objectIDs = 1
    /// How many they are.
    case count = 2
}

/// What became of one row of a batch insertion. Ours.
public enum NSBatchInsertEffect: Sendable, Hashable {
    case inserted
    /// A row with the same unique values took the new ones.
    case updated
    /// A row with the same unique values stayed as it was, and the new one was left out.
    case kept
}

/// An insertion of many rows of one entity into one store, one transaction.
///
/// The rows come as dictionaries, or from a block that is called until it answers true and fills a dictionary or an object at each call; what it
/// was given at the last call is not inserted. Attributes alone are set; those that are missing have their defaults. Nothing is
/// validated. A row whose unique values another row has is left out, unless the context's merge policy prefers what is in memory: by
/// property the other row takes the values that were given, and to overwrite it takes all, defaults of missing ones too.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    public final let entityName: String
    public final let entity: NSEntityDescription?
    open var objectsToInsert: [[String: Any]]?
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    open var resultType: NSBatchInsertRequestResultType = .statusOnly
    /// Whether the result says of each row what became of it (`NSBatchInsertResult.effects`). Ours.
    open var reportsEffects = false
    /// Whether the context that executes the request refreshes objects of rows that were updated. Ours; costs an ID a row.
    open var refreshesRegisteredObjects = false
    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    private init(name: String, entity: NSEntityDescription?) {
        entityName = name
        self.entity = entity
        super.init()
    }

    @available(*, deprecated, message: "A request without an entity inserts nothing.")
    public override convenience init() { self.init(name: "", entity: nil) }

    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init(name: entityName, entity: nil)
        objectsToInsert = dictionaries
    }

    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init(name: entity.name ?? "", entity: entity)
        objectsToInsert = dictionaries
    }

    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(name: entityName, entity: nil)
        dictionaryHandler = handler
    }

    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(name: entity.name ?? "", entity: entity)
        dictionaryHandler = handler
    }

    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(name: entityName, entity: nil)
        managedObjectHandler = handler
    }

    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(name: entity.name ?? "", entity: entity)
        managedObjectHandler = handler
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(name: entityName, entity: entity)
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        copy.reportsEffects = reportsEffects
        copy.refreshesRegisteredObjects = refreshesRegisteredObjects
        copy.affectedStores = affectedStores
        return copy
    }

    override func executed(in context: NSManagedObjectContext) throws -> Any { try result(in: context) }

    override func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let run = try BatchRun(self, entity: entityName, in: context)
        guard !run.info.entity.isAbstract else {
            throw CocoaError.coreData(
                134060, "The entity \(entityName) is abstract; insert rows of one of its sub-entities.")
        }
        let store = try run.storeForNew()
        let rows = BatchRows(self, run.info, tellsGiven: isByProperty(context))
        let answer: SetChange.Answer =
            reportsEffects || refreshesRegisteredObjects || resultType == .objectIDs ? .effects : .count
        let outcome = try run.apply(.stream(rows.next), answer, rule(context), in: store)
        let ids = run.ids(outcome.keys, in: store)
        func done(_ effect: SetOutcome.Effect) -> [NSManagedObjectID] {
            zip(ids, outcome.effects).filter { $0.1 == effect }.map(\.0)
        }
        if refreshesRegisteredObjects { run.tell(inserted: done(.inserted), updated: done(.updated)) }
        return NSBatchInsertResult(
            resultType, zip(ids, outcome.effects).filter { $0.1 != .kept }.map(\.0), outcome.count,
            reportsEffects ? zip(ids, outcome.effects).map { (objectID: $0, effect: NSBatchInsertEffect($1)) } : [])
    }

    /// Whether a stored row keeps what a new one was not given. An overwriting one is the whole row, its defaults too.
    private func isByProperty(_ context: NSManagedObjectContext) -> Bool {
        (context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
    }

    private func rule(_ context: NSManagedObjectContext) -> SetChange.Uniqueness {
        switch (context.mergePolicy as? NSMergePolicy)?.mergeType {
        case .mergeByPropertyObjectTrumpMergePolicyType?, .overwriteMergePolicyType?: .update(nil)
        case .errorMergePolicyType?, .mergeByPropertyStoreTrumpMergePolicyType?, .rollbackMergePolicyType?, nil: .keep
        }
    }
}

extension NSBatchInsertEffect {
    init(_ effect: SetOutcome.Effect) {
        switch effect {
        case .inserted: self = .inserted
        case .updated, .deleted: self = .updated
        case .kept: self = .kept
        }
    }
}

/// What a batch insertion came to.
open class NSBatchInsertResult: NSPersistentStoreResult {
    public final let resultType: NSBatchInsertRequestResultType
    /// A boolean, an array of object IDs or a number, as the type says.
    public final let result: Any?
    /// What became of each row, in the order in which they came; a row that was kept is named by the stored one. Empty unless the request
    /// asks for it (`reportsEffects`). Ours.
    public final let effects: [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)]

    init(
        _ type: NSBatchInsertRequestResultType, _ ids: [NSManagedObjectID], _ count: Int,
        _ effects: [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)]
    ) {
        resultType = type
        result =
            switch type {
            case .statusOnly: NSNumber(value: true)
            case .objectIDs: ids
            case .count: NSNumber(value: count)
            }
        self.effects = effects
        super.init()
    }
}
