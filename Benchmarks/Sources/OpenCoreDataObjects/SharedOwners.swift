// Requests that write at once: each makes a casualty of a station with an injury (a burn), all of the same two or of their own.

import CoreData
import Synchronization
import Yardstick

struct SharedOwners: Sendable {
    private static let (writers, saves, members) = (32, 6_400, 2_000)
    /// Made once a process: a model is frozen by its first coordinator.
    nonisolated(unsafe) private static let models = [false, true].map { isOrdered in
        Result { try model(isOrdered: isOrdered) }
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let owners: Int
    private let region: Region
    private let policy: NSMergePolicyType

    init(_ task: Task, _ path: String, _ region: Region) throws {
        self.region = region
        owners = task == .sharedNothing ? Self.writers : 1
        policy =
            switch ProcessInfo.processInfo.environment["YARDSTICK_POLICY"] {
            case "storeTrump": .mergeByPropertyStoreTrumpMergePolicyType
            case "objectTrump": .mergeByPropertyObjectTrumpMergePolicyType
            default: .errorMergePolicyType
            }
        coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try Self.models[task == .sharedOrder ? 1 : 0].get())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    }

    /// As many saves as there are to make; the checksum's whole number is how many statements they ran.
    func run() throws -> Checksum {
        for number in 0..<owners { try fill(number) }
        let (next, failure, done) = (Counter(), Fault(), DispatchSemaphore(value: 0))
        let before = coordinator.counters
        region.measure {
            _Concurrency.Task.detached {
                await withTaskGroup(of: Void.self) { group in
                    for writer in 0..<Self.writers { group.addTask { await write(writer, next, failure) } }
                }
                done.signal()
            }
            done.wait()
        }
        if let reason = failure.reason.withLock({ $0 }) { throw Failure("a save was refused: \(reason)") }
        try check()
        let after = coordinator.counters
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        var checksum = Checksum(whole: Int64(after.statements - before.statements))
        checksum.weight = Double(Self.saves)
        return checksum
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy(merge: policy)
        return context
    }

    private func only<T>(_ request: NSFetchRequest<T>, _ number: Int, _ context: NSManagedObjectContext) throws -> T {
        request.predicate = NSPredicate(format: "name == %@", "\(number)")
        guard let found = try context.fetch(request).first else {
            throw Failure("no \(request.entityName ?? "") \(number)")
        }
        return found
    }

    private func fill(_ number: Int) throws {
        let context = context()
        try context.performAndWait {
            let (station, burn) = (Station(context: context), Burn(context: context))
            (station.name, burn.name) = ("\(number)", "\(number)")
            for member in 0..<Self.members { admit("\(member)", station, burn, context) }
            try context.save()
        }
    }

    private func admit(_ name: String, _ station: Station, _ burn: Burn, _ context: NSManagedObjectContext) {
        let casualty = Casualty(context: context)
        casualty.name = name
        casualty.station = station
        casualty.injuries = [burn]
    }

    /// Makes casualties until there are enough.
    private func write(_ writer: Int, _ next: Counter, _ failure: Fault) async {
        while next.value.wrappingAdd(1, ordering: .relaxed).oldValue < Self.saves {
            let context = context()
            do {
                try await context.perform {
                    let number = writer % owners
                    let station = try only(Station.fetchRequest(), number, context)
                    admit("new", station, try only(Burn.fetchRequest(), number, context), context)
                    try context.save()
                }
            } catch { failure.reason.withLock { $0 = "\(error)" } }
        }
    }

    /// All that was saved is there, on both sides.
    private func check() throws {
        let context = context()
        try context.performAndWait {
            for key in ["station.name != nil", "injuries.@count == 1"] {
                let request = NSFetchRequest<Casualty>(entityName: "Casualty")
                request.predicate = NSPredicate(format: key)
                let count = try context.count(for: request)
                guard count == owners * Self.members + Self.saves else {
                    throw Failure("\(count) casualties with \(key)")
                }
            }
        }
    }

    /// Casualties with a station and with injuries; in the order in which they came or in none.
    private static func model(isOrdered: Bool) throws -> NSManagedObjectModel {
        let model = try Models.load("Casualties")
        for owner in ["Station", "Burn"] {
            model.entitiesByName[owner]?.relationshipsByName["casualties"]?.isOrdered = isOrdered
        }
        return model
    }
}

/// What writers share.
private final class Counter: Sendable { let value = Atomic<Int>(0) }
private final class Fault: Sendable { let reason = Mutex<String?>(nil) }
