// Turning into faults, refreshing, and how old a row may be.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// A patient that writes down how it falls asleep and wakes.
final class Sleeper: NSManagedObject {
    var calls: [String] = []
    /// Run by `awakeFromFetch`.
    static nonisolated(unsafe) var atWaking: ((Sleeper) -> Void)?

    override func awakeFromFetch() {
        super.awakeFromFetch()
        calls.append("awakeFromFetch")
        Sleeper.atWaking?(self)
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        calls.append("will \(value(forKey: "name") ?? "nil") \(isFault)")
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        calls.append("did \(isFault)")
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        if flags.contains(.refresh) { calls.append("refresh \(value(forKey: "name") ?? "nil")") }
    }

    static func model() -> NSManagedObjectModel { Watched.model("FaultTests.Sleeper") }
}

@Suite(.serialized) struct RefreshTests {
    // MARK: Faults

    @Test("1.4 awakeFromFetch runs at each fulfilment; what it sets makes nothing dirty and keeps no inverse")
    func waking() throws {
        let stack = try Stack(model: Sleeper.model())
        let ward = stack.context.make("Ward", ["name": "East"])
        let doctor = stack.context.make("Doctor", ["name": "Dr"])
        _ = try stack.saved()
        let (wardID, doctorID) = (ward.objectID, doctor.objectID)
        Sleeper.atWaking = { sleeper in
            sleeper.setValue(7, forKey: "code")
            sleeper.setValue(sleeper.managedObjectContext?.object(with: wardID), forKey: "ward")
            if let doctor = sleeper.managedObjectContext?.object(with: doctorID) {
                sleeper.setValue(NSSet(object: doctor), forKey: "doctors")
            }
        }
        defer { Sleeper.atWaking = nil }
        let other = stack.another()
        let found = try #require(try other.all("Patient").first as? Sleeper)
        #expect(found.calls.isEmpty)
        #expect(found.name == "Ada")
        #expect(found.calls == ["awakeFromFetch"])
        #expect(found.value(forKey: "code") as? Int == 7)
        #expect(!found.hasChanges && !other.hasChanges)
        let east = other.object(with: wardID)
        #expect(!east.hasChanges)
        #expect((east.value(forKey: "patients") as? NSSet)?.count == 0)
        #expect((found.value(forKey: "doctors") as? NSSet)?.count == 1)
        #expect((other.object(with: doctorID).value(forKey: "patients") as? NSSet)?.count == 0)
        other.refresh(found, mergeChanges: false)
        _ = found.name
        #expect(found.calls.filter { $0 == "awakeFromFetch" }.count == 2)
    }

    /// How a fault comes about, and how its first value is read.
    enum FirstRead: CaseIterable { case fetched, named, inChild, primitive }

    @Test("1.4 The read that fires a fault answers what awakeFromFetch has set", arguments: FirstRead.allCases)
    func firstRead(_ way: FirstRead) throws {
        let stack = try Stack(model: Sleeper.model())
        let made = try stack.saved()
        let ward = stack.context.make("Ward", ["name": "East"])
        try stack.context.save()
        let parent = stack.another(), child = parent.child()
        let values: [String: Any] = [
            "code": 7, "name": "Eve", "tag": UUID(), "fee": NSDecimalNumber(value: 2), "photo": Data([1]),
        ]
        Sleeper.atWaking = { sleeper in
            for (key, value) in values { sleeper.setPrimitiveValue(value, forKey: key) }
            sleeper.setValue(sleeper.managedObjectContext?.object(with: ward.objectID), forKey: "ward")
        }
        defer { Sleeper.atWaking = nil }
        for (key, value) in values.merging(["ward": ward.objectID], uniquingKeysWith: { a, _ in a }) {
            let context = way == .inChild ? child : parent
            context.refreshAllObjects()
            let sleeper =
                way == .named ? context.object(with: made.objectID) : try #require(try context.all("Patient").first)
            #expect(sleeper.isFault)
            let first = way == .primitive ? sleeper.primitiveValue(forKey: key) : sleeper.value(forKey: key)
            #expect(((first as? NSManagedObject)?.objectID ?? first as? NSObject) == value as? NSObject, "\(key)")
        }
    }

