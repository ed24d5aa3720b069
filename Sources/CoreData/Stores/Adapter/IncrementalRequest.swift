// Fetch plans as requests to an incremental store, and what it answers.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One fetch of an incremental store.
struct IncrementalRequest {
    /// Of the type that a program can cast to without knowing which entity is asked for: Swift casts no generics.
    private let request = NSFetchRequest<any NSFetchRequestResult>()
    private let context: NSManagedObjectContext

    init(_ plan: FetchPlan, schema: Schema, context: NSManagedObjectContext) {
        self.context = context
        request.entity = context.runtime.infos[plan.entity.value].description
        request.includesSubentities = plan.includesSubentities
        request.predicate = plan.predicate.map { NSPredicate.made(of: $0) { context.object(for: $0) } }
        if !plan.sort.isEmpty { request.sortDescriptors = plan.sort.map { NSSortDescriptor.made(of: $0) } }
        request.fetchLimit = plan.limit
        request.fetchOffset = plan.offset
        request.includesPropertyValues = plan.includesValues
    }

    func ids(from store: NSIncrementalStore) throws -> [NSManagedObjectID] {
        IncrementalRequest.ids(in: try store.execute(request, with: context))
    }

    func count(from store: NSIncrementalStore) throws -> Int {
        request.resultType = .countResultType
        let answer = try store.execute(request, with: context)
        if let number = answer as? NSNumber ?? (answer as? [NSNumber])?.first { return number.intValue }
        if let number = answer as? Int ?? (answer as? [Int])?.first { return number }
        throw StoreError(
            134060,
            "\(store.type) answered \(Swift.type(of: answer)) where a count was asked; it must be an array of one number."
        )
    }

    /// Objects or IDs in any collection.
    static func ids(in answer: Any) -> [NSManagedObjectID] {
        let members: [Any]
        switch answer {
        case let array as [Any]: members = array
        case let set as NSOrderedSet: members = set.array
        case let set as NSSet: members = set.allObjects
        case let set as Set<NSManagedObjectID>: members = Array(set)
        case let array as NSArray: members = array.map { $0 }
        default: members = []
        }
        return members.compactMap { ($0 as? NSManagedObjectID) ?? ($0 as? NSManagedObject)?.objectID }
    }
}
