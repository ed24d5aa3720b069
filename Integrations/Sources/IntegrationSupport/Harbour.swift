// A small stack, made with the public API alone.

import CoreData
import Dispatch
import Synchronization

/// A container over a SQLite store with ships and the ports in which they lie.
public final class Harbour: Sendable {
    public let container: NSPersistentContainer
    private let folder: URL

    /// All tests of a process share the places for blocks: with one for each, nobody waits for another test's block,
    /// which a timeout of zero would make an error.
    private static let placesForAll: Void = NSManagedObjectContext.maximumActiveContexts = 100

    public init(ships: Int, options: [String: Double] = [:]) async throws {
        Self.placesForAll
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: "Harbour", managedObjectModel: Self.model())
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("harbour.sqlite"))
        for (name, value) in options { description.setOption(NSNumber(value: value), forKey: name) }
        container.persistentStoreDescriptions = [description]
        try await container.loadPersistentStores()
        try await container.write { context in
            for number in 0..<ships {
                let port = NSEntityDescription.insertNewObject(forEntityName: "Port", into: context)
                port.setValue("p\(number)", forKey: "name")
                let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
                ship.setValue("s\(number)", forKey: "name")
                ship.setValue(port, forKey: "port")
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    public var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

    /// Reads the names of all ports by their ships, past the row cache. Not by `read`, which waits for its turn before it asks for a connection.
    public func portNames() async throws -> [String] {
        coordinator.rowCacheLimit = 0
        let context = container.newBackgroundContext()
        return try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ship")
            return try context.fetch(request).compactMap { $0.value(forKeyPath: "port.name") as? String }.sorted()
        }
    }

    /// Runs the body while a read has a connection, and answers what the body does once that read is over.
    public func whileReading<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let (leaving, isFirst) = (DispatchSemaphore(value: 0), Gate())
        // An observer is called by who has the connection.
        let observation = coordinator.observe { event in
            guard case .statement = event, isFirst.pass() else { return }
            signal.finish()
            leaving.wait()
        }
        defer { observation.end() }
        async let names = portNames()
        for await _ in entered {}
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        leaving.signal()
        _ = try await names
        return try result.get()
    }

    /// Lets one pass.
    private final class Gate: Sendable {
        private let isOpen = Mutex(true)
        func pass() -> Bool {
            isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
        }
    }

    /// Reads again until somebody waits for a connection.
    public func awaitWaiting() async {
        while coordinator.diagnostics().stores.allSatisfy(\.waiting.isEmpty) { await Task.yield() }
    }

    private static func model() -> NSManagedObjectModel {
        let ship = NSEntityDescription()
        ship.name = "Ship"
        let port = NSEntityDescription()
        port.name = "Port"
        let berth = NSRelationshipDescription()
        berth.name = "port"
        berth.destinationEntity = port
        berth.maxCount = 1
        let ships = NSRelationshipDescription()
        ships.name = "ships"
        ships.destinationEntity = ship
        (berth.inverseRelationship, ships.inverseRelationship) = (ships, berth)
        ship.properties = [name(), berth]
        port.properties = [name(), ships]
        let model = NSManagedObjectModel()
        model.entities = [ship, port]
        return model
    }

    private static func name() -> NSAttributeDescription {
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = false
        name.setValidationPredicates([NSPredicate(format: "length <= 100")], withValidationWarnings: ["1660"])
        return name
    }
}
