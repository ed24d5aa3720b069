// Controllers of fetched results: forms of delegates, sections, titles, caches, errors, and what reaches them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A delegate that needs to know nothing.
private final class Ear: NSFetchedResultsControllerDelegate {}

@Suite struct FetchedResultsTests {
    private static let isShelved = "shelf"

    private func words(_ body: () throws -> Void) -> String {
        let error = #expect(throws: CocoaError.self, performing: body)
        #expect(error?.code.rawValue == 134060)
        return "\(error.map { $0 as Any } ?? "")"
    }

    private func controller(
        _ stack: Stack, _ request: NSFetchRequest<NSManagedObject> = Shelf.request(), section: String? = "shelf",
        cache: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: section, cacheName: cache)
    }

    // MARK: Results

    @Test("Objects, paths, sections and titles")
    func results() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let controller = shelves.controller
        #expect(controller.names == ["A: a10 a20 a30", "B: b10 b20", "C: c10"])
        #expect(controller.sections?.map(\.numberOfObjects) == [3, 2, 1])
        #expect(controller.sectionIndexTitles == ["A", "B", "C"])
        #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 1)
        let path = IndexPath(row: 1, section: 1)
        let object = controller.object(at: path)
        #expect(object.value(forKey: "name") as? String == "b20")
        #expect(controller.indexPath(forObject: object) == path)
        let hidden = try #require(
            try shelves.stack.context.fetch(Shelf.request(shown: false)).first {
                $0.value(forKey: "name") as? String == "h25"
            })
        #expect(controller.indexPath(forObject: hidden) == nil)
        #expect(controller.snapshot.itemIdentifiers(inSection: "B").count == 2)
        #expect(controller.snapshot.itemIdentifiers == controller.fetchedObjects?.map(\.objectID))
    }

    @Test("Before the first fetch there is nothing; without a section key path there is one section, of none too")
    func noSections() throws {
        let stack = try Stack(NSInMemoryStoreType, model: Shelf.model())
        let controller = controller(stack, section: nil)
        #expect(controller.fetchedObjects == nil && controller.sections == nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.isEmpty == true && controller.sections?.map(\.numberOfObjects) == [0])
        #expect(controller.snapshot.numberOfSections == 1)
    }

    @Test("Sections of numbers, of nil, of a class's own property, and by a relationship")
    func sectionNames() throws {
        let shelves = try Shelves(NSSQLiteStoreType, sort: ["rank", "name"], section: "rank")
        #expect(shelves.controller.sections?.map(\.name) == ["10", "20", "30"])
        let context = shelves.stack.context
        let byBox = controller(shelves.stack, Shelf.request(["box.label", "name"]), section: "box.label")
        let box = context.make("Box", ["label": "big"])
        shelves.controller.object(at: IndexPath(row: 0, section: 0)).setValue(box, forKey: "box")
        try byBox.performFetch()
        #expect(byBox.names == [": a20 a30 b10 b20 c10", "big: a10"])
        let copy = Copy()
        copy.start(byBox)
        box.setValue("small", forKey: "label")
        context.processPendingChanges()
        #expect(byBox.names.last == "small: a10" && copy.names == byBox.names)
        #expect(copy.told == ["S-1", "S+1", "1.0>1.0"], "The object moved as its box was renamed.")
    }

    @Test("Names that differ in bytes alone are names of different sections, in the order of the objects")
    func equivalentNames() throws {
        let stack = try Stack(NSSQLiteStoreType, model: Shelf.model())
        let names = ["e\u{301}", "z", "\u{e9}"]
        for name in names.reversed() { _ = stack.context.make("Thing", ["shelf": name, "name": "a"]) }
        let controller = controller(stack)
        try controller.performFetch()
        let scalars = controller.sections?.map { Array($0.name.unicodeScalars) }
        #expect(scalars == names.map { Array($0.unicodeScalars) })
        let snapshot = controller.snapshot
        for (place, name) in names.enumerated() {
            #expect(snapshot.itemIdentifiers(inSection: name) == snapshot.itemIdentifiers(inSection: place))
        }
        let copy = Copy()
        copy.start(controller)
        controller.object(at: IndexPath(row: 0, section: 2)).setValue("e\u{301}", forKey: "shelf")
        stack.context.processPendingChanges()
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1] && copy.names == controller.names)
    }

    @Test("What cannot be followed is refused, and the former results stay")
    func refusals() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let (stack, controller) = (shelves.stack, shelves.controller)
        #expect(
            words { try self.controller(stack, Shelf.request([])).performFetch() }.contains(
                "needs a fetch request with sort descriptors"))
        let former = controller.names
        controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
        #expect(words { try controller.performFetch() }.contains("not sorted by section"))
        #expect(controller.names == former)
        let saved = Shelf.request()
        saved.includesPendingChanges = false
        #expect(throws: CocoaError.self) { try self.controller(stack, saved).performFetch() }
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
        ids.resultType = .managedObjectIDResultType
        ids.sortDescriptors = Shelf.request().sortDescriptors
        #expect(throws: CocoaError.self) {
            try NSFetchedResultsController(
                fetchRequest: ids, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil
            ).performFetch()
        }
    }

    @Test("A path, or a title, that is not there ends the process")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            let shelves = try Shelves(NSInMemoryStoreType)
            _ = shelves.controller.object(at: IndexPath(row: 3, section: 0))
        }
        await #expect(processExitsWith: .failure) {
            let shelves = try Shelves(NSInMemoryStoreType)
            _ = shelves.controller.section(forSectionIndexTitle: "B", at: 0)
        }
    }

    // MARK: Requests and caches

    @Test("A changed request counts from the next performFetch on; a cache has to be deleted first")
    func changedRequest() throws {
        let stack = try Stack(NSInMemoryStoreType, model: Shelf.model())
        for name in ["a10", "a20", "b10"] { Shelves.add(name, stack.context) }
        let controller = controller(stack, cache: "FetchedResultsTests")
        defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "FetchedResultsTests") }
        try controller.performFetch()
        try controller.performFetch()
        controller.fetchRequest.predicate = NSPredicate(format: "rank > 10")
        Shelves.add("a05", stack.context)
        stack.context.processPendingChanges()
        #expect(words { try controller.performFetch() }.contains("deleteCache(withName:)"))
        #expect(controller.names == ["A: a10 a20", "B: b10"])
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "FetchedResultsTests")
        try controller.performFetch()
        #expect(controller.names == ["A: a20"])
        let copy = Copy()
        copy.start(controller)
        Shelves.add("a06", stack.context)
        Shelves.add("b30", stack.context)
        stack.context.processPendingChanges()
        #expect(controller.names == ["A: a20", "B: b30"] && copy.names == controller.names)
        controller.fetchRequest.predicate = nil
        #expect(words { try controller.performFetch() }.contains("deleteCache(withName:)"))
        // Without a name all caches go. No other test has one.
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
        try controller.performFetch()
        #expect(controller.names == ["A: a05 a06 a10 a20", "B: b10 b30"])
    }

    // MARK: Forms of delegates

    private final class Differences: NSFetchedResultsControllerDelegate {
        var ids: [NSManagedObjectID] = []
        var calls = 0
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) {
            calls += 1
            ids = ids.applying(diff) ?? []
        }
        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            Issue.record("Only the difference is told.")
        }
    }

    @Test("A difference of IDs leads from one list to the next")
    func differences() throws {
        let shelves = try Shelves(NSSQLiteStoreType, sort: ["rank", "name"], section: nil)
        try shelves.lookUp()
        let delegate = Differences()
        delegate.ids = shelves.controller.fetchedObjects?.map(\.objectID) ?? []
        shelves.controller.delegate = delegate
        for edit in ["+a15", "-a10", "a20=a90 b10=b70", "h25^ +c01", "c10#"] {
            try shelves.edit(edit)
            #expect(delegate.ids == shelves.controller.fetchedObjects?.map(\.objectID))
        }
        #expect(delegate.calls == 5)
    }

    private final class Snapshots: NSFetchedResultsControllerDelegate {
        var last: FetchedResultsSnapshot?
        var calls = 0
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith snapshot: FetchedResultsSnapshot
        ) {
            calls += 1
            last = snapshot
        }
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            sectionIndexTitleForSectionName sectionName: String
        ) -> String? { sectionName == "B" ? nil : "-\(sectionName)" }
    }

    @Test("A snapshot has the IDs by section and what was updated; performFetch tells one as well")
    func snapshots() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        try shelves.lookUp()
        let delegate = Snapshots()
        shelves.controller.delegate = delegate
        try shelves.controller.performFetch()
        #expect(delegate.calls == 1 && delegate.last == shelves.controller.snapshot)
        try shelves.edit("a10! -b10 c10=a50")
        let last = try #require(delegate.last)
        #expect(last.sectionIdentifiers == ["A", "B"] && last.itemIdentifiers(inSection: 0).count == 4)
        #expect(last.itemIdentifiers(inSection: "B").count == 1 && last.itemIdentifiers(inSection: "C").isEmpty)
        #expect(
            last.reloadedItemIdentifiers == [shelves.controller.object(at: IndexPath(item: 0, section: 0)).objectID])
        #expect(shelves.controller.sectionIndexTitles == ["-A"], "The delegate names the sections, B not at all.")
    }

    @Test("A save that gives permanent IDs tells the snapshot anew, once, and a save of known objects does not")
    func permanentIDs() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        try shelves.lookUp()
        let delegate = Snapshots()
        shelves.controller.delegate = delegate
        try shelves.controller.performFetch()
        let context = shelves.controller.managedObjectContext
        let first = shelves.controller.object(at: IndexPath(item: 0, section: 0))
        let new = NSManagedObject(entity: first.entity, insertInto: context)
        for key in first.entity.attributesByName.keys { new.setValue(first.value(forKey: key), forKey: key) }
        context.processPendingChanges()
        #expect(delegate.calls == 2 && delegate.last?.itemIdentifiers.contains(new.objectID) == true)
        #expect(new.objectID.isTemporaryID)
        try context.save()
        #expect(delegate.calls == 3 && delegate.last == shelves.controller.snapshot)
        #expect(delegate.last?.itemIdentifiers.contains { $0.isTemporaryID } == false)
        first.setValue(first.value(forKey: "name"), forKey: "name")
        try context.save()
        #expect(delegate.last?.itemIdentifiers == shelves.controller.snapshot.itemIdentifiers)
        let calls = delegate.calls
        try context.save()
        #expect(delegate.calls == calls)
    }

    @Test("A sequence tells each event to a reader elsewhere, and ends with the controller")
    func sequence() async throws {
        var shelves: Shelves? = try Shelves(NSSQLiteStoreType)
        shelves?.controller.delegate = nil
        let changes = try #require(shelves?.controller.changes)
        let reader = Task { await changes.reduce(into: [String]()) { $0.append(Self.brief($1)) } }
        try shelves?.lookUp()
        for edit in ["+a05", "c10=a90", "a10!", "h25!"] { try shelves?.edit(edit) }
        shelves = nil
        #expect(await reader.value == ["+0.0", "S-2 2.0>0.4", "~0.1"])
    }

    private static func brief(_ changes: FetchedResultsChanges) -> String {
        let items = changes.items.map { item in
            let (old, new) = (
                item.indexPath.map { "\($0.section).\($0.row)" } ?? "",
                item.newIndexPath.map { "\($0.section).\($0.row)" } ?? ""
            )
            return switch item.type {
            case .insert: "+\(new)"
            case .delete: "-\(old)"
            case .move: "\(old)>\(new)"
            case .update: "~\(new)"
            }
        }
        return (changes.sections.map { "S\($0.type == .insert ? "+" : "-")\($0.index)" } + items).joined(separator: " ")
    }

    @Test("A delegate gets the very controller, and may change objects meanwhile")
    func identity() throws {
        final class Meddler: NSFetchedResultsControllerDelegate {
            var events: [Bool] = []
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                let isTyped = (controller as AnyObject) is NSFetchedResultsController<NSManagedObject>
                events.append(isTyped && controller.fetchedObjects?.count == 6 + events.count + 1)
                guard events.count < 3 else { return }
                Shelves.add("c\(20 + events.count)", controller.managedObjectContext)
                controller.managedObjectContext.processPendingChanges()
            }
        }
        let shelves = try Shelves(NSInMemoryStoreType)
        let meddler = Meddler()
        shelves.controller.delegate = meddler
        Shelves.add("a05", shelves.stack.context)
        shelves.stack.context.processPendingChanges()
        #expect(meddler.events == [true, true, true])
    }

    @Test("Without a delegate nothing is followed; a delegate that goes is not told")
    func noDelegate() throws {
        let shelves = try Shelves(NSInMemoryStoreType)
        shelves.controller.delegate = nil
        Shelves.add("a05", shelves.stack.context)
        shelves.stack.context.processPendingChanges()
        #expect(shelves.controller.fetchedObjects?.count == 6)
        try shelves.controller.performFetch()
        #expect(shelves.controller.fetchedObjects?.count == 7)
        shelves.controller.delegate = Differences()
        Shelves.add("a06", shelves.stack.context)
        shelves.stack.context.processPendingChanges()
        #expect(shelves.controller.delegate == nil && shelves.controller.fetchedObjects?.count == 7)
    }

    // MARK: Other writers

    @Test("What another context saves is told once it is merged, of objects without values too")
    func merges() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let context = shelves.stack.context
        context.refreshAllObjects()
        #expect(shelves.copy.told == (0..<3).map { "~0.\($0)" } + ["~1.0", "~1.1", "~2.0"])
        context.automaticallyMergesChangesFromParent = true
        let other = shelves.stack.another()
        let things = try other.fetch(Shelf.request())
        things[0].setValue(Int64(35), forKey: "rank")
        things[3].setValue("C", forKey: "shelf")
        other.delete(things[5])
        Shelves.add("a01", other)
        try other.save()
        context.performAndWait {}
        #expect(shelves.controller.names == ["A: a01 a20 a30 a10", "B: b20", "C: b10"])
        #expect(shelves.copy.names == shelves.controller.names)
        #expect(shelves.copy.told == ["-2.0", "+0.0", "0.0>0.3", "1.0>2.0"])
    }

    @Test("Results whose values nobody has read yet move as well when a merge changes them")
    func unreadResults() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let viewer = shelves.stack.another()
        let controller = NSFetchedResultsController(
            fetchRequest: Shelf.request(["rank", "name"]), managedObjectContext: viewer, sectionNameKeyPath: nil,
            cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.allSatisfy(\.isFault) == true)
        let copy = Copy()
        copy.start(controller)
        let other = shelves.stack.another()
        for thing in try other.fetch(Shelf.request(["rank", "name"])).prefix(1) {
            thing.setValue(Int64(90), forKey: "rank")
        }
        viewer.automaticallyMergesChangesFromParent = true
        try other.save()
        viewer.performAndWait {}
        #expect(copy.told == ["0.0>0.5"] && copy.names == controller.names)
    }

    @Test("A child's push, a batch deletion and a reset are told")
    func otherWays() throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let context = shelves.stack.context
        let child = context.child()
        try child.performAndWait {
            try #require(try child.fetch(Shelf.request()).first).setValue("D", forKey: "shelf")
            try child.save()
        }
        context.processPendingChanges()
        #expect(shelves.copy.told == ["S+3", "0.0>3.0"])
        try context.save()
        let rows = NSFetchRequest<any NSFetchRequestResult>("Thing", "shelf == 'B'")
        let deletion = NSBatchDeleteRequest(fetchRequest: rows)
        deletion.refreshesRegisteredObjects = true
        _ = try context.execute(deletion)
        context.processPendingChanges()
        #expect(
            shelves.controller.names == ["A: a20 a30", "C: c10", "D: a10"]
                && shelves.copy.names == shelves.controller.names)
        let former = shelves.controller.fetchedObjects?.map(\.objectID)
        let events = shelves.copy.eventCount
        context.reset()
        #expect(shelves.controller.fetchedObjects?.map(\.objectID) == former && shelves.copy.eventCount == events)
        #expect(shelves.controller.names == ["A: a20 a30", "C: c10", "D: a10"])
    }

    /// Resets the context while it is told, once.
    private final class Resetting: NSObject, NSFetchedResultsControllerDelegate {
        var isDone = false
        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            guard !isDone else { return }
            isDone = true
            controller.managedObjectContext.reset()
        }
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {}
    }

    @Test("A reset while the delegate is told leaves what a fetch finds", arguments: StoreMaker.types)
    func resetMeanwhile(_ type: String) throws {
        let shelves = try Shelves(type)
        let (context, controller, delegate) = (shelves.stack.context, shelves.controller, Resetting())
        controller.delegate = delegate
        Shelves.add("a25", context)
        context.processPendingChanges()
        #expect(delegate.isDone)
        #expect(controller.names == ["A: a10 a20 a30", "B: b10 b20", "C: c10"])
        #expect(controller.fetchedObjects == (try context.fetch(controller.fetchRequest)))
        Shelves.add("c20", context)
        context.processPendingChanges()
        #expect(controller.names == ["A: a10 a20 a30", "B: b10 b20", "C: c10 c20"])
        #expect(controller.fetchedObjects == (try context.fetch(controller.fetchRequest)))
    }

    @Test("Threads that save meanwhile: the list is what the last merge leaves")
    func threads() async throws {
        let shelves = try Shelves(NSSQLiteStoreType)
        let context = shelves.stack.context
        context.automaticallyMergesChangesFromParent = true
        nonisolated(unsafe) let stack = shelves.stack
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<25 {
                        let other = stack.another()
                        other.performAndWait {
                            Shelves.add("\(["a", "b", "c", "d"][writer])\(10 + round)", other)
                            try? other.save()
                        }
                    }
                }
            }
        }
        context.performAndWait {}
        #expect(shelves.controller.fetchedObjects?.count == 106)
        #expect(shelves.copy.names == shelves.controller.names)
        #expect(try context.fetch(Shelf.request(["shelf", "rank"])) == shelves.controller.fetchedObjects)
    }

    @Test("An object that the predicate names may get another ID: by a save, or when its deletion is undone")
    func renamedConstant() throws {
        let stack = try Stack()
        let context = stack.context
        let ward = context.make("Ward", ["name": "North"])
        let patient = context.make("Patient", ["name": "one"])
        patient.setValue(ward, forKey: "ward")
        let request = NSFetchRequest<NSManagedObject>("Patient", "ward == %@", ward, by: "name")
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let ear = Ear()
        controller.delegate = ear
        try controller.performFetch()
        try context.save()
        let second = context.make("Patient", ["name": "two"])
        second.setValue(ward, forKey: "ward")
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [patient, second])
        patient.setValue("zero", forKey: "name")
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [second, patient])
        try context.save()
        context.delete(ward)
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [])
        try context.save()
        context.undo()
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [second, patient])
        withExtendedLifetime(ear) {}
    }

    @Test("A cached fetch stays the same when the object that its predicate names changes")
    func namedCache() throws {
        let stack = try Stack()
        let ward = stack.context.make("Ward", ["name": "North"])
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>("Patient", "ward == %@", ward, by: "name")
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: "named")
        defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "named") }
        try controller.performFetch()
        ward.setValue("South", forKey: "name")
        try stack.context.save()
        try controller.performFetch()
    }
}
