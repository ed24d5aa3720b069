// Typed messages of contexts: who hears them, and what they carry.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// What observers heard, in order.
private final class Heard: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }

    /// Waits until as many lines are there.
    func wait(for count: Int) async throws {
        for _ in 0..<1000 where all.count < count { try await Task.sleep(for: .milliseconds(5)) }
    }
}

@Suite struct MessageTests {
    @MainActor private static func main(_ stack: Stack) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        return context
    }

    @MainActor
    @Test("Observers on the main actor hear what a main-queue context tells, at once and with its objects")
    func objects() throws {
        let stack = try Stack(undo: false)
        let context = Self.main(stack)
        let heard = Heard()
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(of: context, for: .objectsDidChange) { message in
                let kinds = [
                    message.inserted, message.updated, message.deleted, message.refreshed, message.invalidated,
                ]
                heard.note(
                    "change \(kinds.map(\.count)) \(message.invalidatedAll == true) \(message.context === context)")
            },
            center.addObserver(of: context, for: NSManagedObjectContext.WillSaveMessage.self) { message in
                heard.note("will \(message.context.hasChanges)")
            },
            center.addObserver(of: context, for: .didSave) { message in
                let kinds = [message.inserted, message.updated, message.deleted]
                heard.note("did \(kinds.map(\.count)) \(message.historyToken == nil && message.queryGeneration != nil)")
            },
        ]
        defer { tokens.forEach { center.removeObserver($0) } }
        let ada = context.make("Patient", ["name": "Ada"])
        try context.save()
        ada.setValue("Eve", forKey: "name")
        try context.save()
        context.delete(ada)
        try context.save()
        _ = context.make("Patient", ["name": "Abe"])
        context.reset()
        #expect(
            heard.all == [
                "change [1, 0, 0, 0, 0] false true", "will true", "did [1, 0, 0] true",
                "change [0, 1, 0, 0, 0] false true", "will true", "did [0, 1, 0] true",
                "change [0, 0, 1, 0, 0] false true", "will true", "did [0, 0, 1] true",
                "change [0, 0, 0, 0, 0] true true",
            ])
    }

    @MainActor
    @Test("A message goes to the observers of its context and of all contexts, until they are removed")
    func subjects() throws {
        let stack = try Stack(undo: false)
        let (one, other) = (Self.main(stack), Self.main(stack))
        let heard = Heard()
        let center = NotificationCenter.default
        let own = center.addObserver(of: one, for: .willSave) { _ in heard.note("one") }
        let all = center.addObserver(of: NSManagedObjectContext.self, for: .willSave) { message in
            if message.context === one || message.context === other { heard.note("any") }
        }
        _ = other.make("Patient", ["name": "Ada"])
        try other.save()
        #expect(heard.all == ["any"])
        _ = one.make("Patient", ["name": "Eve"])
        try one.save()
        #expect(heard.all.sorted() == ["any", "any", "one"])
        center.removeObserver(own)
        center.removeObserver(all)
        _ = one.make("Patient", ["name": "Abe"])
        try one.save()
        #expect(heard.all.count == 3)
    }

    @Test("A save on a private queue is told to asynchronous observers, and to none on the main actor")
    func elsewhere() async throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        let heard = Heard()
        let center = NotificationCenter.default
        let tokens = [
            await MainActor.run {
                center.addObserver(of: context, for: .didSaveObjectIDs) { _ in heard.note("main") }
            },
            center.addObserver(of: context, for: .didSaveObjectIDsAsync) { message in
                let kinds = [
                    message.insertedIDs, message.updatedIDs, message.deletedIDs, message.refreshedIDs,
                    message.invalidatedIDs,
                ]
                let entities = kinds.map { $0.compactMap(\.entity.name).joined() }
                heard.note("save \(entities) \(kinds.joined().allSatisfy { !$0.isTemporaryID })")
            },
            center.addObserver(of: context, for: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self) { message in
                heard.note("by type \(message.context === context)")
            },
        ]
        try await context.perform {
            let ada = context.make("Patient", ["name": "Ada"])
            try context.save()
            ada.setValue("Eve", forKey: "name")
            context.delete(context.make("Doctor"))
            try context.save()
        }
        try await heard.wait(for: 4)
        await MainActor.run {}
        #expect(heard.all.filter { $0 == "by type true" }.count == 2)
        #expect(
            heard.all.filter { $0.hasPrefix("save") } == [
                #"save ["Patient", "", "", "", ""] true"#, #"save ["", "Patient", "", "", ""] true"#,
            ])
        #expect(!heard.all.contains("main"))
        tokens.forEach { center.removeObserver($0) }
    }

    @MainActor
    @Test("A merge is told with the IDs of what came, changed and went, to both kinds of observers")
    func merging() async throws {
        let stack = try Stack(undo: false)
        let (here, there) = (Self.main(stack), Self.main(stack))
        let ada = there.make("Patient", ["name": "Ada"])
        let abe = there.make("Patient", ["name": "Abe"])
        try there.save()
        let held = [here.object(with: ada.objectID), here.object(with: abe.objectID)]
        #expect(held.map { $0.value(forKey: "name") as? String } == ["Ada", "Abe"])
        let heard = Heard()
        let (adaID, abeID) = (ada.objectID, abe.objectID)
        let center = NotificationCenter.default
        func line(_ kinds: [Set<NSManagedObjectID>]) -> String { "\(kinds.map(\.count))" }
        let tokens = [
            center.addObserver(of: here, for: .didMergeChanges) { message in
                heard.note(
                    line([
                        message.insertedIDs, message.updatedIDs, message.deletedIDs, message.refreshedIDs,
                        message.invalidatedIDs,
                    ]))
            },
            center.addObserver(of: here, for: .didMergeChangesAsync) { message in
                heard.note("async \(message.refreshedIDs == [adaID] && message.deletedIDs == [abeID])")
            },
            // The message of a save, as a notification, is what a merge takes.
            center.addObserver(of: there, for: .didSave) { message in
                here.mergeChanges(
                    fromContextDidSave: NSManagedObjectContext.DidSaveMessage.makeNotification(message))
            },
        ]
        defer { tokens.forEach { center.removeObserver($0) } }
        ada.setValue("Eve", forKey: "name")
        there.delete(abe)
        _ = there.make("Patient", ["name": "Ida"])
        try there.save()
        #expect(heard.all.first == "[1, 0, 1, 1, 0]")
        #expect(held[0].value(forKey: "name") as? String == "Eve")
        try await heard.wait(for: 2)
        #expect(heard.all.dropFirst() == ["async true"])
    }

    @Test("The messages of a context can be walked through as they come")
    func sequence() async throws {
        let stack = try Stack(undo: false)
        let context = stack.context
        let messages = NotificationCenter.default.messages(
            of: context, for: NSManagedObjectContext.DidSaveObjectIDsAsyncMessage.self)
        let found = Mutex<Int?>(nil)
        let walk = Task {
            for await message in messages {
                found.withLock { $0 = message.insertedIDs.count }
                return
            }
        }
        // Saves before the walk has begun are not told to it.
        for _ in 0..<1000 where found.withLock({ $0 }) == nil {
            try await context.perform {
                _ = context.make("Patient", ["name": "Ada"])
                _ = context.make("Patient", ["name": "Eve"])
                try context.save()
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        walk.cancel()
        #expect(found.withLock { $0 } == 2)
    }

    @MainActor
    @Test("A message is a notification and back; what no context posted is no message")
    func notifications() throws {
        let stack = try Stack(undo: false)
        let context = Self.main(stack)
        let object = context.make("Patient", ["name": "Ada"])
        try context.save()
        typealias Saved = NSManagedObjectContext.DidSaveObjectIDsMessage
        let posted = Notification(
            name: Saved.name, object: context, userInfo: [NSInsertedObjectIDsKey: Set([object.objectID])])
        let message = try #require(Saved.makeMessage(posted))
        #expect(message.insertedIDs == [object.objectID] && message.updatedIDs.isEmpty)
        let made = Saved.makeNotification(message)
        #expect(
            made.name == .NSManagedObjectContextDidSaveObjectIDs && made.object as? NSManagedObjectContext === context)
        #expect(made.userInfo?.count == 1)
        #expect(made.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [object.objectID])
        #expect(Saved.makeMessage(Notification(name: Saved.name)) == nil)
        #expect(NSManagedObjectContext.WillSaveMessage.name == .NSManagedObjectContextWillSave)
    }

    // Each in a process in which nobody has asked for a name before.

    @Test("Naming the type of a message is enough to be told")
    func askedByType() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                let stack = try Stack(undo: false)
                let context = MessageTests.main(stack)
                let heard = Heard()
                let token = NotificationCenter.default.addObserver(
                    of: context, for: NSManagedObjectContext.DidSaveMessage.self
                ) { _ in heard.note("save") }
                _ = context.make("Patient", ["name": "Ada"])
                try context.save()
                NotificationCenter.default.removeObserver(token)
                exit(heard.all == ["save"] ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }
    }

    @Test("Naming the identifier of a message is enough to be told")
    func askedByIdentifier() async {
        await #expect(processExitsWith: .success) {
            let stack = try Stack(undo: false)
            let context = stack.context
            let heard = Heard()
            let token = NotificationCenter.default.addObserver(of: context, for: .didSaveObjectIDsAsync) { _ in
                heard.note("save")
            }
            try await context.perform {
                _ = context.make("Patient", ["name": "Ada"])
                try context.save()
            }
            try await heard.wait(for: 1)
            NotificationCenter.default.removeObserver(token)
            exit(heard.all == ["save"] ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