    @Test("1.10 willTurnIntoFault may read values; didTurnIntoFault finds a fault")
    func fallingAsleep() throws {
        let stack = try Stack(model: Sleeper.model())
        let sleeper = try #require(try stack.saved() as? Sleeper)
        stack.context.refresh(sleeper, mergeChanges: false)
        #expect(sleeper.calls == ["will Ada false", "did true"])
        // It is one already.
        stack.context.refresh(sleeper, mergeChanges: false)
        #expect(sleeper.calls.count == 2)
        #expect(sleeper.isFault)
    }

    @Test("1.11 The state of a fault is read without firing it; a fault may have its data in memory")
    func quietState() throws {
        let stack = try Stack()
        let made = try stack.saved()
        let other = stack.another()
        let fault = other.object(with: made.objectID)
        let run = stack.statements {
            #expect(fault.isFault && fault.faultingState != 0)
            #expect(!fault.isDeleted && !fault.isInserted && !fault.isUpdated && !fault.hasChanges)
            #expect(fault.hasFault(forRelationshipNamed: "ward") && fault.hasFault(forRelationshipNamed: "visits"))
            #expect(fault.objectID == made.objectID)
            #expect(fault.isFault)
            // The row is in the cache.
            #expect(fault.name == "Ada")
        }
        #expect(run == 0)
        #expect(!fault.isFault && fault.faultingState == 0)
    }

