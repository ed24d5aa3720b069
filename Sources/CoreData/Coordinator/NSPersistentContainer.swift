// A model, a coordinator and contexts, put together.

import CoreDataValues
import Foundation
import Synchronization

/// A Core Data stack in one object: make it with a name, load its stores, use `viewContext` or contexts of the background.
open class NSPersistentContainer: NSObject, DefaultDirectoryNaming, @unchecked Sendable {
    /// The name of the model's file and of the store's.
    public final let name: String
    public final let managedObjectModel: NSManagedObjectModel
    public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue.
    public final let viewContext: NSManagedObjectContext
    private let comparesOwners = Atomic<Bool>(false)
    private let descriptions: Mutex<Descriptions>

    private struct Descriptions: @unchecked Sendable { var all: [NSPersistentStoreDescription] }

    /// What `loadPersistentStores` is to open; one SQLite store `name.sqlite` in `defaultDirectoryURL()` unless changed.
    public final var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 }.all }
        set {
            let new = Descriptions(all: newValue)
            descriptions.withLock { $0 = new }
        }
    }

    /// A container for the model `name.xcdatamodeld` (or `.xcdatamodel`, `.momd`, `.mom`), looked for in the main bundle, in all
    /// loaded bundles, beside the executable and in the resource bundles there; if there is none, for the only model of these.
    ///
    /// Of a package with several versions and no file that says which is current, the version is taken that the store
    /// `name.sqlite` in `defaultDirectoryURL()` was written with, else the last by name, with a warning.
    ///
    /// A model that is nowhere is a misuse, which says what was looked for; `init(name:managedObjectModel:)` takes one made
    /// elsewhere.
    public convenience init(name: String) {
        let url: URL
        do { url = try ModelSearch(name: name).find() } catch { misuse("\(error)") }
        let model: NSManagedObjectModel
        do {
            model = try Self.model(at: url, name)
        } catch { misuse("The model at \(url.path) cannot be used: \(error)") }
        self.init(name: name, managedObjectModel: model)
    }

    /// Of a package that does not say which version is current, the one that the store at the usual place was written with.
    static func model(at url: URL, _ name: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(
            loading: url,
            forStore: {
                let store = defaultDirectoryURL().appendingPathComponent(name + ".sqlite")
                guard FileManager.default.fileExists(atPath: store.path) else { return nil }
                return try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: NSSQLiteStoreType, at: store)
            })
    }

    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        managedObjectModel = model
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        let description = NSPersistentStoreDescription(
            url: Self.defaultDirectoryURL().appendingPathComponent(name + ".sqlite"))
        descriptions = Mutex(Descriptions(all: [description]))
        super.init()
    }

    /// Where stores lie unless their descriptions say otherwise: the user's folder for application data, with a folder named after
    /// the executable. Loading the stores makes it. Subclasses may answer another one.
    open class func defaultDirectoryURL() -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
        return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    // MARK: Stores

    /// Opens the described stores. The block is called once for each description, with the error if there is one; a description
    /// with `shouldAddStoreAsynchronously` calls it from a queue in the background.
    public final func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            makeDefaultFolder(for: description)
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Opens the described stores and throws the first error. Ours; Core Data has only the form with a block.
    public final func loadPersistentStores() async throws {
        for description in persistentStoreDescriptions {
            makeDefaultFolder(for: description)
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                persistentStoreCoordinator.addPersistentStore(with: description) { _, error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                }
            }
        }
    }

    private func makeDefaultFolder(for description: NSPersistentStoreDescription) {
        let folder = Self.defaultDirectoryURL()
        guard description.url?.deletingLastPathComponent().standardizedFileURL == folder.standardizedFileURL else {
            return
        }
        // A failure shows when the store is opened, with the folder's name.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    open override var description: String { "<\(Swift.type(of: self)): \(summary)>" }

    // MARK: Contexts

    /// `NSManagedObjectContext.comparesRelationshipOwners` of `viewContext`, which it sets, and of the contexts that the container
    /// makes from now on. Ours, beside Core Data's API.
    public final var comparesRelationshipOwners: Bool {
        get { comparesOwners.load(ordering: .relaxed) }
        set {
            comparesOwners.store(newValue, ordering: .relaxed)
            viewContext.comparesRelationshipOwners = newValue
        }
    }

    /// Changes objects in a background context of their own and saves them; again, in a new one, if another writer was faster.
    ///
    ///     let beds = try await container.write { context in
    ///         let ward = try context.existingObject(with: id)
    ///         …
    ///         return beds
    ///     }
    ///
    /// The block may run more than once: let it change objects of its context and nothing else. Writers take turns in the order in
    /// which they called and wait suspended. If the save throws 133020 or 133021, whoever caused it, the context is dropped, and after
    /// a pause that grows from a millisecond to half a second, in which others write, the block runs again, 10 times at most. Contexts
    /// come from `newBackgroundContext()`. Of saves inside the block see `write(_:)` of the coordinator.
    /// - Returns: what the block has returned in the attempt that was saved.
    /// - Throws: what the block throws, at once, and nothing is saved then; what the save throws, a conflict of the last attempt; a
    ///   read that failed inside a getter; `CancellationError` when the task is cancelled, which ends waits and pauses.
    public nonisolated(nonsending) final func write<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await persistentStoreCoordinator.write(in: newBackgroundContext, block)
    }

    /// Reads objects in a background context of their own and answers what the block makes of them.
    ///
    /// Reads wait neither for writers nor for each other, up to `maximumActiveContexts` blocks in a process. The context comes from
    /// `newBackgroundContext()`. Each fetch and each fault sees what is saved when it asks the store.
    /// - Throws: what the block throws; 134060 when the block leaves changes behind, since nobody would save them; a read that
    ///   failed inside a getter; `CancellationError` when the task is cancelled.
    public nonisolated(nonsending) final func read<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await newBackgroundContext().read(block)
    }

    /// A private-queue context on the container's stores.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.comparesOwners = comparesRelationshipOwners
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block in a context of its own, later.
    public final func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block in a context of its own and suspends the caller until it is done. Nothing is saved but by the block.
    ///
    /// - Throws: what the block throws; before that, a read that failed inside a getter.
    @preconcurrency
    public nonisolated(nonsending) final func performBackgroundTask<T>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }

    /// Runs a block that throws nothing in a context of its own and suspends the caller until it is done.
    @preconcurrency
    public nonisolated(nonsending) final func performBackgroundTask<T>(
        _ block: @escaping @Sendable (NSManagedObjectContext) -> T
    ) async -> T {
        let context = newBackgroundContext()
        return await context.perform { block(context) }
    }
}

/// What gives `NSPersistentContainer` a property beside its method of the same name; a class cannot declare both.
public protocol DefaultDirectoryNaming {
    static func defaultDirectoryURL() -> URL
}

extension DefaultDirectoryNaming {
    /// `defaultDirectoryURL()`, as a property.
    public static var defaultDirectoryURL: URL { defaultDirectoryURL() }
}
