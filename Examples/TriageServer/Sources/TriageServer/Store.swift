// The container of the server: opened and filled before the first request, closed after the last one.

import CoreData
import ServiceLifecycle

struct Store: Service {
    let container: NSPersistentContainer

    /// - Parameters:
    ///   - readers: how many reads run at once, if there are as many threads for them; further ones wait.
    ///   - patience: the seconds that reads and writes wait for their turn, and for a connection, before 134090 is thrown, which becomes
    ///     503.
    init(file: URL, readers: Int, patience: Double) {
        // Finds Triage.xcdatamodeld among the resources of the target.
        container = NSPersistentContainer(name: "Triage")
        let description = NSPersistentStoreDescription(url: file)
        description.setOption(NSNumber(value: readers), forKey: SQLiteReaderLimitOption)
        description.setOption(NSNumber(value: patience), forKey: SQLiteConnectionTimeoutOption)
        description.timeout = patience
        container.persistentStoreDescriptions = [description]
    }

    func open() async throws {
        try await container.loadPersistentStores()
        try await container.seed()
    }

    /// Waits for the end of the server and closes the store: the log is moved into the file, and one file is left.
    func run() async throws {
        try? await gracefulShutdown()
        try container.close()
    }
}
