// Predicates and batch requests that name objects of one store, over stores in which others have their numbers.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Objects of several stores that are named") struct StoreNamingTests {
    static let pairs = [
        [NSSQLiteStoreType, NSSQLiteStoreType], [NSInMemoryStoreType, NSInMemoryStoreType],
        [NSSQLiteStoreType, NSBinaryStoreType],
        [NSXMLStoreType, ShelfStore.type],
    ]

    private final class Clinics {
        let stack: Stack
        let context: NSManagedObjectContext
        let stores: [NSPersistentStore]
        /// By store: its ward and the patients in it; a further patient has no ward.
        var wards: [NSManagedObject] = []
        var patients: [[NSManagedObject]] = []

        init(_ types: [String]) throws {
            stack = try Stack(types[0], undo: false)
            context = stack.context
            let second = try stack.coordinator.addPersistentStore(
                ofType: types[1], configurationName: nil, at: stack.folder.file("second"), options: nil)
            stores = [stack.coordinator.persistentStores[0], second]
            for (letter, store) in zip(["a", "b"], stores) {
                let ward = context.make("Ward", ["name": letter])
                let here = (0..<3).map { context.make("Patient", ["name": "\(letter)\($0)", "age": $0]) }
                for patient in here.dropLast() { patient.setValue(ward, forKey: "ward") }
                for object in here + [ward] { context.assign(object, to: store) }
                wards.append(ward)
                patients.append(here)
            }
            try context.save()
        }

        func request(_ entity: String, _ predicate: NSPredicate?) -> NSFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entity, by: "name")
            request.predicate = predicate
            return request
        }

        var child: NSManagedObjectContext {
            return context.child()
        }
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "-" }
    }

    /// What each predicate finds; the first object named is of the first store.
    private func cases(_ clinics: Clinics) -> [(NSPredicate, [String])] {
        let (ward, other) = (clinics.wards[0], clinics.wards[1])
        return [
            (NSPredicate(format: "ward == %@", ward), ["a0", "a1"]),
            (NSPredicate(format: "ward == %@", other), ["b0", "b1"]),
            (NSPredicate(format: "SELF == %@", clinics.patients[0][0]), ["a0"]),
            (NSPredicate(format: "SELF IN %@", [clinics.patients[0][0], clinics.patients[1][1]]), ["a0", "b1"]),
            (NSPredicate(format: "NOT SELF IN %@", clinics.patients[0]), ["b0", "b1", "b2"]),
            (NSPredicate(format: "ward != %@ AND ward != nil", other.objectID), ["a0", "a1"]),
            (NSPredicate(format: "ANY ward.patients == %@", clinics.patients[1][0]), ["b0", "b1"]),
            (
                NSPredicate(format: "SUBQUERY(ward.patients, $p, $p == %@).@count == 1", clinics.patients[0][1]),
                ["a0", "a1"]
            ),
            (NSPredicate(format: "TERNARY(ward == %@, age, -1) >= 0", ward), ["a0", "a1"]),
        ]
    }

    @Test(
        "8.13 A predicate that names an object finds what has it, not what has one of its number in another store",
        arguments: pairs)
    func fetches(_ types: [String]) async throws {
        let clinics = try Clinics(types)
        for (predicate, expected) in cases(clinics) {
            for context in [clinics.context, clinics.stack.another(), clinics.child] {
                let request = clinics.request("Patient", predicate)
                #expect(names(try context.fetch(request)) == expected, "\(predicate)")
                #expect(try context.count(for: request) == expected.count, "\(predicate)")
                let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Patient")
                dictionaries.resultType = .dictionaryResultType
                dictionaries.propertiesToFetch = ["name"]
                dictionaries.predicate = predicate
                #expect(
                    Set(try context.fetch(dictionaries).map { $0["name"] as? String }) == Set(expected), "\(predicate)")
                nonisolated(unsafe) let wanted = request
                var found: [String] = []
                for try await name in context.values(of: wanted, { $0.value(forKey: "name") as? String }) {
                    found.append(name ?? "")
                }
                #expect(found == expected, "\(predicate)")
            }
        }
    }

    @Test(
        "8.13 A page of one store has its rows, whatever is unsaved of another store under the same numbers",
        arguments: pairs)
    func pages(_ types: [String]) throws {
        let clinics = try Clinics(types)
        for patient in clinics.patients[0] { patient.setValue(50, forKey: "age") }
        let request = clinics.request("Patient", nil)
        request.affectedStores = [clinics.stores[1]]
        request.fetchLimit = 2
        for context in [clinics.context, clinics.child] {
            #expect(names(try context.fetch(request)) == ["b0", "b1"])
            #expect(try context.count(for: request) == 2)
        }
    }

    @Test("The stores of a deletion are those of its request, whichever of the two names them", arguments: pairs)
    func deletion(_ types: [String]) throws {
        let clinics = try Clinics(types)
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Patient"))
        deletion.fetchRequest.affectedStores = [clinics.stores[0]]
        #expect(deletion.affectedStores == [clinics.stores[0]])
        deletion.resultType = .resultTypeCount
        let expected = clinics.patients[0].count
        #expect((try clinics.context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == expected)
        deletion.affectedStores = [clinics.stores[1]]
        #expect(deletion.fetchRequest.affectedStores == [clinics.stores[1]])
        #expect(
            (try clinics.context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int
                == clinics.patients[1].count)
    }

    @Test("A fetch of several stores ends when its task is cancelled, also while their objects are sorted")
    func cancelled() throws {
        let clinics = try Clinics([NSSQLiteStoreType, NSSQLiteStoreType])
        let request = clinics.request("Patient", nil)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let order = try PendingOverlay(context: clinics.context, fetch: clinics.context.bound(request)).objectOrder
        let cancellation = Cancellation()
        let all = clinics.patients.flatMap { $0 }
        #expect(try cancellation.covering { try order.sorted(all) }.count == all.count)
        cancellation.cancel()
        #expect(throws: CancellationError.self) { try cancellation.covering { try order.sorted(all) } }
    }

    @Test(
        "8.2 Without pending changes a fetch finds what stores have, deleted objects too, in one store, in several and in a sequence"
    )
    func storedOnly() async throws {
        let clinics = try Clinics([NSSQLiteStoreType, NSSQLiteStoreType])
        clinics.context.delete(clinics.patients[0][0])
        clinics.patients[1][0].setValue("other", forKey: "name")
        _ = clinics.context.make("Patient", ["name": "new"])
        let request = clinics.request("Patient", NSPredicate(format: "name ENDSWITH '0'"))
        request.includesPendingChanges = false
        let expected = [clinics.patients[0][0], clinics.patients[1][0]]
        for stores in [nil, [clinics.stores[0]], [clinics.stores[1]]] {
            request.affectedStores = stores
            let wanted = expected.filter { object in stores?.contains { $0 === object.objectID.persistentStore } ?? true
            }
            #expect(
                try Set(clinics.context.fetch(request)) == Set(wanted)
                    && clinics.context.count(for: request) == wanted.count)
            nonisolated(unsafe) let asked = request
            var found: [NSManagedObjectID] = []
            for try await id in clinics.context.values(of: asked, { $0.objectID }) { found.append(id) }
            #expect(Set(found) == Set(wanted.map(\.objectID)))
        }
        #expect(expected[1].value(forKey: "name") as? String == "other" && expected[0].isDeleted)
    }

    @Test("9.2 A batch deletion by IDs or by a predicate that names objects deletes these alone", arguments: pairs)
    func deletions(_ types: [String]) throws {
        let clinics = try Clinics(types)
        func left() throws -> [String] { names(try clinics.stack.another().fetch(clinics.request("Patient", nil))) }
        func delete(_ request: NSBatchDeleteRequest) throws -> Int? {
            request.resultType = .resultTypeCount
            return try (clinics.context.execute(request) as? NSBatchDeleteResult)?.result as? Int
        }
        #expect(
            try delete(
                NSBatchDeleteRequest(objectIDs: [clinics.patients[0][0], clinics.patients[1][1]].map(\.objectID))) == 2)
        #expect(try left() == ["a1", "a2", "b0", "b2"])
        let fetch = NSFetchRequest<any NSFetchRequestResult>("Patient", "ward == %@", clinics.wards[1])
        #expect(try delete(NSBatchDeleteRequest(fetchRequest: fetch)) == 1)
        #expect(try left() == ["a1", "a2", "b2"])
    }

    @Test(
        "9.3 A batch update gives an object to rows of its own store, and is refused where it finds rows of another",
        arguments: pairs)
    func updates(_ types: [String]) throws {
        let clinics = try Clinics(types)
        let update = NSBatchUpdateRequest(entityName: "Patient")
        update.propertiesToUpdate = ["ward": clinics.wards[1]]
        update.resultType = .updatedObjectsCountResultType
        let error = #expect(throws: CocoaError.self) { try clinics.context.execute(update) }
        #expect(error?.code.rawValue == 133010)
        func wards() throws -> [String] {
            let reader = clinics.stack.another()
            return try reader.fetch(clinics.request("Patient", nil)).map {
                ($0.value(forKey: "ward") as? NSManagedObject)?.value(forKey: "name") as? String ?? "-"
            }
        }
        #expect(try wards() == ["a", "a", "-", "b", "b", "-"])
        update.predicate = NSPredicate(format: "name BEGINSWITH 'b'")
        #expect(try (clinics.context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
        #expect(try wards() == ["a", "a", "-", "b", "b", "b"])
        update.predicate = NSPredicate(format: "ward == %@", clinics.wards[0])
        update.propertiesToUpdate = ["age": 99]
        #expect(try (clinics.context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
        let old = clinics.request("Patient", NSPredicate(format: "age == 99"))
        #expect(names(try clinics.stack.another().fetch(old)) == ["a0", "a1"])
    }
}