    @Test(
        "1.15 One object for an ID; object(with:) checks nothing, existingObject(with:) does, registeredObject(for:) asks nobody"
    )
    func uniquing() throws {
        let stack = try Stack()
        let made = try stack.saved()
        let id = made.objectID
        let other = stack.another()
        stack.expectStatements(0) { #expect(other.registeredObject(for: id) == nil) }
        stack.coordinator.rowCache.removeAll()
        let existing = try other.existingObject(with: id)
        #expect(!existing.isFault)
        #expect(other.object(with: id) === existing && other.registeredObject(for: id) === existing)
        #expect(try other.all("Patient").first === existing)
        stack.context.delete(made)
        try stack.context.save()
        let late = stack.another()
        let run = stack.statements { #expect(late.object(with: id).isFault) }
        #expect(run == 0)
        #expect(throws: CocoaError.self) { try late.existingObject(with: id) }
    }

    // MARK: Refreshing

    @Test(
        "5.6 A refresh takes the coordinator's row unless it is older than stalenessInterval; changes stay when merged")
    func staleness() throws {
        let stack = try Stack()
        let made = try stack.saved()
        let context = stack.context
        #expect(context.stalenessInterval == -1)
        try stack.rename("Eve")
        context.refresh(made, mergeChanges: true)
        stack.expectStatements(0) { #expect(made.name == "Ada") }
        context.stalenessInterval = 3600
        context.refresh(made, mergeChanges: false)
        #expect(made.name == "Ada")
        context.stalenessInterval = 0
        context.refresh(made, mergeChanges: false)
        #expect(made.isFault)
        #expect(made.name == "Eve")
        try stack.rename("Ida")
        context.stalenessInterval = 0.01
        Thread.sleep(forTimeInterval: 0.05)
        context.refresh(made, mergeChanges: false)
        #expect(made.name == "Ida")

        try stack.rename("Uma")
        made.setValue(44, forKey: "age")
        context.stalenessInterval = 0
        context.refresh(made, mergeChanges: true)
        #expect(!made.isFault)
        #expect(made.value(forKey: "age") as? Int == 44 && made.name == "Uma" && made.isUpdated)
        try context.save()
        context.refresh(made, mergeChanges: false)
        #expect(made.value(forKey: "age") as? Int == 44)
    }

    @Test("5.6 A refresh without merging drops the changes and lets related objects go")
    func dropping() throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        let made = try stack.saved()
        weak var visit: NSManagedObject?
        do {
            let added = context.make("Visit", ["note": "n"])
            visit = added
            added.setValue(made, forKey: "patient")
            try context.save()
            #expect((made.value(forKey: "visits") as? NSOrderedSet)?.count == 1)
        }
        made.setValue("Eve", forKey: "name")
        context.refresh(made, mergeChanges: false)
        context.processPendingChanges()
        #expect(made.isFault && !made.hasChanges && !context.hasChanges)
        #expect(visit == nil)
        #expect(made.name == "Ada")
    }

    @Test("A merged refresh tells the object; what it writes then is no change")
    func snapshotEvent() throws {
        let stack = try Stack(model: Sleeper.model())
        let sleeper = try #require(try stack.saved() as? Sleeper)
        sleeper.setValue("Eve", forKey: "name")
        stack.context.refresh(sleeper, mergeChanges: true)
        #expect(sleeper.calls.contains("refresh Eve"))
        #expect(!sleeper.calls.contains { $0.hasPrefix("will") })
    }

    @Test("5.7 refreshAllObjects keeps changed objects loaded, makes all others faults, and tells of all at once")
    func refreshAll() throws {
        let stack = try Stack()
        let context = stack.context
        let patients = ["a", "b", "c"].map { context.make("Patient", ["name": $0]) }
        try context.save()
        patients[0].setValue("z", forKey: "name")
        context.processPendingChanges()
        let log = NotificationLog(context)
        context.refreshAllObjects()
        #expect(patients.map(\.isFault) == [false, true, true])
        #expect(patients[0].name == "z" && patients[0].isUpdated)
        #expect(log.entries.map(\.name) == ["didChange"])
        #expect(log.objects(0, NSRefreshedObjectsKey) == Set(patients))
        #expect(patients[1].name == "b")
    }

    @Test("5.8 Refreshing a deletion takes it back; an insertion stays one")
    func pending() throws {
        let stack = try Stack()
        let context = stack.context
        let made = try stack.saved()
        context.delete(made)
        context.refresh(made, mergeChanges: false)
        #expect(made.isFault && !made.isDeleted && !context.hasChanges)
        let new = context.make("Patient", ["name": "Eve"])
        context.refresh(new, mergeChanges: false)
        #expect(!new.isFault && new.isInserted && new.name == "Eve")
        try context.save()
        #expect(try stack.another().all("Patient").count == 2)
    }

    @Test("5.5 reset forgets all objects and posts their IDs; an old object belongs to no context")
    func resetting() throws {
        let stack = try Stack()
        let context = stack.context
        let made = try stack.saved()
        let new = context.make("Patient", ["name": "Eve"])
        context.processPendingChanges()
        let log = NotificationLog(context)
        context.reset()
        #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        #expect(log.entries.map(\.name) == ["didChange"])
        let ids = log.entries[0].info[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
        #expect(ids?.count == 2)
        #expect(made.managedObjectContext == nil && new.managedObjectContext == nil)
        #expect(context.registeredObject(for: made.objectID) == nil)
        let again = context.object(with: made.objectID)
        #expect(again !== made && again.name == "Ada")
    }

    // MARK: Fetching again

    @Test("8.4 A fetch leaves values alone, and renews them when the request says so; changes stay on top")
    func refetching() throws {
        let stack = try Stack()
        let context = stack.context
        let (clean, changed) = (context.make("Patient", ["name": "a"]), context.make("Patient", ["name": "b"]))
        try context.save()
        changed.setValue(5, forKey: "age")
        try stack.rename("z")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        #expect(!request.shouldRefreshRefetchedObjects)
        _ = try context.fetch(request)
        #expect(clean.name == "a" && changed.name == "b")
        request.shouldRefreshRefetchedObjects = true
        let log = NotificationLog(context)
        _ = try context.fetch(request)
        #expect(clean.name == "z" && changed.name == "z")
        #expect(!clean.hasChanges && changed.value(forKey: "age") as? Int == 5)
        context.processPendingChanges()
        #expect(log.objects(0, NSRefreshedObjectsKey).contains(clean))
        try context.save()
        #expect(try stack.another().existingObject(with: changed.objectID).value(forKey: "age") as? Int == 5)
    }
}
