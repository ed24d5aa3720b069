// A server's requests: a private context each, twenty patients by an indexed attribute, read and dropped.

import CoreData
import Synchronization
import Yardstick

struct Requests: Sendable {
    let rows: Int
    let stack: Stack
    let region: Region

    /// One request after the other on one thread, with nobody beside.
    func inTurn() throws -> Checksum {
        try region.measure {
            var checksum = Checksum()
            for number in 0..<requestCount { checksum.add(try answer(number)) }
            return checksum
        }
    }

    /// As many requests at once as asked, while another context changes a patient and saves, a thousand times a second at most.
    func beside(atOnce: Int) throws -> Checksum {
        let (writer, tally, done) = (Writer(stack.coordinator), Tally(), DispatchSemaphore(value: 0))
        writer.start()
        region.measure {
            _Concurrency.Task.detached {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<atOnce { group.addTask { await answerAll(tally) } }
                }
                done.signal()
            }
            done.wait()
        }
        try writer.stop()
        if let failure = tally.failure.withLock({ $0 }) { throw Failure(failure) }
        let sorted = tally.times.withLock { $0.sorted() }
        region.p99 = sorted[sorted.count * 99 / 100]
        return Checksum(whole: Int64(tally.found.load(ordering: .relaxed)))
    }

    /// Answers requests until none is left.
    private func answerAll(_ tally: Tally) async {
        while true {
            let number = tally.next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard number < loadCount else { return }
            let start = Region.wallTime()
            do {
                let count = try await answerLater(number)
                tally.found.wrappingAdd(count, ordering: .relaxed)
            } catch { tally.failure.withLock { $0 = "\(error)" } }
            let time = Region.wallTime() - start
            tally.times.withLock { $0[number] = time }
        }
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        return context
    }

    private func patients(_ number: Int, _ context: NSManagedObjectContext) throws -> [Patient] {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.returnsObjectsAsFaults = false
        request.predicate = NSPredicate(format: "admitted >= %@", Patients.requested(number) as NSDate)
        request.sortDescriptors = [NSSortDescriptor(key: "admitted", ascending: true)]
        request.fetchLimit = 20
        return try context.fetch(request)
    }

    private func answer(_ number: Int) throws -> Checksum {
        let context = context()
        return try context.performAndWait {
            var checksum = Checksum()
            for patient in try patients(number, context) { checksum.add(patient) }
            return checksum
        }
    }

    /// As on a server: the caller suspends; answers how many patients were read.
    private func answerLater(_ number: Int) async throws -> Int {
        let context = context()
        return try await context.perform {
            var checksum = Checksum()
            let patients = try patients(number, context)
            for patient in patients { checksum.add(patient) }
            return patients.count
        }
    }
}

/// What requests at once share.
private final class Tally: Sendable {
    let next = Atomic<Int>(0)
    let found = Atomic<Int>(0)
    let times = Mutex([Int64](repeating: 0, count: loadCount))
    let failure = Mutex<String?>(nil)
}

/// A context that saves one patient again and again.
private final class Writer: Sendable {
    private let context: NSManagedObjectContext
    private let isStopped = Atomic<Bool>(false)
    private let ended = DispatchSemaphore(value: 0)
    private let failure = Mutex<String?>(nil)

    init(_ coordinator: NSPersistentStoreCoordinator) {
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    func start() {
        Thread.detachNewThread {
            while !self.isStopped.load(ordering: .relaxed) {
                do { try self.save() } catch { self.failure.withLock { $0 = "\(error)" } }
                usleep(1000)
            }
            self.ended.signal()
        }
    }

    private func save() throws {
        let context = context
        try context.performAndWait {
            let request = NSFetchRequest<Patient>(entityName: "Patient")
            request.fetchLimit = 1
            try context.fetch(request).first?.weight += 1
            try context.save()
        }
    }

    func stop() throws {
        isStopped.store(true, ordering: .relaxed)
        ended.wait()
        if let failure = failure.withLock({ $0 }) { throw Failure("the writer: \(failure)") }
    }
}
