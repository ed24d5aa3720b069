// The trap for touches from the wrong queue.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Touches from the wrong queue")
struct WrongQueueTests {
    private let script = ChildProgram("CoreDataScript")
    private static let name = "com.apple.CoreData.ConcurrencyDebug"
    private static let on = ["-" + name, "1"]
    /// The processes run with Swift's backtraces off: they take seconds.
    private static let quiet = ["SWIFT_BACKTRACE": "enable=no"]
    #if arch(x86_64)
    private static let trap = ExitTest.Condition.signal(SIGILL)
    #else
    private static let trap = ExitTest.Condition.signal(SIGTRAP)
    #endif

    @Test("11.1 a context used from the wrong queue traps at once with the context, its queue and the cure")
    func context() throws {
        let run = try script.run(["fetch"] + Self.on, environment: Self.quiet)
        #expect(run.exitCode == nil)
        #expect(run.lines == [])
        #expect(run.errors.contains("A managed object context was used from the wrong queue (the main queue)"))
        #expect(run.errors.contains("belongs to the private queue CoreData.context"))
        #expect(run.errors.contains("perform or performAndWait"))
    }

    @Test("11.1 an object read from the wrong queue traps with the object's ID, the context's name and the cure")
    func read() throws {
        let run = try script.run(["read"] + Self.on, environment: Self.quiet)
        #expect(run.exitCode == nil)
        #expect(run.lines == [])
        #expect(run.errors.contains("/Person/t"))
        #expect(run.errors.contains("was touched from the wrong queue (the main queue): the context \"import\""))
        #expect(run.errors.contains("hand over the objectID"))
    }

    @Test("11.1 an object of a main-queue context written from another thread traps")
    func write() throws {
        let run = try script.run(["write"] + Self.on, environment: Self.quiet)
        #expect(run.exitCode == nil)
        #expect(run.lines == ["not noticed by sync from the main queue"])
        #expect(run.errors.contains("belongs to the main queue"))
    }

    @Test("11.1 a fetched object traps too; its objectID may be read anywhere")
    func fetched() throws {
        let run = try script.run(["fetched"] + Self.on, environment: Self.quiet)
        #expect(run.exitCode == nil)
        #expect(run.lines == ["found 1, an ID is free for all: false"])
        #expect(run.errors.contains("was touched from the wrong queue"))
    }

