// Several stores under one coordinator.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct SeveralStoresTests {
    private func two(_ first: String = NSSQLiteStoreType, _ second: String = NSSQLiteStoreType) throws -> (
        Rig, NSPersistentStore, NSPersistentStore
    ) {
        let rig = Rig()
        return (rig, try rig.add(first, "a"), try rig.add(second, "b"))
    }

    /// A context, its child and the child's child.
    private func line(_ rig: Rig) -> (NSManagedObjectContext, NSManagedObjectContext, NSManagedObjectContext) {
        let root = rig.context()
        let middle = root.child()
        return (root, middle, middle.child())
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "" }
    }

    @Test("4.7 assign(_:to:) chooses the store, without it an object goes to the first writable store with its entity")
    func assign() throws {
        let (rig, a, b) = try two()
        let context = rig.context()
        let plain = context.make("Doctor", ["name": "plain"])
        let chosen = context.make("Doctor", ["name": "chosen"])
        let back = context.make("Doctor", ["name": "back"])
        context.assign(chosen, to: b)
        context.assign(back, to: b)
        context.assign(back, to: a)
        try context.save()
        #expect(plain.objectID.persistentStore === a && chosen.objectID.persistentStore === b)
        #expect(back.objectID.persistentStore === a)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
        request.affectedStores = [b]
        #expect(names(try rig.context().fetch(request)) == ["chosen"])
        chosen.setValue("moved not", forKey: "name")
        try context.save()
        #expect(names(try rig.context().fetch(request)) == ["moved not"])
    }

    @Test(
        "5.3 A deletion that was saved and is undone, in a child or not, comes back into its store",
        arguments: [0, 1, 2])
    func undoneDeletion(_ depth: Int) throws {
        let (rig, _, b) = try two()
        let root = rig.context()
        let (ward, patient) = (root.make("Ward", ["name": "w"]), root.make("Patient", ["name": "p"]))
        for object in [ward, patient] { root.assign(object, to: b) }
        patient.setValue(ward, forKey: "ward")
        try root.save()
        root.reset()
        var contexts = depth == 0 ? [rig.context()] : [root]
        for _ in 0..<depth {
            contexts.insert(contexts[0].child(), at: 0)
        }
        let context = contexts[0]
        context.undoManager = UndoManager()
        context.delete(try #require(try context.all("Patient").first))
        for context in contexts { try context.save() }
        context.undo()
        for context in contexts { try context.save() }
        let reader = rig.context()
        let read = try reader.all("Patient").map {
            ($0.objectID.persistentStore, $0.value(forKey: "ward") as? NSManagedObject)
        }
        let found = try reader.all("Ward").first
        #expect(read.count == 1 && read.first?.0 === b && read.first?.1 === found && found != nil)
    }

    @Test("4.7 The store chosen in a child context is the object's in every parent, and that of a permanent ID")
    func assignInChild() throws {
        let (rig, a, b) = try two()
        let (root, middle, child) = line(rig)
        let chosen = child.make("Doctor", ["name": "chosen"])
        let early = child.make("Doctor", ["name": "early"])
        let plain = child.make("Doctor", ["name": "plain"])
        child.assign(chosen, to: b)
        child.assign(early, to: b)
        try child.obtainPermanentIDs(for: [early])
        #expect(early.objectID.persistentStore === b)
        try child.save()
        try middle.save()
        let late = child.make("Doctor", ["name": "late"])
        child.assign(late, to: b)
        try child.save()
        try child.obtainPermanentIDs(for: [late])
        #expect(late.objectID.persistentStore === b)
        try middle.save()
        try root.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
        request.affectedStores = [b]
        #expect(names(try rig.context().fetch(request)).sorted() == ["chosen", "early", "late"])
        request.affectedStores = [a]
        #expect(names(try rig.context().fetch(request)) == ["plain"])
        _ = plain
    }

    @Test("4.7 The first store is passed over when it is read-only or lacks the entity")
    func firstWritable() throws {
        let rig = Rig(Rig.divided())
        let house = try rig.add(NSSQLiteStoreType, "house", configuration: "House")
        let people = try rig.add(NSXMLStoreType, "people", configuration: "People")
        let context = rig.context()
        let ward = context.make("Ward")
        let patient = context.make("Patient", ["name": "Eve"])
        let doctor = context.make("Doctor")
        try context.save()
        #expect(ward.objectID.persistentStore === house && patient.objectID.persistentStore === people)
        #expect(doctor.objectID.persistentStore === house)
        house.isReadOnly = true
        let second = context.make("Doctor")
        try context.save()
        #expect(second.objectID.persistentStore === people)
    }

    @Test("4.7 assign(_:to:) of a saved object, to a foreign store or to one without the entity is a misuse")
    func assignMisuse() async {
        await #expect(processExitsWith: .failure) {
            let rig = Rig()
            let store = try rig.add()
            let context = rig.context()
            let doctor = context.make("Doctor")
            try context.save()
            context.assign(doctor, to: store)
        }
        await #expect(processExitsWith: .failure) {
            let rig = Rig()
            try rig.add()
            let other = Rig()
            let context = rig.context()
            context.assign(context.make("Doctor"), to: try other.add())
        }
        await #expect(processExitsWith: .failure) {
            let rig = Rig(Rig.divided())
            let house = try rig.add(configuration: "House")
            try rig.add(NSSQLiteStoreType, "people", configuration: "People")
            let context = rig.context()
            context.assign(context.make("Patient"), to: house)
        }
    }

    @Test("4.7 Relating objects of different stores is refused with 133010 at the save, which writes nothing")
    func crossing() throws {
        let (rig, a, b) = try two()
        let context = rig.context()
        let patient = context.make("Patient", ["name": "Eve"])
        let ward = context.make("Ward", ["name": "North"])
        context.assign(patient, to: a)
        context.assign(ward, to: b)
        patient.setValue(ward, forKey: "ward")
        do {
            try context.save()
            Issue.record("The save went through.")
        } catch let error as CocoaError {
            #expect(error.code.rawValue == 133010)
            #expect([patient, ward].contains { $0 === error.validationObject as? NSManagedObject })
        }
        #expect(patient.objectID.isTemporaryID && context.hasChanges)
        #expect(try rig.context().all("Patient").isEmpty && rig.context().all("Ward").isEmpty)
        context.assign(ward, to: a)
        try context.save()
        #expect(ward.objectID.persistentStore === a)
        // Saved objects as well, and a many-to-many.
        let doctor = context.make("Doctor")
        context.assign(doctor, to: b)
        try context.save()
        patient.setValue(Set([doctor]), forKey: "doctors")
        #expect(code { try context.save() } == 133010)
        context.rollback()
        #expect((patient.value(forKey: "doctors") as? NSSet)?.count == 0)
    }

    @Test("A fetch over stores is merged: predicate, order, limit, offset and count are those of all objects")
    func merged() throws {
        let (rig, a, b) = try two(NSSQLiteStoreType, NSBinaryStoreType)
        let context = rig.context()
        for (index, name) in ["d", "a", "c", "b", "f", "e"].enumerated() {
            let doctor = context.make("Doctor", ["name": name, "code": index])
            context.assign(doctor, to: index.isMultiple(of: 2) ? a : b)
        }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>("Doctor", by: "name")
        let other = rig.context()
        #expect(names(try other.fetch(request)) == ["a", "b", "c", "d", "e", "f"])
        request.fetchOffset = 1
        request.fetchLimit = 3
        #expect(names(try other.fetch(request)) == ["b", "c", "d"])
        #expect(try other.count(for: request) == 3)
        request.predicate = NSPredicate(format: "code > 1")
        #expect(names(try other.fetch(request)) == ["c", "e", "f"])
        request.affectedStores = [b]
        #expect(names(try other.fetch(request)) == ["e"])
    }

    @Test("8.13 A fetch of certain stores finds the unsaved objects that will be saved in them, in children too")
    func unsavedOfCertainStores() throws {
        let (rig, a, b) = try two()
        let (root, middle, child) = line(rig)
        func found(_ stores: [NSPersistentStore]?) throws -> [[String]] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Doctor")
            request.affectedStores = stores
            for context in [root, middle, child] {
                #expect(try context.count(for: request) == context.fetch(request).count)
            }
            return try [root, middle, child].map { names(try $0.fetch(request)).sorted() }
        }
        let objects = try [(root, "1"), (middle, "2"), (child, "3")].flatMap { context, name in
            let plain = context.make("Doctor", ["name": "plain \(name)"])
            let chosen = context.make("Doctor", ["name": "chosen \(name)"])
            context.assign(chosen, to: b)
            let early = context.make("Doctor", ["name": "early \(name)"])
            context.assign(early, to: b)
            try context.obtainPermanentIDs(for: [early])
            return [plain, chosen, early]
        }
        #expect(try found([a]) == [["plain 1"], ["plain 1", "plain 2"], ["plain 1", "plain 2", "plain 3"]])
        #expect(
            try found([b])
                == (1...3).map { level in ["chosen", "early"].flatMap { kind in (1...level).map { "\(kind) \($0)" } } })
        #expect(try found(nil).map(\.count) == [3, 6, 9])
        #expect(try found([a, b]).map(\.count) == [3, 6, 9])
        for context in [child, middle, root] { try context.save() }
        #expect(try found([a]) == Array(repeating: ["plain 1", "plain 2", "plain 3"], count: 3))
        #expect(objects.allSatisfy { !$0.objectID.isTemporaryID })
    }

    @Test(
        "8.13 Limit and offset of a fetch of certain stores count the unsaved objects of these stores only, in children too"
    )
    func limitOfCertainStores() throws {
        let (rig, a, b) = try two()
        let root = rig.context()
        for code in 0..<10 {
            root.assign(root.make("Doctor", ["name": "\(code)", "code": code]), to: code.isMultiple(of: 2) ? a : b)
        }
        try root.save()
        let middle = root.child()
        let child = middle.child()
        for (context, code) in [(root, -5), (middle, -4)] {
            context.assign(context.make("Doctor", ["name": "\(code)", "code": code]), to: b)
        }
        let request = NSFetchRequest<NSManagedObject>("Doctor", by: "code")
        func expect(_ stores: [NSPersistentStore]?, limit: Int, offset: Int, _ top: [String], _ below: [String]) throws
        {
            (request.affectedStores, request.fetchLimit, request.fetchOffset) = (stores, limit, offset)
            for (context, expected) in [(root, top), (middle, below), (child, below)] {
                #expect(names(try context.fetch(request)) == expected)
                #expect(try context.count(for: request) == expected.count)
            }
        }
        try expect([a], limit: 3, offset: 0, ["0", "2", "4"], ["0", "2", "4"])
        try expect([a], limit: 0, offset: 2, ["4", "6", "8"], ["4", "6", "8"])
        try expect([b], limit: 2, offset: 1, ["1", "3"], ["-4", "1"])
        try expect([a, b], limit: 2, offset: 1, ["0", "1"], ["-4", "0"])
        try expect(nil, limit: 3, offset: 0, ["-5", "0", "1"], ["-5", "-4", "0"])
    }

    @Test("A save writes each store its part, and tells of all in one notification")
    func oneSave() throws {
        let (rig, a, b) = try two(NSSQLiteStoreType, NSPropertyListStoreType)
        let context = rig.context()
        let log = NotificationLog(context)
        let first = context.make("Doctor", ["name": "one"])
        let second = context.make("Doctor", ["name": "two"])
        context.assign(second, to: b)
        try context.save()
        #expect(log.entries.filter { $0.name == "didSave:" }.count == 1)
        #expect(log.objects(log.entries.count - 1, NSInsertedObjectsKey) == [first, second])
        first.setValue("uno", forKey: "name")
        context.delete(second)
        try context.save()
        #expect(names(try rig.context().all("Doctor")) == ["uno"] && first.objectID.persistentStore === a)
        #expect(!context.hasChanges)
    }

    @Test("When a later store fails, what the earlier ones wrote is saved and the rest waits; nothing is written twice")
    func partly() throws {
        let rig = Rig()
        let a = try rig.add(NSSQLiteStoreType, "a")
        let b = try rig.add(BoxStore.type, "partly-b")
        let context = rig.context()
        let old = context.make("Doctor", ["name": "old"])
        try context.save()
        old.setValue("older", forKey: "name")
        let first = context.make("Doctor", ["name": "one"])
        let second = context.make("Doctor", ["name": "two"])
        context.assign(second, to: b)
        let log = NotificationLog(context)
        try FileManager.default.createDirectory(at: rig.folder.file("x"), withIntermediateDirectories: true)
        let away = b.url
        b.url = rig.folder.file("x")
        #expect(throws: (any Error).self) { try context.save() }
        b.url = away
        #expect(!old.hasChanges && !first.hasChanges && first.objectID.persistentStore === a)
        #expect(second.isInserted && second.objectID.isTemporaryID && context.hasChanges)
        #expect(log.entries.last?.name == "didSave:")
        #expect(log.objects(log.entries.count - 1, NSInsertedObjectsKey) == [first])
        #expect(log.objects(log.entries.count - 1, NSUpdatedObjectsKey) == [old])
        try context.save()
        #expect(names(try rig.context().all("Doctor")).sorted() == ["older", "one", "two"])
        old.setValue("oldest", forKey: "name")
        try context.save()
    }

    @Test("A change in a read-only store stops the save before anything is written")
    func readOnlyAmongOthers() throws {
        let (rig, _, b) = try two(NSSQLiteStoreType, NSXMLStoreType)
        let context = rig.context()
        let first = context.make("Doctor", ["name": "one"])
        let second = context.make("Doctor", ["name": "two"])
        context.assign(second, to: b)
        try context.save()
        b.isReadOnly = true
        first.setValue("uno", forKey: "name")
        second.setValue("due", forKey: "name")
        #expect(code { try context.save() } == 134030)
        #expect(names(try rig.context().all("Doctor")).sorted() == ["one", "two"])
        context.refresh(second, mergeChanges: false)
        try context.save()
    }

    @Test("One file cannot be two stores of a coordinator")
    func twice() throws {
        let rig = Rig()
        try rig.add()
        #expect(code { try rig.add() } == 134080)
        #expect(rig.coordinator.persistentStores.count == 1)
    }

    @Test("A copy of a store that is open becomes a store of its own once it has another UUID")
    func copy() throws {
        let rig = Rig()
        let store = try rig.add()
        let copy = rig.folder.file("copy.sqlite")
        try rig.coordinator.backup(to: copy)
        func add() throws {
            try rig.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: copy)
        }
        #expect(code { try add() } == 134080)
        #expect(rig.coordinator.persistentStores == [store])
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: copy)
        metadata[NSStoreUUIDKey] = UUID().uuidString
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: copy)
        try add()
        #expect(Set(rig.coordinator.persistentStores.map(\.identifier)).count == 2)
    }

    @Test(
        "A configuration that the model lacks is refused with 134020",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, BoxStore.type])
    func configuration(_ type: String) {
        let rig = Rig()
        #expect(code { try rig.add(type, configuration: "Nowhere") } == 134020)
    }
}
