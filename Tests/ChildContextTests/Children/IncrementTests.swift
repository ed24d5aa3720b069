// Threads that count the same few rows up through children, with nothing held between two steps.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct IncrementTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `CHILD_INCREMENTS` and `CHILD_SAVES` ask for longer runs; without them one line of contexts counts up to 10,000.
    private static func increments(_ kind: Line.Kind) -> Int {
        Int(environment["CHILD_INCREMENTS"] ?? "")
            ?? (kind.type == NSSQLiteStoreType && kind.generations == 2 ? 10_000 : 2_000)
    }
    static let saves = Int(environment["CHILD_SAVES"] ?? "") ?? 3_000

    private func rows(_ stack: Stack, _ count: Int) throws -> [NSManagedObjectID] {
        let maker = stack.another()
        let made = (0..<count).map { maker.make("Ward", ["name": "\($0)", "beds": 0]) }
        try maker.save()
        return made.map(\.objectID)
    }

    private func stack(_ type: String) throws -> Stack {
        try Stack(type, undo: false, options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
    }

    private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> [String] {
        let failures = Mutex<[String]>([])
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                do { try body(number) } catch { failures.withLock { $0.append("\(error)") } }
                group.leave()
            }
        }
        group.wait()
        return failures.withLock { $0 }
    }

    @Test(
        "6.1 Increments of four threads, each with its own parent and a new child an edit, add up",
        .timeLimit(.minutes(30)),
        arguments: Line.kinds)
    func sum(_ kind: Line.Kind) throws {
        let stack = try stack(kind.type)
        let ids = try rows(stack, 3)
        let each = IncrementTests.increments(kind) / 4
        let refused = Mutex(0)
        let parents = (0..<4).map { _ in stack.another() }
        let failures = inThreads(4) { thread in
            let parent = parents[thread]
            var random = SplitMix(UInt64(thread) + 1)
            for _ in 0..<each {
                let id = ids[Int.random(in: 0..<ids.count, using: &random)]
                while true {
                    do {
                        try IncrementTests.increment(id, parent, kind.generations, fetches: Bool.random(using: &random))
                        break
                    } catch let error as CocoaError where error.code.rawValue == 133020 {
                        refused.withLock { $0 += 1 }
                        parent.performAndWait { parent.rollback() }
                    }
                }
            }
        }
        #expect(failures == [])
        let reader = stack.another()
        let sum = try ids.map { try reader.existingObject(with: $0).value(forKey: "beds") as? Int ?? 0 }.reduce(0, +)
        #expect(sum == 4 * each)
        print("\(kind): \(sum) increments, \(refused.withLock { $0 }) refused")
    }

    private static func increment(
        _ id: NSManagedObjectID, _ parent: NSManagedObjectContext, _ generations: Int, fetches: Bool
    ) throws {
        let line = Line(parent, generations: generations)
        try line.last.performAndWait {
            let ward = try line.last.existingObject(with: id)
            ward.setValue((ward.value(forKey: "beds") as? Int ?? 0) + 1, forKey: "beds")
        }
        if fetches { try parent.performAndWait { _ = try parent.all("Ward").map(\.name) } }
        try line.push()
        try parent.performAndWait {
            if fetches { parent.refreshAllObjects() }
            try parent.save()
        }
    }

    @Test(
        "7.1 Saves through children while other threads merge what was saved meet no row that is gone",
        .timeLimit(.minutes(30)),
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func merged(_ type: String) throws {
        let stack = try stack(type)
        let ids = try rows(stack, 2)
        let (parent, other) = (stack.context, stack.another())
        let inbox = Inbox()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: parent, queue: nil
        ) {
            inbox.put($0)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let count = IncrementTests.saves
        let failures = inThreads(2) { thread in
            guard thread == 0 else {
                // The notification holds the parent's objects, and lets go of them whenever this thread is done with them.
                while let taken = inbox.take() {
                    nonisolated(unsafe) let notification = taken
                    other.performAndWait { other.mergeChanges(fromContextDidSave: notification) }
                }
                return
            }
            defer { inbox.close() }
            for round in 0..<count {
                let child = parent.child()
                try child.performAndWait {
                    try child.existingObject(with: ids[round % 2]).setValue(round, forKey: "beds")
                    try child.save()
                }
                try parent.performAndWait { try parent.save() }
            }
        }
        #expect(failures == [])
    }
}

/// Notifications on their way from one thread to another.
private final class Inbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var notifications: [Notification] = []
    private var isClosed = false

    func put(_ notification: Notification) {
        condition.lock()
        notifications.append(notification)
        condition.signal()
        condition.unlock()
    }

    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// nil when there will be no more.
    func take() -> Notification? {
        condition.lock()
        defer { condition.unlock() }
        while notifications.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        return notifications.removeFirst()
    }
}
