// Contexts that are pinned to one state of their stores, while others commit. Nothing is held between the steps.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// A ward with three patients, of 10, 20 and 30 years, and an empty one.
struct PinnedWard {
    let stack: Stack
    let context: NSManagedObjectContext

    init(_ type: String = NSSQLiteStoreType, options: [AnyHashable: Any]? = nil) throws {
        stack = try Stack(type, undo: false, options: options)
        context = stack.another()
        let ward = stack.context.make("Ward", ["name": "north", "beds": 3])
        _ = stack.context.make("Ward", ["name": "south"])
        for age in [10, 20, 30] {
            stack.context.make(
                "Patient", ["name": "p\(age)", "age": age, "photo": Data(repeating: UInt8(age), count: 10)]
            ).setValue(
                ward, forKey: "ward")
        }
        try stack.context.save()
        stack.context.reset()
    }

    /// Renames p10, moves p20 to the other ward, deletes p30 and inserts p40.
    func changeAll(_ writer: NSManagedObjectContext? = nil) throws {
        let writer = writer ?? stack.another()
        try patient("p10", writer).setValue("q10", forKey: "name")
        try patient("p20", writer).setValue(ward("south", writer), forKey: "ward")
        writer.delete(try patient("p30", writer))
        writer.make("Patient", ["name": "p40", "age": 40]).setValue(try ward("north", writer), forKey: "ward")
        try writer.save()
    }

    func patient(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try one("Patient", name, context), "no \(name)")
    }

    func ward(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try one("Ward", name, context))
    }

    private func one(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        return try context.fetch(NSFetchRequest<NSManagedObject>(entity, "name == %@", name)).first
    }

    func names(_ context: NSManagedObjectContext? = nil, _ format: String = "TRUEPREDICATE") throws -> [String] {
        return try (context ?? self.context).fetch(NSFetchRequest<NSManagedObject>("Patient", format, by: "age")).map {
            $0.value(forKey: "name") as? String ?? "-"
        }
    }

    func members(_ name: String, _ context: NSManagedObjectContext? = nil) throws -> Set<String> {
        let patients = try ward(name, context ?? self.context).value(forKey: "patients") as? Set<NSManagedObject>
        return Set((patients ?? []).compactMap { $0.value(forKey: "name") as? String })
    }

    static let before = ["p10", "p20", "p30"]
    static let after = ["q10", "p20", "p40"]
}

