// Copies of requests.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Copies of requests") struct RequestCopyTests {
    private func full(_ stack: Stack) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
        request.predicate = NSPredicate(format: "name == 'House'")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (3, 2, 1)
        request.resultType = .managedObjectIDResultType
        (request.includesSubentities, request.includesPropertyValues, request.includesPendingChanges) = (
            false, false, false
        )
        (request.returnsObjectsAsFaults, request.shouldRefreshRefetchedObjects, request.returnsDistinctResults) = (
            false, true, true
        )
        request.refusesFaults = true
        request.propertiesToFetch = ["name"]
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = NSPredicate(format: "name != nil")
        request.relationshipKeyPathsForPrefetching = ["patients"]
        request.affectedStores = stack.coordinator.persistentStores
        return request
    }

    /// Every stored property as a text.
    private func facts(_ request: NSFetchRequest<NSManagedObject>) -> [String] {
        var facts: [String] = []
        var mirror: Mirror? = Mirror(reflecting: request)
        while let next = mirror {
            facts += next.children.map { "\($0.label ?? ""): \($0.value)" }
            mirror = next.superclassMirror
        }
        return facts
    }

    @Test("A copy of a fetch request has everything, and is another request")
    func everything() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let request = full(stack)
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(copy !== request)
        #expect(facts(copy) == facts(request) && facts(copy).count > 18)
        let plain = facts(NSFetchRequest<NSManagedObject>(entityName: "Doctor"))
        let same = zip(facts(request), plain).filter { $0 == $1 }.map(\.0)
        #expect(same.count <= 2, "these are not set by the test: \(same)")
    }

    @Test("What changes in a copy does not change in the request, nor the other way")
    func independent() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let request = full(stack)
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        copy.predicate = nil
        copy.fetchLimit = 9
        copy.affectedStores = nil
        request.sortDescriptors = nil
        request.propertiesToFetch = nil
        #expect(request.predicate != nil && request.fetchLimit == 3 && request.affectedStores?.count == 1)
        #expect(copy.sortDescriptors?.count == 1 && copy.propertiesToFetch?.count == 1)
    }

    @Test("A request that has an entity keeps it; one without a name is copied too")
    func entity() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let request = NSFetchRequest<NSManagedObject>()
        #expect((request.copy() as? NSFetchRequest<NSManagedObject>)?.entityName == nil)
        request.entity = stack.coordinator.managedObjectModel.entitiesByName["Doctor"]
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(copy.entity === request.entity && copy.entityName == "Doctor")
    }

    @Test("A template, with variables or without, is a copy each time")
    func templates() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let model = stack.coordinator.managedObjectModel.copy() as? NSManagedObjectModel
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Doctor")
        template.predicate = NSPredicate(format: "name == $NAME")
        model?.setFetchRequestTemplate(template, forName: "named")
        template.fetchLimit = 5
        let first = model?.fetchRequestFromTemplate(withName: "named", substitutionVariables: ["NAME": "House"])
        first?.fetchLimit = 7
        let second = model?.fetchRequestFromTemplate(withName: "named", substitutionVariables: ["NAME": "Wilson"])
        #expect(
            first?.predicate.map(\.description) == "name == \"House\""
                && second?.predicate.map(\.description) == "name == \"Wilson\"")
        #expect(second?.fetchLimit == 0 && first !== second)
        let bare = model?.fetchRequestTemplate(forName: "named")
        bare?.predicate = nil
        #expect(model?.fetchRequestTemplate(forName: "named")?.predicate.map(\.description) == "name == $NAME")
    }

    @Test("Copies of the other requests")
    func others() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let stores = stack.coordinator.persistentStores
        let insertion = NSBatchInsertRequest(entityName: "Doctor", objects: [["name": "a"]])
        (insertion.resultType, insertion.reportsEffects, insertion.refreshesRegisteredObjects) = (.count, true, true)
        insertion.affectedStores = stores
        let inserted = try #require(insertion.copy() as? NSBatchInsertRequest)
        insertion.objectsToInsert = nil
        #expect(
            inserted.objectsToInsert?.count == 1 && inserted.entityName == "Doctor" && inserted.resultType == .count)
        #expect(inserted.reportsEffects && inserted.refreshesRegisteredObjects && inserted.affectedStores == stores)

        let update = NSBatchUpdateRequest(entityName: "Doctor")
        update.propertiesToUpdate = ["name": "b"]
        update.predicate = NSPredicate(format: "name == 'a'")
        (update.includesSubentities, update.resultType, update.refreshesRegisteredObjects) = (
            false, .updatedObjectsCountResultType, true
        )
        let updated = try #require(update.copy() as? NSBatchUpdateRequest)
        update.predicate = nil
        #expect(updated.predicate.map(\.description) == "name == \"a\"" && updated.propertiesToUpdate?.count == 1)
        #expect(
            !updated.includesSubentities && updated.resultType == .updatedObjectsCountResultType
                && updated.refreshesRegisteredObjects)

        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Doctor")
        fetch.fetchLimit = 1
        let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
        deletion.resultType = .resultTypeCount
        let deleted = try #require(deletion.copy() as? NSBatchDeleteRequest)
        deletion.fetchRequest.fetchLimit = 4
        #expect(deleted.fetchRequest.fetchLimit == 1 && deleted.resultType == .resultTypeCount)

        let awaited = NSAsynchronousFetchRequest(fetchRequest: full(stack)) { _ in }
        awaited.estimatedResultCount = 8
        let again = try #require(awaited.copy() as? NSAsynchronousFetchRequest<NSManagedObject>)
        #expect(
            again.estimatedResultCount == 8 && again.completionBlock != nil
                && again.fetchRequest !== awaited.fetchRequest)
        #expect(facts(again.fetchRequest) == facts(awaited.fetchRequest))
        let save = NSSaveChangesRequest(
            inserted: [stack.context.make("Doctor", [:])], updated: nil, deleted: nil, locked: nil)
        #expect((save.copy() as? NSSaveChangesRequest)?.insertedObjects == save.insertedObjects)
    }

    @Test("A batch by IDs, copied, deletes just these", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func deletion(_ type: String) throws {
        let stack = try Stack(type)
        let doctors = ["a", "b", "c"].map { stack.context.make("Doctor", ["name": $0]) }
        try stack.context.save()
        let request = NSBatchDeleteRequest(objectIDs: doctors.prefix(2).map(\.objectID))
        let copy = try #require(request.copy() as? NSBatchDeleteRequest)
        _ = try stack.context.execute(copy)
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Doctor")) == 1)
    }
}
