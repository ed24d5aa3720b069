// Incremental stores that name rows by texts, work values out in their nodes, and list members that are gone.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Pages by text.
final class PageStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "TestPages"

    struct Page {
        var entity: String
        var values: [String: Any] = [:]
        var links: [String: [Any]] = [:]
    }

    /// Its values are asked for one by one.
    private final class Node: NSIncrementalStoreNode {
        private let page: Page
        init(_ id: NSManagedObjectID, _ page: Page) {
            self.page = page
            super.init(objectID: id, withValues: [:], version: 1)
        }
        override func value(for property: NSPropertyDescription) -> Any? { page.values[property.name] }
    }

    nonisolated(unsafe) var pages: [(reference: Any, page: Page)] = []
    nonisolated(unsafe) var asked: [String] = []

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "PAGES-1", NSStoreTypeKey: Self.type] }

    private func entity(_ name: String) -> NSEntityDescription? {
        persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
    }
    private func text(_ reference: Any) -> String { "\(Swift.type(of: reference)) \(reference)" }
    private func page(_ id: NSManagedObjectID) -> Page? {
        pages.first { text($0.reference) == text(referenceObject(for: id)) }?.page
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let context else { return [] }
        return pages.filter { $0.page.entity == fetch.entityName }.compactMap { page in
            entity(page.page.entity).map { context.object(with: newObjectID(for: $0, referenceObject: page.reference)) }
        }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        asked.append("values \(referenceObject(for: objectID))")
        guard let page = page(objectID) else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return Node(objectID, page)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let name = relationship.destinationEntity?.name ?? ""
        let ids = (page(objectID)?.links[relationship.name] ?? []).compactMap { reference in
            entity(name).map { newObjectID(for: $0, referenceObject: reference) }
        }
        return relationship.isToMany ? ids : ids.first ?? NSNull()
    }
}

@Suite struct PageStoreTests {
    private func stack(_ pages: [(reference: Any, page: PageStore.Page)]) throws -> (Rig, PageStore) {
        NSPersistentStoreCoordinator.registerStoreClass(PageStore.self, forStoreType: PageStore.type)
        let rig = Rig()
        let store = try #require(try rig.add(PageStore.type) as? PageStore)
        store.pages = pages
        return (rig, store)
    }

    @Test(
        "The URI of an object leads back to it whatever names it: a text of digits, with a mark or slashes, numbers, a UUID"
    )
    func references() throws {
        let uuid = UUID()
        let references: [Any] = [
            "101", "'101", "a/b/", "-7", "plain", NSNumber(value: 101), uuid, NSNumber(value: 1.5),
            NSNumber(value: 1.25),
        ]
        let (rig, store) = try stack(
            references.map { ($0, PageStore.Page(entity: "Patient", values: ["name": "\($0)"])) })
        let context = rig.context()
        let found = try context.all("Patient")
        #expect(Set(found.map { $0.objectID.uriRepresentation() }).count == references.count)
        for (object, reference) in zip(found, references) {
            let uri = object.objectID.uriRepresentation()
            let id = try #require(rig.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(id == object.objectID, "\(uri)")
            #expect(try context.existingObject(with: id) === object)
            #expect(
                type(of: store.referenceObject(for: id)) == type(of: reference)
                    && object.value(forKey: "name") as? String == "\(reference)")
        }
        // Another process that has seen nothing of the store yet.
        let (second, other) = try stack(store.pages)
        for (object, reference) in zip(found, references).prefix(6) {
            let id = try #require(
                second.coordinator.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation()))
            #expect(
                "\(other.referenceObject(for: id))" == "\(reference)"
                    && (other.referenceObject(for: id) is String) == (reference is String))
        }
    }

    @Test("Values are asked of the node, so that a subclass may work them out")
    func node() throws {
        let (rig, _) = try stack([
            ("a", PageStore.Page(entity: "Patient", values: ["name": "Eve", "age": 41], links: ["ward": ["w"]])),
            ("w", PageStore.Page(entity: "Ward", values: ["name": "North"])),
        ])
        let context = rig.context()
        let patient = try #require(try context.all("Patient").first)
        #expect(patient.value(forKey: "name") as? String == "Eve" && patient.value(forKey: "age") as? Int == 41)
        #expect((patient.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name") as? String == "North")
    }

    @Test(
        "4.12 The members of a to-many are faults by their IDs: nothing is asked of them before they are read, and one that is gone reads as deleted"
    )
    func dangling() throws {
        let (rig, store) = try stack([
            ("w", PageStore.Page(entity: "Ward", values: ["name": "North"], links: ["patients": ["1", "2", "3"]])),
            ("1", PageStore.Page(entity: "Patient", values: ["name": "Eve"])),
            ("3", PageStore.Page(entity: "Patient", values: ["name": "Bob"])),
        ])
        let context = rig.context()
        context.readsFaultsTogether = false
        let ward = try #require(try context.all("Ward").first)
        store.asked = []
        let members = try #require(ward.value(forKey: "patients") as? NSSet).allObjects.compactMap {
            $0 as? NSManagedObject
        }
        #expect(members.count == 3 && store.asked.isEmpty)
        let names = members.compactMap { $0.value(forKey: "name") as? String }
        #expect(names.sorted() == ["Bob", "Eve"] && store.asked.count == 3)
        #expect(members.filter(\.isDeleted).count == 1)
        _ = try context.all("Ward")
        store.asked = []
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.includesPropertyValues = false
        #expect(try rig.context().fetch(request).count == 2 && store.asked.isEmpty)
    }

    @Test("Prefetching a to-many that lists a member which is gone leaves it out")
    func danglingPrefetched() throws {
        let (rig, _) = try stack([
            ("w", PageStore.Page(entity: "Ward", values: ["name": "North"], links: ["patients": ["1", "2"]])),
            ("2", PageStore.Page(entity: "Patient", values: ["name": "Eve"])),
        ])
        let context = rig.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = ["patients"]
        let ward = try #require(try context.fetch(request).first)
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 1)
        _ = try context.all("Ward")
    }
}
