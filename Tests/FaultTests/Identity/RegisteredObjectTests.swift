// Which objects a context retains.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RegisteredObjectTests {
    @Test("1.16 A context retains only changed objects; after the save those that nobody holds are let go")
    func lettingGo() throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        #expect(!context.retainsRegisteredObjects)
        for number in 0..<500 { _ = context.make("Patient", ["name": "\(number)"]) }
        #expect(context.registeredObjects.count == 500)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
        do {
            let all = try context.all("Patient")
            #expect(context.registeredObjects.count == 500)
            all[0].setValue("x", forKey: "name")
            context.delete(all[1])
        }
        #expect(context.registeredObjects.count == 2)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(
        "1.16 retainsRegisteredObjects keeps fetched, saved and related objects until it is turned off or the context reset"
    )
    func retaining() throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        for number in 0..<300 { _ = context.make("Patient", ["name": "\(number)"]) }
        let ward = context.make("Ward", ["name": "w"])
        try context.all("Patient").first?.setValue(ward, forKey: "ward")
        try context.save()
        let other = stack.another()
        other.retainsRegisteredObjects = true
        #expect(try other.all("Patient").count == 300)
        #expect(other.registeredObjects.count == 300)
        #expect(try other.all("Patient").contains { $0.value(forKey: "ward") != nil })
        #expect(other.registeredObjects.count == 301)
        _ = other.make("Bed", ["number": 1])
        try other.save()
        #expect(other.registeredObjects.count == 302)
        if let bed = try other.all("Bed").first { other.delete(bed) }
        try other.save()
        #expect(other.registeredObjects.count == 301)
        other.retainsRegisteredObjects = false
        #expect(other.registeredObjects.isEmpty)
        other.retainsRegisteredObjects = true
        #expect(try other.all("Patient").count == 300)
        other.reset()
        #expect(other.registeredObjects.isEmpty)
        #expect(try other.all("Patient").count == 300)
        #expect(other.registeredObjects.count == 300)
    }

    @Test(
        "An object is found as long as it is held, few or many, whatever the order in which they go", arguments: 0..<3)
    func finding(_ seed: Int) throws {
        let stack = try Stack(undo: false)
        let ids = try {
            let made = (0..<20_000).map { stack.context.make("Ward", ["name": "\($0)"]) }
            try stack.context.save()
            return made.map(\.objectID)
        }()
        let context = stack.another()
        var random = UInt64(seed + 1)
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        var held: [Int: NSManagedObject] = [:]
        for limit in [30, 40, 3_000, 20, 5_000, 0] {
            for _ in 0..<4_000 {
                let place = next(ids.count)
                if held.count >= limit, let victim = held.keys.dropFirst(next(3)).first { held[victim] = nil }
                if held.count < limit { held[place] = context.object(with: ids[place]) }
                let other = next(ids.count)
                #expect(context.registeredObject(for: ids[other]) === held[other])
            }
            while held.count > limit { held.removeValue(forKey: held.first?.key ?? 0) }
            #expect(context.registeredObjects.count == held.count)
        }
    }

    @Test("A context that retains its objects and is let go lets them go")
    func noLeak() throws {
        let stack = try Stack(undo: false)
        _ = stack.context.make("Patient", ["name": "a"])
        try stack.context.save()
        weak var object: NSManagedObject?
        do {
            let other = stack.another()
            other.retainsRegisteredObjects = true
            object = try other.all("Patient").first
            #expect(object != nil)
        }
        #expect(object == nil)
    }

    @Test(
        "1.16 Objects that were refreshed beside a dirty one are let go, and so are those of an event that a reset ended"
    )
    func refreshed() throws {
        let stack = try Stack(undo: false)
        for number in 0..<20 { _ = stack.context.make("Patient", ["name": "\(number)"]) }
        try stack.context.save()
        let context = stack.another()
        do {
            let all = try context.all("Patient")
            #expect(all.contains { $0.value(forKey: "name") as? String == "3" })
            all[0].setValue("x", forKey: "name")
            context.refreshAllObjects()
            #expect(context.registeredObjects.count == 20)
        }
        #expect(context.registeredObjects.count == 1)

        weak var fresh: NSManagedObject?
        do {
            let made = context.make("Patient", ["name": "new"])
            context.processPendingChanges()
            fresh = made
            context.reset()
        }
        #expect(fresh == nil)
    }

    @Test("1.16 Objects whose changes were undone are let go with the undo stack", arguments: [0, 3])
    func undone(_ others: Int) throws {
        let stack = try Stack()
        let context = stack.context
        weak var changed: NSManagedObject?
        weak var made: NSManagedObject?
        let held = (0..<others).map { context.make("Ward", ["name": "\($0)"]) }
        if others == 0 { _ = context.make("Ward", ["name": "a"]) }
        try context.save()
        do {
            let wards = try context.all("Ward"), fresh = context.make("Patient", ["name": "new"])
            for ward in wards { ward.setValue("b", forKey: "name") }
            (changed, made) = (wards.first, fresh)
            context.processPendingChanges()
            context.undo()
        }
        if others > 0 { held[1].setValue("c", forKey: "name") }
        context.processPendingChanges()
        context.undoManager?.removeAllActions()
        #expect(made == nil && (changed == nil) == held.isEmpty)
        #expect(context.registeredObjects.count == held.count && context.hasChanges == !held.isEmpty)
    }
}
