// The configuration of a context in a keyed archive.

import Foundation

/// What an archive stores of a context: its configuration, but no objects, pending changes or coordinator.
struct ContextArchive: Codable {
    private let type: UInt
    private let name: String?
    private let author: String?
    private let policy: UInt?
    private let staleness: TimeInterval
    private let propagatesDeletes: Bool
    private let deletesInaccessibleFaults: Bool
    private let keepsObjects: Bool
    private let merges: Bool
    private let comparesOwners: Bool?

    init(_ context: NSManagedObjectContext) {
        type = context.concurrencyType.rawValue
        name = context.name
        author = context.transactionAuthor
        policy = context.chosenPolicy?.mergeType.rawValue
        staleness = context.stalenessInterval
        propagatesDeletes = context.propagatesDeletesAtEndOfEvent
        deletesInaccessibleFaults = context.shouldDeleteInaccessibleFaults
        keepsObjects = context.retainsRegisteredObjects
        merges = context.automaticallyMergesChangesFromParent
        comparesOwners = context.comparesRelationshipOwners
    }

    var concurrencyType: NSManagedObjectContextConcurrencyType? {
        NSManagedObjectContextConcurrencyType(rawValue: type)
    }

    func fill(_ context: NSManagedObjectContext) {
        context.name = name
        context.transactionAuthor = author
        context.chosenPolicy = policy.flatMap { NSMergePolicyType(rawValue: $0) }.map { NSMergePolicy(merge: $0) }
        context.stalenessInterval = staleness
        context.propagatesDeletesAtEndOfEvent = propagatesDeletes
        context.shouldDeleteInaccessibleFaults = deletesInaccessibleFaults
        context.retainsRegisteredObjects = keepsObjects
        context.automaticallyMergesChangesFromParent = merges
        context.comparesRelationshipOwners = comparesOwners ?? false
    }
}
