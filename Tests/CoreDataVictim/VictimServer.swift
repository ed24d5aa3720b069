// A small server for tests to end with SIGTERM.

import CoreData
import CoreDataTestSupport
import Foundation
import Synchronization

/// Two threads save and read without end; SIGTERM closes the container and ends the process.
enum VictimServer {
    static func run(_ url: URL) throws {
        let container = NSPersistentContainer(name: "Victim", managedObjectModel: VictimModel.make())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        nonisolated(unsafe) var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        let ended = DispatchSemaphore(value: 0)
        source.setEventHandler { ended.signal() }
        source.resume()
        let saves = Mutex(0)
        Thread.detachNewThread { work(container) { saves.withLock { $0 += 1 } } }
        Thread.detachNewThread { work(container) { saves.withLock { $0 += 1 } } }
        while saves.withLock({ $0 }) < 20 { usleep(1000) }
        Victim.say("serving")
        ended.wait()
        try container.close()
        Victim.say("closed")
    }

    private static func work(_ container: NSPersistentContainer, _ saved: @escaping @Sendable () -> Void) {
        while true {
            let isClosed = container.newBackgroundContext().workOnce()
            if isClosed { return }
            saved()
        }
    }
}

extension NSManagedObjectContext {
    /// Saves one person and reads all; true when the store is closed.
    fileprivate func workOnce() -> Bool {
        performAndWait {
            make("Person", ["name": "guest", "photo": Data(repeating: 1, count: 2000)])
            do {
                try save()
                _ = try fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
                return false
            } catch {
                return true
            }
        }
    }
}
