// Requests that write at once: each makes a casualty of a station with an injury, all of the same two or of their own.

import CoreData
import Synchronization
import Yardstick

final class Casualty: NSManagedObject {
    override class var _managedKeys: [String]? { ["name", "station", "injuries:toMany"] }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }
    var station: Owner? {
        get { _toOne(1) as? Owner }
        set { _setToOne(1, newValue) }
    }
    var injuries: Set<NSManagedObject> {
        get { _toMany(0) }
        set { _setToMany(0, newValue) }
    }
}

/// A station or an injury.
final class Owner: NSManagedObject {
    override class var _managedKeys: [String]? { ["name"] }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }
}

struct SharedOwners: Sendable {
    private static let (writers, saves, members) = (32, 6_400, 2_000)
    /// Made once a process: a model is frozen by its first coordinator.
    nonisolated(unsafe) private static let models = [false, true].map(model)

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
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.models[task == .sharedOrder ? 1 : 0])
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

    private func named(_ entity: String, _ number: Int, _ context: NSManagedObjectContext) throws -> Owner {
        let request = NSFetchRequest<Owner>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", "\(number)")
        guard let found = try context.fetch(request).first else { throw Failure("no \(entity) \(number)") }
        return found
    }

    private func fill(_ number: Int) throws {
        let context = context()
        try context.performAndWait {
            let owners = ["Station", "Injury"].map { Owner(entity: Self.entity($0, context), insertInto: context) }
            for owner in owners { owner.name = "\(number)" }
            for member in 0..<Self.members { admit("\(member)", owners[0], owners[1], context) }
            try context.save()
        }
    }

    private func admit(_ name: String, _ station: Owner, _ injury: Owner, _ context: NSManagedObjectContext) {
        let casualty = Casualty(context: context)
        casualty.name = name
        casualty.station = station
        casualty.injuries = [injury]
    }

    /// Makes casualties until there are enough.
    private func write(_ writer: Int, _ next: Counter, _ failure: Fault) async {
        while next.value.wrappingAdd(1, ordering: .relaxed).oldValue < Self.saves {
            let context = context()
            do {
                try await context.perform {
                    let number = writer % owners
                    admit("new", try named("Station", number, context), try named("Injury", number, context), context)
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
                guard count == owners * Self.members + Self.saves else { throw Failure("\(count) casualties with \(key)") }
            }
        }
    }

    // MARK: Model

    private static func entity(_ name: String, _ context: NSManagedObjectContext) -> NSEntityDescription {
        guard let entity = NSEntityDescription.entity(forEntityName: name, in: context) else { preconditionFailure(name) }
        return entity
    }

    /// Casualty, with a station and with injuries; in the order in which they came or in none.
    private static func model(isOrdered: Bool) -> NSManagedObjectModel {
        let casualty = Clinic.entity("Casualty", [Clinic.attribute("name", .stringAttributeType)])
        let owners = ["Station", "Injury"].map { name in
            let owner = Clinic.entity(name, [Clinic.attribute("name", .stringAttributeType)])
            owner.managedObjectClassName = "OpenCoreDataObjects.Owner"
            return owner
        }
        for (owner, key, count) in [(owners[0], "station", 1), (owners[1], "injuries", 0)] {
            let there = Clinic.relationship(key, to: owner, maxCount: count)
            let back = Clinic.relationship("casualties", to: casualty, maxCount: 0)
            back.isOrdered = isOrdered
            there.inverseRelationship = back
            back.inverseRelationship = there
            casualty.properties.append(there)
            owner.properties.append(back)
        }
        let model = NSManagedObjectModel()
        model.entities = [casualty] + owners
        return model
    }
}

/// What writers share.
private final class Counter: Sendable { let value = Atomic<Int>(0) }
private final class Fault: Sendable { let reason = Mutex<String?>(nil) }