@Suite struct QueryGenerationTests {
    @Test(
        "12.1 A pinned context reads one state while others commit: fetches, counts, values, faults, members and what is read beforehand"
    )
    func oneState() throws {
        let ward = try PinnedWard()
        let context = ward.context
        let ids = try ["p10", "p20", "p30"].map { try ward.patient($0, ward.stack.context).objectID }
        #expect(context.queryGenerationToken == nil)
        try context.setQueryGenerationFrom(.current)
        let token = try #require(context.queryGenerationToken)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        for _ in 0..<2 {
            #expect(try ward.names() == PinnedWard.before)
            #expect(try ward.names(context, "name BEGINSWITH 'p' AND ward.name == 'north'") == PinnedWard.before)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 3)
            #expect(try ward.members("north") == Set(PinnedWard.before) && ward.members("south").isEmpty)
            #expect(ids.map { context.object(with: $0).value(forKey: "name") as? String } == PinnedWard.before)
            #expect(
                try ids.map { try context.existingObject(with: $0).value(forKeyPath: "ward.name") as? String } == [
                    "north", "north", "north",
                ])
            #expect(
                try ids.map { try context.existingObject(with: $0).value(forKey: "photo") as? Data }.allSatisfy {
                    $0?.count == 10
                })
            #expect(try sums(context) == [60])
            #expect(try identifiers(context) == Set(ids))
            #expect(try prefetched(context) == ["north": Set(PinnedWard.before), "south": []])
            context.refreshAllObjects()
        }
        #expect(context.queryGenerationToken == token)
        #expect(try ward.names(ward.stack.context) == PinnedWard.after, "whoever is not pinned sees the latest")
        try context.setQueryGenerationFrom(nil)
        #expect(context.queryGenerationToken == nil)
        #expect(try ward.names() == PinnedWard.after)
        #expect(try ward.members("north") == ["q10", "p40"] && ward.members("south") == ["p20"])
        #expect(try sums(context) == [70])
        #expect(throws: CocoaError.self) { try context.existingObject(with: ids[2]) }
    }

    private func sums(_ context: NSManagedObjectContext) throws -> [Int] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
        request.resultType = .dictionaryResultType
        let sum = NSExpressionDescription()
        (sum.name, sum.expression, sum.expressionResultType) = (
            "sum", NSExpression(format: "sum:(age)"), .integer64AttributeType
        )
        request.propertiesToFetch = [sum]
        return try context.fetch(request).compactMap { $0["sum"] as? Int }
    }

    private func identifiers(_ context: NSManagedObjectContext) throws -> Set<NSManagedObjectID> {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Patient")
        request.resultType = .managedObjectIDResultType
        return Set(try context.fetch(request))
    }

    private func prefetched(_ context: NSManagedObjectContext) throws -> [String: Set<String>] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = ["patients.ward"]
        var found: [String: Set<String>] = [:]
        for ward in try context.fetch(request) {
            let patients = ward.value(forKey: "patients") as? Set<NSManagedObject> ?? []
            found[ward.value(forKey: "name") as? String ?? ""] = Set(
                patients.compactMap { $0.value(forKey: "name") as? String })
        }
        return found
    }

    @Test("12.1 The state is that of the first read, not of the moment in which the context is pinned")
    func lazy() throws {
        let ward = try PinnedWard()
        try ward.context.setQueryGenerationFrom(.current)
        try ward.changeAll()
        #expect(try ward.names() == PinnedWard.after)
        let writer = ward.stack.another()
        try ward.patient("q10", writer).setValue("r10", forKey: "name")
        try writer.save()
        #expect(try ward.names() == PinnedWard.after)
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == ["r10", "p20", "p40"])
    }

    @Test("12.1 A save, a merge of either kind and reset() advance; what is here stays as it was until it is refreshed")
    func advance() throws {
        let ward = try PinnedWard()
        let (context, writer) = (ward.context, ward.stack.another())
        var step = 0
        func others() throws {
            step += 1
            try ward.patient("p10", writer).setValue(100 + step, forKey: "age")
            try writer.save()
            writer.reset()
        }
        func age() throws -> Int { try #require(try ward.patient("p10", context).value(forKey: "age") as? Int) }
        try context.setQueryGenerationFrom(.current)
        #expect(try age() == 10)
        var tokens = [context.queryGenerationToken]
        try others()
        #expect(try age() == 10)

        _ = context.make("Patient", ["name": "mine"])
        #expect(try age() == 10)
        try context.save()
        #expect(try age() == 101)
        tokens.append(context.queryGenerationToken)

        try others()
        #expect(try age() == 101)
        let id = try ward.patient("p10", context).objectID
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [context])
        #expect(try age() == 102)
        tokens.append(context.queryGenerationToken)

        try others()
        context.mergeChanges(
            fromContextDidSave: Notification(
                name: .NSManagedObjectContextDidSave, object: writer, userInfo: [NSUpdatedObjectIDsKey: Set([id])]))
        #expect(try age() == 103)
        tokens.append(context.queryGenerationToken)

        let held = try ward.patient("p10", context)
        #expect(held.value(forKey: "age") as? Int == 103)
        try others()
        #expect(try age() == 103)
        try context.setQueryGenerationFrom(.current)
        #expect(try ward.names(context, "age == 104") == ["p10"] && held.value(forKey: "age") as? Int == 103)
        context.refresh(held, mergeChanges: true)
        #expect(held.value(forKey: "age") as? Int == 104)

        try others()
        context.refresh(held, mergeChanges: false)
        #expect(held.value(forKey: "age") as? Int == 104)
        context.reset()
        #expect(try age() == 105)
        tokens.append(context.queryGenerationToken)
        #expect(tokens.allSatisfy { $0 != nil } && Set(tokens).count == tokens.count)
    }

    @Test("10.5 A context that merges by itself advances with what it takes over")
    func automatic() throws {
        let ward = try PinnedWard()
        ward.context.automaticallyMergesChangesFromParent = true
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        ward.context.performAndWait {}
        #expect(try ward.names() == PinnedWard.after)
    }

    @Test(
        "7.2 Children see what their parent is pinned to, with its changes on top, and have no generation of their own")
    func children() throws {
        let ward = try PinnedWard()
        let child = ward.context.child()
        let grandchild = child.child()
        #expect(child.queryGenerationToken == nil)
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names(grandchild) == PinnedWard.before)
        try ward.changeAll()
        for context in [child, grandchild] {
            #expect(try ward.names(context) == PinnedWard.before && sums(context) == [60])
            #expect(try ward.members("north", context) == Set(PinnedWard.before))
            #expect(context.queryGenerationToken == ward.context.queryGenerationToken)
            for token in [NSQueryGenerationToken.current, nil] {
                #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(token) }
            }
        }
        try ward.patient("p10", grandchild).setValue("mine", forKey: "name")
        try grandchild.save()
        #expect(try ward.names(child) == ["mine", "p20", "p30"] && ward.names() == PinnedWard.before)
        child.reset()
        try ward.context.setQueryGenerationFrom(nil)
        #expect(try ward.names(grandchild) == PinnedWard.after)
    }

    @Test(
        "12.1 Other stores are read as they are: the context stays unpinned",
        arguments: StoreMaker.types.filter { $0 != NSSQLiteStoreType })
    func others(_ type: String) throws {
        let ward = try PinnedWard(type)
        try ward.context.setQueryGenerationFrom(.current)
        #expect(ward.context.queryGenerationToken == nil)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        #expect(try ward.names() == PinnedWard.after)
    }

    @Test("12.1 So is SQLite without a write-ahead log")
    func journals() throws {
        let ward = try PinnedWard(options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        try ward.context.setQueryGenerationFrom(.current)
        #expect(ward.context.queryGenerationToken == nil)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        #expect(try ward.names() == PinnedWard.after)
    }

    @Test(
        "6.1 A save of a stale object is a conflict with the latest state; it fails and the context stays where it is, or it is settled and advances"
    )
    func conflicts() throws {
        let ward = try PinnedWard()
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        let token = ward.context.queryGenerationToken
        try ward.patient("p10", ward.context).setValue(11, forKey: "age")
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
            ward.context.mergePolicy = policy
            if policy === NSMergePolicy.error {
                let error = #expect(throws: CocoaError.self) { try ward.context.save() }
                #expect(error?.code.rawValue == 133020)
                #expect(try ward.context.queryGenerationToken == token && ward.names() == PinnedWard.before)
            } else {
                try ward.context.save()
            }
        }
        #expect(ward.context.queryGenerationToken != token)
        #expect(try ward.names() == ["q10", "p20", "p40"] && ward.names(ward.stack.context, "age == 11") == ["q10"])
    }

    @Test("6.1 A policy that cannot settle a conflict leaves the context in its state")
    func unsettled() throws {
        let ward = try PinnedWard()
        try ward.context.setQueryGenerationFrom(.current)
        try ward.patient("p10", ward.context).setValue(11, forKey: "age")
        try ward.changeAll()
        let token = ward.context.queryGenerationToken
        ward.context.mergePolicy = Refusing(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(throws: CocoaError.self) { try ward.context.save() }
        #expect(try ward.context.queryGenerationToken == token && ward.names() == PinnedWard.before)
    }

    private final class Refusing: NSMergePolicy, @unchecked Sendable {
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            throw CocoaError(.coderInvalidValue)
        }
    }
}
