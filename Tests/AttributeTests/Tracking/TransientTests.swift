// Attributes and relationships that no store has.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Transient properties") struct TransientTests {
    @Test(
        "1.13 a transient attribute is reset to its default by refreshAllObjects, refresh without merging, and reset",
        arguments: StoreMaker.types)
    func reset(_ type: String) throws {
        let stack = try Lab.stack(type)
        let context = stack.context
        let site = context.make("Site", ["name": "a"])
        #expect(site.int("speed") == 7)
        site.setValue(50, forKey: "speed")
        site.setValue("n", forKey: "note")
        try context.save()
        #expect(site.int("speed") == 50 && site.text("note") == "n")
        context.refreshAllObjects()
        #expect(site.int("speed") == 7 && site.text("note") == nil)
        site.setValue(51, forKey: "speed")
        context.refresh(site, mergeChanges: false)
        #expect(site.isFault)
        #expect(site.int("speed") == 7 && !site.hasChanges)
        site.setValue(52, forKey: "speed")
        #expect(site.hasChanges)
        context.refreshAllObjects()
        #expect(site.int("speed") == 7 && !site.hasChanges && !context.hasChanges)
        site.setValue(53, forKey: "speed")
        try context.save()
        let id = site.objectID
        context.reset()
        #expect(context.object(with: id).int("speed") == 7)
    }

    @Test(
        "1.13 a transient attribute is not affected by refresh with merging, be the object changed or not",
        arguments: StoreMaker.types)
    func merged(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["name": "a", "speed": 50])
        try stack.context.save()
        stack.context.refresh(site, mergeChanges: true)
        #expect(site.int("speed") == 50 && site.text("name") == "a" && !site.hasChanges)
        site.setValue(51, forKey: "speed")
        stack.context.refresh(site, mergeChanges: true)
        #expect(site.int("speed") == 51 && site.hasChanges)
        site.setValue("b", forKey: "name")
        stack.context.refresh(site, mergeChanges: true)
        #expect(site.int("speed") == 51 && site.text("name") == "b")
    }

    @Test(
        "1.13 changing a transient attribute changes the object, but nothing that would be saved",
        arguments: StoreMaker.types)
    func changes(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["name": "a"])
        try stack.context.save()
        site.setValue(50, forKey: "speed")
        #expect(site.hasChanges && stack.context.hasChanges && !site.hasPersistentChangedValues)
        #expect(site.changedValues().isEmpty)
        #expect(site.committedValues(forKeys: nil)["speed"] == nil)
        let version = site._state.version
        try stack.context.save()
        #expect(!site.hasChanges && site.int("speed") == 50)
        #expect(site._state.version == version)
        #expect(try stack.another().existingObject(with: site.objectID).int("speed") == 7)
        #expect(try stack.another().existingObject(with: site.objectID).text("note") == nil)
    }

    @Test(
        "1.13 a transient attribute is never usable in a predicate or a sort order of a fetch",
        arguments: StoreMaker.types)
    func fetching(_ type: String) throws {
        let stack = try Lab.stack(type)
        for pending in [false, true] {
            if pending { _ = stack.context.make("Site", ["speed": 1]) }
            for request in [Lab.request("Site", "speed == 1"), Lab.request("Site", "", sort: ["speed"])] {
                let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
                #expect(sentence(error).contains("speed") && sentence(error).contains("transient"))
            }
        }
        let site = stack.context.make("Site", ["speed": 9])
        #expect(NSPredicate(format: "speed == 9").evaluate(with: site))
    }

    @Test("Changes of transient attributes can be undone and done again", arguments: StoreMaker.types)
    func undo(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["speed": 1, "note": "a", "anything": [1, 2]])
        try stack.context.save()
        stack.context.processPendingChanges()
        site.setValue(2, forKey: "speed")
        site.setValue("b", forKey: "note")
        site.setValue(Tag(name: "t", weight: 1), forKey: "anything")
        stack.context.processPendingChanges()
        stack.context.undo()
        #expect(site.int("speed") == 1 && site.text("note") == "a")
        #expect(site.value(forKey: "anything") as? [Int] == [1, 2])
        #expect(!site.hasChanges)
        stack.context.redo()
        #expect(site.int("speed") == 2 && site.text("note") == "b")
        #expect(site.value(forKey: "anything", as: Tag.self)?.name == "t")
    }

    @Test("5.3 Undoing the first change of a transient attribute gives the default back", arguments: StoreMaker.types)
    func undoToDefault(_ type: String) throws {
        let stack = try Lab.stack(type)
        _ = stack.context.make("Site", ["name": "a"])
        try stack.context.save()
        stack.context.reset()
        let child = stack.context.child()
        for context in [stack.context, child] {
            context.undoManager = UndoManager()
            let site = try #require(try context.all("Site").first)
            #expect(site.int("speed") == 7 && site.text("note") == nil)
            site.setValue(50, forKey: "speed")
            site.setValue("b", forKey: "note")
            context.processPendingChanges()
            for _ in 0..<2 {
                context.undo()
                #expect(site.int("speed") == 7 && site.text("note") == nil && !site.hasChanges)
                context.redo()
                #expect(site.int("speed") == 50 && site.text("note") == "b")
            }
            context.undo()
        }
    }

    @Test(
        "An attribute of undefined type holds whatever it is given, one of type ObjectID an object ID",
        arguments: StoreMaker.types)
    func untyped(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site")
        try stack.context.save()
        let object = Marker(3)
        for value in [1, "x", object, [Tag(name: "a", weight: 2)], NSNumber(value: 2.5)] as [Any] {
            site.setValue(value, forKey: "anything")
            #expect(site.value(forKey: "anything") != nil)
        }
        site.setValue(object, forKey: "anything")
        site.setValue(site.objectID, forKey: "other")
        try stack.context.save()
        #expect(site.value(forKey: "anything") as? Marker === object)
        #expect(site.value(forKey: "other") as? NSManagedObjectID == site.objectID)
        #expect(NSPredicate(format: "anything.number == 3").evaluate(with: site))
        site.setValue(nil, forKey: "anything")
        #expect(site.value(forKey: "anything") == nil)
    }

    @Test("A stored attribute of undefined type is refused when the store is opened")
    func storedUntyped() throws {
        var draft = Lab.draft()
        draft.entities[0].attributes.append(Clinic.attribute("wild", .objectID))
        let error = #expect(throws: CocoaError.self) { _ = try Stack(model: NSManagedObjectModel(draft: draft)) }
        #expect(sentence(error).contains("Site.wild is an object ID"))
    }

    @Test("Transient relationships keep their inverse, outlive a save and reach no store", arguments: StoreMaker.types)
    func relationships(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["name": "s"])
        let probe = stack.context.make("Probe", ["name": "p"])
        site.setValue(probe, forKey: "shown")
        #expect((probe.value(forKey: "showers") as? Set<NSManagedObject>) == [site])
        try stack.context.save()
        #expect(site.value(forKey: "shown") as? NSManagedObject === probe)
        #expect((probe.value(forKey: "showers") as? Set<NSManagedObject>) == [site])
        let second = stack.context.make("Site", ["name": "t", "shown": probe])
        #expect((probe.value(forKey: "showers") as? Set<NSManagedObject>) == [site, second])
        #expect(!probe.hasPersistentChangedValues)
        try stack.context.save()
        #expect((probe.value(forKey: "showers") as? Set<NSManagedObject>) == [site, second])
        stack.context.refresh(probe, mergeChanges: true)
        #expect((probe.value(forKey: "showers") as? Set<NSManagedObject>) == [site, second])
        let other = stack.another()
        #expect(try other.existingObject(with: site.objectID).value(forKey: "shown") == nil)
        #expect(
            (try other.existingObject(with: probe.objectID).value(forKey: "showers") as? Set<NSManagedObject>) == [])
        stack.context.undo()
    }

    @Test(
        "4.1 A refresh that drops a transient target drops the other side too, and one of the other side keeps it",
        arguments: StoreMaker.types)
    func refreshedRelationships(_ type: String) throws {
        let stack = try Lab.stack(type)
        let context = stack.context
        let probe = context.make("Probe", ["name": "p"])
        let sites = ["s", "t"].map { context.make("Site", ["name": $0, "shown": probe]) }
        try context.save()
        context.refresh(probe, mergeChanges: false)
        #expect(probe.value(forKey: "showers") as? Set<NSManagedObject> == Set(sites))
        context.refresh(sites[0], mergeChanges: false)
        #expect(sites[0].value(forKey: "shown") == nil && sites[1].value(forKey: "shown") as? NSManagedObject === probe)
        #expect(probe.value(forKey: "showers") as? Set<NSManagedObject> == [sites[1]] && !context.hasChanges)
    }

    /// A value, of an object its ID.
    private func plain(_ value: Any?) -> NSObject? { (value as? NSManagedObject)?.objectID ?? value as? NSObject }

    @Test(
        "1.13 A transient value that was undone and done again is a change, and reaches the parent",
        arguments: ["speed", "note", "anything", "shown"])
    func undoneAndRedone(_ key: String) throws {
        let stack = try Lab.stack(NSInMemoryStoreType)
        let probes = ["p", "q"].map { stack.context.make("Probe", ["name": $0]) }
        let twin = stack.context.make("Site", ["name": "a"])
        try stack.context.save()
        let child = stack.context.child()
        for context in [stack.context, child] {
            context.undoManager = UndoManager()
            let site = context.object(with: twin.objectID)
            let objects = probes.map { context.object(with: $0.objectID) }
            let values: [Any] =
                ["speed": [20, 30], "note": ["x", "y"], "anything": [[1], [2]], "shown": objects][key] ?? []
            func number(_ object: NSManagedObject) -> Int? {
                let found = plain(object.value(forKey: key))
                for probe in objects where object.managedObjectContext === probe.managedObjectContext && key == "shown"
                {
                    let showers = probe.value(forKey: "showers") as? Set<NSManagedObject>
                    #expect(showers == (plain(probe) == found ? [object] : []))
                }
                return values.firstIndex { plain($0) == found }
            }
            let present = number(site)
            for (place, value) in values.enumerated() {
                site.setValue(value, forKey: key)
                context.processPendingChanges()
                context.undo()
                #expect(number(site) == (place == 0 ? present : 0) && !site.hasChanges)
                context.redo()
                #expect(
                    number(site) == place && site.hasChanges && context.hasChanges && !site.hasPersistentChangedValues)
                try context.save()
                #expect(!site.hasChanges && number(twin) == place)
            }
            for former in [0, present] {
                context.undo()
                #expect(number(site) == former && site.hasChanges)
                try context.save()
                #expect(number(twin) == former)
            }
            site.setValue(nil, forKey: key)
            try context.save()
            #expect(twin.value(forKey: key) == nil)
        }
    }

    @Test("Defaults of transient attributes are read by generated accessors too", arguments: StoreMaker.types)
    func accessors(_ type: String) throws {
        var draft = Lab.draft()
        draft.entities[0].className = "AttributeTests.TypedSite"
        _ = Lab.registered
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft))
        let made = TypedSite(context: stack.context)
        #expect(made.speed == 7)
        try stack.context.save()
        stack.context.refresh(made, mergeChanges: false)
        #expect(made.speed == 7)
        let context = stack.another()
        let request = NSFetchRequest<TypedSite>(entityName: "Site")
        let site = try #require(try context.fetch(request).first)
        #expect(site.speed == 7)
        site.speed = 8
        #expect(site.speed == 8 && site.text("name") == nil)
        context.refresh(site, mergeChanges: false)
        #expect(site.speed == 7)
    }
}

/// As generated: accessors over slots.
final class TypedSite: NSManagedObject {
    private static let slots = (try? Schema(checking: Lab.draft()).entity(named: "Site")?.slots.map(\.name)) ?? []
    override class var _managedKeys: [String]? { slots }
    private static let speedSlot = slots.firstIndex(of: "speed") ?? 0
    private static let latitudeSlot = slots.firstIndex(of: "location.latitude") ?? 0
    private static let tagsSlot = slots.firstIndex(of: "tags") ?? 0

    var speed: Int32 {
        get { Int32(_int(Self.speedSlot)) }
        set { _setInt(Self.speedSlot, Int64(newValue)) }
    }
    var latitude: Double {
        get { _double(Self.latitudeSlot) }
        set { _setDouble(Self.latitudeSlot, newValue) }
    }
    var tags: [Tag]? {
        get { _transformable(Self.tagsSlot) as? [Tag] }
        set { _setTransformable(Self.tagsSlot, newValue) }
    }
}
