// Mistakes made on purpose, so that a silent sanitizer is noticed.

import CoreData

package enum Planted {
    /// Reads an object on another thread while its context writes it: a race that the thread sanitizer must report.
    package static func race(in folder: URL) throws {
        let coordinator = try StressModel.coordinator(folder.appendingPathComponent("planted.sqlite"))
        try StressModel.seed(coordinator)
        let context = StressModel.context(coordinator)
        nonisolated(unsafe) let counter = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter"))[0]
        }
        context.performAndWait { counter.setValue(1, forKey: "value") }
        let group = DispatchGroup()
        group.enter()
        let reader = Thread {
            for _ in 0..<10_000 { _ = counter.primitiveValue(forKey: "value") }
            group.leave()
        }
        reader.start()
        for round in 0..<10_000 { context.performAndWait { counter.setValue(round, forKey: "value") } }
        group.wait()
    }

    /// Adds to a counter and tells nobody.
    static func unnotedSave(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = StressModel.context(coordinator)
        try context.performAndWait {
            let counter = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter"))[0]
            counter.setValue(counter.number("value") + 1, forKey: "value")
            try context.save()
        }
    }

    /// Reads memory that was given back: the address sanitizer must report it.
    package static func staleRead() -> Int {
        let place = UnsafeMutablePointer<Int>.allocate(capacity: 64)
        place.initialize(repeating: Int(getpid()), count: 64)
        place.deallocate()
        return place[Int(getpid()) & 63]
    }
}
