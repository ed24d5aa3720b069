// The names of objects, which any thread may ask for.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Object IDs")
struct ObjectIDTests {
    @Test("11.1 Threads that ask an object for its ID for the first time, at once, get one and the same")
    func shared() throws {
        let stack = try Stack(undo: false)
        for number in 0..<2000 { _ = stack.context.make("Doctor", ["code": number]) }
        try stack.context.save()
        for _ in 0..<10 {
            let context = stack.another()
            let doctors = Objects(try context.all("Doctor"))
            let seen = Mutex<[[NSManagedObjectID]]>([])
            let ready = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                // Side by side as far as the machine allows it.
                ready.wrappingAdd(1, ordering: .relaxed)
                for _ in 0..<1_000_000 where ready.load(ordering: .relaxed) < 2 { continue }
                let ids = doctors.all.map(\.objectID)
                seen.withLock { $0.append(ids) }
            }
            let all = seen.withLock { $0 }
            for (place, doctor) in doctors.all.enumerated() {
                #expect(all.allSatisfy { $0[place] === doctor.objectID })
            }
        }
    }

    /// Objects that are handed to other threads on purpose.
    private struct Objects: @unchecked Sendable {
        let all: [NSManagedObject]
        init(_ all: [NSManagedObject]) { self.all = all }
    }
}