    @Test(
        "11.1 any thread may describe an object, as printing the error of a save does; its values are told where its context is held"
    )
    func description() throws {
        let run = try script.run(["describe"] + Self.on, environment: Self.quiet)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.lines.first?.contains("/Person/t") == true && run.lines.first?.contains("Eve") == false)
        #expect(run.lines.dropFirst().first?.contains("/Person/t") == true)
        #expect(run.lines.count { $0.contains("Eve") } == 1 && run.lines.count > 2)
    }

    @Test(
        "11.1 the launch argument and the environment variable switch the trap off and on",
        arguments: ["fetch", "read", "fetched"])
    func switches(_ deed: String) throws {
        func traps(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Bool {
            let run = try script.run([deed] + arguments, environment: Self.quiet.merging(environment) { $1 })
            #expect(run.exitCode == nil || run.lines.last?.hasPrefix("not noticed") == true)
            return run.exitCode == nil
        }
        #expect(try !traps(["-" + Self.name, "0"]))
        #expect(try !traps([], [Self.name: "0"]))
        #expect(try traps([], [Self.name: "1"]))
        #expect(try traps(Self.on, [Self.name: "0"]), "The argument is nearer than the environment.")
        #if DEBUG
        #expect(try traps([]), "A debug build checks.")
        #else
        #expect(try !traps([]), "A release build does not.")
        #endif
    }

    /// Each call of a context or object that must be refused.
    enum Touch: String, CaseIterable, Codable, Sendable {
        case fetch, count, save, insert, delete, hasChanges, registered, object, existing, refresh, rollback, reset,
            undo
        case pending, obtain, read, write, primitive, changed, isFault, set, ordered, slot, text, setSlot, toOne,
            members
        case faultingState, relationshipFault, relatedIDs, detect, willAccess, willChange, didChange, event, committed
        case orderedSlot, insertMember, removeMember, replaceMember

        @MainActor
        func make(_ context: NSManagedObjectContext, _ object: NSManagedObject) throws {
            switch self {
            case .fetch: _ = try context.all("Doctor")
            case .count: _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Doctor"))
            case .save: try context.save()
            case .insert: _ = NSEntityDescription.insertNewObject(forEntityName: "Doctor", into: context)
            case .delete: context.delete(object)
            case .hasChanges: _ = context.hasChanges
            case .registered: _ = context.registeredObjects
            case .object: _ = context.object(with: object.objectID)
            case .existing: _ = try context.existingObject(with: object.objectID)
            case .refresh: context.refresh(object, mergeChanges: false)
            case .rollback: context.rollback()
            case .reset: context.reset()
            case .undo: context.undo()
            case .pending: context.processPendingChanges()
            case .obtain: try context.obtainPermanentIDs(for: [object])
            case .read: _ = object.value(forKey: "name")
            case .write: object.setValue("x", forKey: "name")
            case .primitive: _ = object.primitiveValue(forKey: "name")
            case .changed: _ = object.changedValues()
            case .isFault: _ = object.isFault
            case .set: _ = object.mutableSetValue(forKey: "doctors").count
            case .ordered: _ = object.mutableOrderedSetValue(forKey: "visits").count
            // As generated accessors call it; the object is loaded and unchanged, so the inlined way would be open.
            case .slot: _ = object._optionalInt(try slot("age", object))
            case .text: _ = object._text(try slot("name", object))
            case .setSlot: object._setInt(try slot("age", object), 3)
            case .toOne: _ = object._toOne(try slot("ward", object))
            case .members: _ = object._toMany(0)
            case .faultingState: _ = object.faultingState
            case .relationshipFault: _ = object.hasFault(forRelationshipNamed: "ward")
            case .relatedIDs: _ = object.objectIDs(forRelationshipNamed: "ward")
            case .detect: context.detectConflicts(for: object)
            case .willAccess: object.willAccessValue(forKey: "name")
            case .willChange: object.willChangeValue(forKey: "name")
            case .didChange: object.didChangeValue(forKey: "name")
            case .event: _ = object.changedValuesForCurrentEvent()
            case .committed: _ = object.committedValues(forKeys: nil)
            case .orderedSlot: _ = object._orderedSet(try visits(object))
            case .insertMember: object._insert([], toMany: try visits(object), at: 0)
            case .removeMember: object._remove(at: 0, toMany: try visits(object))
            case .replaceMember: object._replace(at: 0, toMany: try visits(object), with: object)
            }
        }

        private func visits(_ object: NSManagedObject) throws -> Int {
            try #require(object._state.info.toManyRelationships.firstIndex { $0.name == "visits" })
        }

        private func slot(_ name: String, _ object: NSManagedObject) throws -> Int {
            try #require(object._state.info.entity.slots.firstIndex { $0.name == name })
        }
    }

    @Test("11.1 every way to touch a context or an object is checked", arguments: Touch.allCases)
    func touches(_ touch: Touch) async {
        await #expect(processExitsWith: Self.trap) { [touch] in
            Confinement.isChecked = true
            let stack = try Stack()
            let (context, kept) = (stack.context, Kept())
            try context.performAndWait {
                kept.object = context.make("Patient", ["name": "Eve", "age": 40])
                try context.save()
            }
            let object = try #require(kept.object)
            try await touch.make(context, object)
            exit(0)
        }
    }

    private final class Kept: @unchecked Sendable { var object: NSManagedObject? }

    @Test("11.1 inside the context's own blocks, nested and awaited, nothing traps")
    func rightQueue() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Confinement.isChecked = true
            let stack = try Stack()
            let (parent, child) = (stack.context, stack.context.child())
            let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            main.persistentStoreCoordinator = stack.coordinator
            main.automaticallyMergesChangesFromParent = true
            try await child.perform {
                let patient = child.make("Patient", ["name": "Eve"])
                patient.mutableSetValue(forKey: "doctors").add(child.make("Doctor", ["name": "Lee"]))
                patient.mutableOrderedSetValue(forKey: "visits").add(child.make("Visit", ["note": "first"]))
                try child.save()
                try parent.performAndWait {
                    try parent.save()
                    parent.undo()
                    parent.redo()
                    try child.performAndWait {
                        _ = try child.all("Patient").map { $0.value(forKeyPath: "doctors.name") }
                    }
                    parent.delete(try parent.all("Doctor")[0])
                    try parent.save()
                    parent.refreshAllObjects()
                }
            }
            let names = try await main.perform { try main.all("Patient").map { $0.value(forKey: "name") as? String } }
            exit(names == ["Eve"] ? 7 : 1)
        }
    }

    @Test("11.1 the types of contexts have Core Data's numbers")
    func types() {
        #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
        #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
        #expect(NSManagedObjectContextConcurrencyType.confinementConcurrencyType.rawValue == 0)
        #expect(NSManagedObjectContextConcurrencyType(rawValue: 3) == nil)
    }
}
