// What becomes of the objects that contexts hold when their store is removed, added again or migrated.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct RemovedStoreTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, BoxStore.type, ShelfStore.type]

    /// The error, which must be the kept one of a read, with the object and the cause.
    private func expectUnread(_ object: NSManagedObject, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("Nothing was thrown.")
        } catch {
            let error = error as NSError
            #expect(
                error.code == 134060 && (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134070, "\(error)")
            #expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID] == [object.objectID])
        }
    }

    @Test(
        "A fault of a removed store stays one, is not taken for deleted, and the next fetch or save throws",
        arguments: types)
    func fault(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        let ward = try #require(try context.all("Ward").first)
        context.refreshAllObjects()
        try rig.coordinator.remove(store)
        #expect(
            patient.value(forKey: "name") == nil && patient.isFault && !patient.isDeleted
                && context.deletedObjects.isEmpty)
        expectUnread(patient) { _ = try context.all("Patient") }
        #expect(patient.value(forKey: "name") == nil)
        expectUnread(patient) { try context.save() }
        #expect((ward.value(forKey: "patients") as? NSSet)?.count == 0)
        expectUnread(ward) { try context.save() }
        #expect(code { try context.fulfill([patient]) } == 134070)
        #expect(code { _ = try context.existingObject(with: patient.objectID) } == 134070)
        #expect(patient.isFault && !context.hasChanges)
    }

    @Test("A value in a file of a removed store cannot be read, which the next save says")
    func external() throws {
        let rig = Rig(Sample.model(constraints: false))
        let store = try rig.add()
        let writer = rig.context()
        _ = writer.make("Item", ["serial": 1, "big": Data(repeating: 7, count: 200_000)])
        try writer.save()
        let context = rig.context()
        context.stalenessInterval = 0
        let item = try #require(try context.all("Item").first)
        #expect(item.value(forKey: "serial") as? Int == 1)
        try rig.coordinator.remove(store)
        #expect(item.value(forKey: "serial") as? Int == 1 && item.value(forKey: "big") == nil)
        expectUnread(item) { try context.save() }
    }

    @Test("A child context asks its parent for objects of a removed store, and says why the others cannot be read")
    func child() throws {
        let rig = Rig()
        let store = try rig.add()
        let parent = try rig.filled()
        let patient = try #require(try parent.all("Patient").first)
        let ward = try #require(try parent.all("Ward").first)
        patient.setValue("Eva", forKey: "name")
        parent.refresh(ward, mergeChanges: false)
        let child = parent.child()
        try rig.coordinator.remove(store)
        #expect(child.object(with: patient.objectID).value(forKey: "name") as? String == "Eva")
        let twin = child.object(with: ward.objectID)
        #expect(twin.value(forKey: "name") == nil && twin.isFault && !twin.isDeleted)
        #expect(throws: CocoaError.self) { try child.save() }
    }

    @Test(
        "A store that is added again has its objects back: faults are read, changes saved, conflicts seen",
        arguments: [
            NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSPropertyListStoreType,
        ])
    func again(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add(type)
        let other = try rig.add(type, "other")
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        let ward = try #require(try context.all("Ward").first)
        context.refresh(ward, mergeChanges: false)
        patient.setValue("Eva", forKey: "name")
        try rig.coordinator.remove(store)
        #expect(patient.objectID.persistentStore == nil)
        let back = try rig.add(type)
        #expect(rig.coordinator.persistentStores == [other, back])
        #expect(patient.objectID.persistentStore === back && ward.value(forKey: "name") as? String == "North")
        #expect(
            patient.objectID
                == rig.coordinator.managedObjectID(forURIRepresentation: patient.objectID.uriRepresentation()))
        try context.save()
        #expect(try rig.context().all("Patient").map { $0.value(forKey: "name") as? String } == ["Eva"])
        try rig.coordinator.remove(back)
        let elsewhere = Rig(in: rig.folder)
        let there = try elsewhere.add(type)
        let theirs = elsewhere.context()
        try #require(try theirs.all("Patient").first).setValue("Bob", forKey: "name")
        try theirs.save()
        try elsewhere.coordinator.remove(there)
        patient.setValue("Ann", forKey: "name")
        try rig.add(type)
        #expect(code { try context.save() } == 133020)
    }

    @Test("A changed object of a removed store is found by no fetch and cannot be saved; the others can")
    func dirty() throws {
        let rig = Rig()
        try rig.add()
        let second = try rig.add(NSXMLStoreType, "second")
        let context = rig.context()
        let stays = context.make("Doctor", ["name": "stays"])
        let goes = context.make("Doctor", ["name": "goes"])
        context.assign(goes, to: second)
        try context.save()
        goes.setValue("changed", forKey: "name")
        try rig.coordinator.remove(second)
        #expect(try context.all("Doctor") == [stays])
        do {
            try context.save()
            Issue.record("Nothing was thrown.")
        } catch {
            let error = error as NSError
            #expect(error.code == 134070 && error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [goes])
        }
        context.rollback()
        stays.setValue("here", forKey: "name")
        try context.save()
    }
}