@Suite("Batch requests of children") struct ChildBatchTests {
    @Test(
        "9.1 A child that refreshes what its batch request changed sees it, also what its parents hold",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType], [1, 2])
    func refreshes(_ type: String, depth: Int) throws {
        let stack = try Stack(type, undo: false)
        var line = [stack.context]
        for _ in 0..<depth { line.append(line[line.count - 1].child()) }
        let child = try #require(line.last)
        for name in ["a", "b", "c"] { _ = stack.context.make("Doctor", ["name": name, "code": 1]) }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>("Doctor", by: "name")
        func facts(_ doctors: [NSManagedObject]) -> [String] {
            doctors.map {
                $0.managedObjectContext == nil
                    ? "gone" : "\($0.value(forKey: "name") ?? "-") \($0.value(forKey: "code") ?? "-")"
            }
        }
        let held = try line.map { try $0.fetch(request) }
        for doctors in held { #expect(facts(doctors) == ["a 1", "b 1", "c 1"]) }
        held[0][1].setValue("mine", forKey: "name")
        let update = NSBatchUpdateRequest(entityName: "Doctor")
        update.propertiesToUpdate = ["code": 7]
        update.refreshesRegisteredObjects = true
        try child.execute(update)
        #expect(facts(try #require(held.last)) == ["a 7", "mine 7", "c 7"])
        let fetch = NSFetchRequest<any NSFetchRequestResult>("Doctor", "name == 'c'")
        let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
        deletion.refreshesRegisteredObjects = true
        try child.execute(deletion)
        #expect(facts(try #require(held.last)) == ["a 7", "mine 7", "gone"])
        #expect(facts(try child.fetch(request)) == ["a 7", "mine 7"] && !child.hasChanges)
        try stack.context.save()
        let reader = stack.another()
        #expect(facts(try reader.fetch(request)) == ["a 7", "mine 7"])
        withExtendedLifetime(held) {}
    }
}
