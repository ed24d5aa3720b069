// Contexts that wait for each other.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite final class TurnTests: Generations {
    @Test("performAndWait nests parent, child and parent again")
    func nesting() throws {
        let (parent, child) = (parent, child)
        try parent.performAndWait {
            _ = parent.make("Patient", ["name": "a"])
            try child.performAndWait {
                #expect(try child.names() == ["a"])
                _ = child.make("Patient", ["name": "b"])
                try parent.performAndWait {
                    #expect(try parent.names() == ["a"])
                    try child.save()
                    #expect(try parent.names() == ["a", "b"])
                }
            }
            try parent.save()
        }
        #expect(try stack.another().names() == ["a", "b"])
    }

    @Test("A main-queue parent and the background children of it never hang", .timeLimit(.minutes(30)))
    func mainQueue() async throws {
        let parent = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        parent.persistentStoreCoordinator = stack.coordinator
        let child = parent.child()
        async let background: Void = {
            for round in 0..<100 {
                try await child.perform {
                    _ = child.make("Patient", ["name": "c\(round)"])
                    try child.save()
                }
            }
        }()
        for round in 0..<100 {
            try await MainActor.run {
                _ = parent.make("Patient", ["name": "p\(round)"])
                try child.performAndWait {
                    _ = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient"))
                }
            }
        }
        try await background
        try await MainActor.run { try parent.save() }
        #expect(try stack.another().all("Patient").count == 200)
    }

    @Test(
        "A parent that waits for its child and a child that waits for its parent never hang", .timeLimit(.minutes(30)))
    func turns() throws {
        let (parent, child, grandchild) = (parent, child, child.child())
        let failures = Mutex<[String]>([])
        let group = DispatchGroup()
        let queue = DispatchQueue(label: "turns", attributes: .concurrent)
        func run(_ block: @escaping @Sendable (Int) throws -> Void) {
            queue.async(group: group) {
                for round in 0..<200 {
                    do { try block(round) } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
        }
        run { round in
            try child.performAndWait {
                _ = child.make("Patient", ["name": "c\(round)"])
                _ = try child.all("Patient")
                try child.save()
            }
        }
        run { round in
            try parent.performAndWait {
                _ = parent.make("Patient", ["name": "p\(round)"])
                try child.performAndWait {
                    _ = try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient"))
                }
                try parent.save()
            }
        }
        run { round in
            try grandchild.performAndWait {
                _ = grandchild.make("Patient", ["name": "g\(round)"])
                try grandchild.save()
                try parent.performAndWait { try child.performAndWait { if child.hasChanges { try child.save() } } }
            }
        }
        group.wait()
        try child.save()
        try parent.save()
        #expect(failures.withLock { $0 } == [])
        #expect(try stack.another().all("Patient").count == 600)
    }
}