@Suite struct MigratedObjectTests {
    static let pairs = [
        [NSSQLiteStoreType, NSSQLiteStoreType], [NSSQLiteStoreType, NSXMLStoreType],
        [NSBinaryStoreType, NSSQLiteStoreType],
        [NSInMemoryStoreType, NSSQLiteStoreType],
    ]

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "" }.sorted()
    }

    /// Threads that insert and change objects until their store has moved, and a little longer.
    private final class Writers: @unchecked Sendable {
        let begun = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        let saved = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        let isMoved = Atomic<Bool>(false)
        private let coordinator: NSPersistentStoreCoordinator

        init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

        func run() {
            let context = coordinator.context()
            context.performAndWait {
                write(in: context)
                begun.add(1, ordering: .acquiringAndReleasing)
                while !isMoved.load(ordering: .acquiring) { write(in: context) }
                for _ in 0..<3 { write(in: context) }
            }
            ended.add(1, ordering: .acquiringAndReleasing)
        }

        private func write(in context: NSManagedObjectContext) {
            let doctor = context.make("Doctor", ["code": -1])
            do {
                try context.save()
                saved.add(1, ordering: .relaxed)
                doctor.setValue(-2, forKey: "code")
                try context.save()
            } catch {
                if (error as? CocoaError)?.code.rawValue != 134070 { Issue.record(error) }
                refused.add(1, ordering: .relaxed)
                context.rollback()
            }
        }
    }

    @Test(
        "11.3 What is saved while a store moves is in the new one, or the save throws",
        arguments: [
            (NSSQLiteStoreType, NSSQLiteStoreType), (NSSQLiteStoreType, NSBinaryStoreType),
            (NSInMemoryStoreType, NSSQLiteStoreType),
            (NSSQLiteStoreType, BoxStore.type),
        ])
    func movedUnderWriters(_ from: String, _ to: String) throws {
        let rig = Rig()
        let store = try rig.add(from)
        let filling = rig.context()
        for index in 0..<2000 { _ = filling.make("Doctor", ["code": index]) }
        try filling.save()
        let writers = Writers(rig.coordinator)
        let threads = (0..<3).map { _ in Thread { writers.run() } }
        threads.forEach { $0.start() }
        while writers.begun.load(ordering: .acquiring) < threads.count { usleep(100) }
        try rig.coordinator.migratePersistentStore(store, to: rig.folder.file("moved"), withType: to)
        writers.isMoved.store(true, ordering: .releasing)
        while writers.ended.load(ordering: .acquiring) < threads.count { usleep(100) }
        // Objects that a program's own store does not take over.
        #expect(writers.refused.load(ordering: .relaxed) == 0 || to == BoxStore.type)
        let reader = rig.context()
        let codes = try reader.all("Doctor").map { $0.value(forKey: "code") as? Int ?? 0 }
        #expect(codes.count == 2000 + writers.saved.load(ordering: .relaxed))
        if to != BoxStore.type { #expect(!codes.contains(-1)) }
    }

    @Test(
        "2.4 Objects that contexts hold go with a migrated store: read ones, faults, changed, new and deleted ones",
        arguments: pairs)
    func follow(_ types: [String]) throws {
        let rig = Rig()
        let store = try rig.add(types[0])
        let context = try rig.filled()
        let doctors = ["read", "fault", "changed", "deleted"].map { context.make("Doctor", ["name": $0]) }
        try context.save()
        doctors[0].setValue(1, forKey: "code")
        try context.save()
        context.refresh(doctors[1], mergeChanges: false)
        doctors[2].setValue("changed twice", forKey: "name")
        context.delete(doctors[3])
        let new = context.make("Doctor", ["name": "new"])
        let named = context.make("Doctor", ["name": "named"])
        try context.obtainPermanentIDs(for: [named])
        let uri = doctors[0].objectID.uriRepresentation()
        let made = try rig.coordinator.migratePersistentStore(
            store, to: rig.folder.file("moved"), options: nil, withType: types[1])
        #expect(doctors[1].value(forKey: "name") as? String == "fault" && !doctors[1].isDeleted)
        #expect(rig.coordinator.managedObjectID(forURIRepresentation: uri) == doctors[0].objectID)
        #expect(doctors[0].objectID.persistentStore === made && doctors[0].objectID.uriRepresentation() != uri)
        // Objects that others make meanwhile take none of the numbers.
        let other = rig.context()
        for _ in 0..<100 { _ = other.make("Doctor", ["name": "many"]) }
        try other.save()
        try context.save()
        doctors[0].setValue("read and changed", forKey: "name")
        try context.save()
        #expect(new.objectID.persistentStore === made && named.objectID.persistentStore === made)
        let expected = ["Ada", "changed twice", "fault", "named", "new", "read and changed"]
        let reader = Rig(in: rig.folder)
        try reader.add(types[1], "moved")
        #expect(names(try reader.context().all("Doctor")).filter { $0 != "many" } == expected)
        #expect(try reader.context().all("Doctor").count == expected.count + 100)
        #expect(try rig.summary(context) == "North 1 [\"b\", \"a\"]")
        #expect(try reader.summary(reader.context()) == "North 1 [\"b\", \"a\"]")
    }

    @Test("2.4 A change that another context saved before the migration is still a conflict after it")
    func conflict() throws {
        let rig = Rig()
        let store = try rig.add()
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        let other = rig.context()
        let twin = try #require(try other.all("Patient").first)
        twin.setValue("Bob", forKey: "name")
        try other.save()
        try rig.coordinator.migratePersistentStore(
            store, to: rig.folder.file("moved"), options: nil, withType: NSSQLiteStoreType)
        patient.setValue("Eva", forKey: "name")
        #expect(code { try context.save() } == 133020)
    }

    @Test("2.4 The stores of a coordinator keep their order, and the old file can be added beside its copy")
    func order() throws {
        let rig = Rig()
        let store = try rig.add()
        let second = try rig.add(NSXMLStoreType, "second")
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        let made = try rig.coordinator.migratePersistentStore(
            store, to: rig.folder.file("moved"), options: nil, withType: NSSQLiteStoreType)
        #expect(rig.coordinator.persistentStores == [made, second])
        let old = try rig.add()
        #expect(patient.objectID.persistentStore === made)
        let all = try context.all("Patient")
        #expect(all.count == 2 && Set(all.map { $0.objectID.persistentStore }) == [made, old])
        try rig.coordinator.remove(made)
        _ = try rig.add(NSSQLiteStoreType, "moved")
        #expect(patient.objectID.persistentStore?.url == rig.folder.file("moved"))
    }

    @Test(
        "2.4 A value that lay in a file of the old store is read from the new one",
        arguments: [NSSQLiteStoreType, NSXMLStoreType])
    func external(_ type: String) throws {
        let rig = Rig(Sample.model(constraints: false))
        let store = try rig.add()
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let writer = rig.context()
        _ = writer.make("Item", ["serial": 1, "big": content])
        try writer.save()
        let context = rig.context()
        let item = try #require(try context.all("Item").first)
        #expect(item.value(forKey: "serial") as? Int == 1)
        try rig.coordinator.migratePersistentStore(store, to: rig.folder.file("moved"), options: nil, withType: type)
        #expect(item.value(forKey: "big") as? Data == content)
        item.setValue(2, forKey: "serial")
        try context.save()
        let reader = rig.context()
        #expect(try reader.all("Item").first?.value(forKey: "big") as? Data == content)
    }

    @Test(
        "2.4 Objects do not go into a program's own store: saving them says so",
        arguments: [BoxStore.type, ShelfStore.type])
    func foreign(_ type: String) throws {
        let rig = Rig()
        let store = try rig.add()
        let context = try rig.filled()
        let patient = try #require(try context.all("Patient").first)
        try rig.coordinator.migratePersistentStore(store, to: rig.folder.file("moved"), options: nil, withType: type)
        patient.setValue("Eva", forKey: "name")
        #expect(code { try context.save() } == 134070)
        #expect(context.hasChanges)
    }
}
