// A model, a coordinator and contexts in one object.

import CoreDataValues
import Foundation
import Synchronization

/// A Core Data stack in one object: make it with a name, load its stores, use `viewContext` or background contexts.
open class NSPersistentContainer: NSObject, DefaultDirectoryNaming, @unchecked Sendable {
    /// The name of the model's and of the store's file.
    public final let name: String
    public final let managedObjectModel: NSManagedObjectModel
    public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context of the main queue.
    public final let viewContext: NSManagedObjectContext
    private let comparesOwners = Atomic<Bool>(false)
    private let descriptions: Mutex<Descriptions>

    private struct Descriptions: @unchecked Sendable { var all: [NSPersistentStoreDescription] }

    /// The stores that `loadPersistentStores` opens; by default one, `name.sqlite` in `defaultDirectoryURL()`.
    public final var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 }.all }
        set {
            let new = Descriptions(all: newValue)
            descriptions.withLock { $0 = new }
        }
    }

    /// Makes a container for the model `name.xcdatamodeld` (or `.xcdatamodel`, `.momd`, `.mom`), searched in the main
    /// bundle, in all loaded bundles, beside the executable and in the resource bundles there; if there is none, for
    /// the only model found.
    ///
    /// If a package has several versions and does not say which is current, takes the one that wrote the store
    /// `name.sqlite` in `defaultDirectoryURL()`, else the last by name, with a warning.
    ///
    /// A model that is not found is a misuse, which lists the places; `init(name:managedObjectModel:)` takes any model.
    public convenience init(name: String) {
        let url: URL
        do { url = try ModelSearch(name: name).find() } catch { misuse("\(error)") }
        let model: NSManagedObjectModel
        do {
            model = try Self.model(at: url, name)
        } catch { misuse("The model at \(url.path) cannot be used: \(error)") }
        self.init(name: name, managedObjectModel: model)
    }

    /// Loads a model; of a package without a current version, the one that wrote the store at the default place.
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

    /// The folder of stores whose descriptions name no other: in the user's folder for application data, named after
    /// the executable. Loading the stores creates it. Subclasses may return another one.
    open class func defaultDirectoryURL() -> URL {
        let base =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
        return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    // MARK: Stores

    /// Opens the described stores. Calls the block once for each description, with the error if there is one; on a
    /// background queue for descriptions with `shouldAddStoreAsynchronously`.
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
        // If this fails, opening the store reports it with the folder's name.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    open override var description: String { "<\(Swift.type(of: self)): \(summary)>" }

    // MARK: Contexts

    /// `NSManagedObjectContext.comparesRelationshipOwners` of `viewContext`, which it sets, and of contexts that the
    /// container makes afterwards. Ours, beside Core Data's API.
    public final var comparesRelationshipOwners: Bool {
        get { comparesOwners.load(ordering: .relaxed) }
        set {
            comparesOwners.store(newValue, ordering: .relaxed)
            viewContext.comparesRelationshipOwners = newValue
        }
    }

    /// Changes objects in a new background context and saves them; again, in a new one, if another writer was faster.
    ///
    ///     let beds = try await container.write { context in
    ///         let ward = try context.existingObject(with: id)
    ///         …
    ///         return beds
    ///     }
    ///
    /// The block may run more than once, so it must change nothing but objects of its context. Writers run in the order
    /// of their calls and wait suspended. If the save throws 133020 or 133021, whoever caused it, the context is
    /// dropped and the block runs again, 10 times at most, after a pause that grows from a millisecond to half a second
    /// and lets others write. Contexts come from `newBackgroundContext()`. For saves in the block see the coordinator's
    /// `write(_:)`.
    /// - Returns: what the block returned in the attempt that was saved.
    /// - Throws: the block's error, at once and with nothing saved; the save's error, for conflicts that of the last
    ///   attempt; a failed read in a getter; `CancellationError` if the task is cancelled, which ends all waiting.
    public nonisolated(nonsending) final func write<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await persistentStoreCoordinator.write(in: newBackgroundContext, block)
    }

    /// Reads objects in a new background context and returns what the block returns.
    ///
    /// Reads wait neither for writers nor for each other, up to `maximumActiveContexts` blocks in a process. The
    /// context comes from `newBackgroundContext()`. Each fetch and fault finds what is saved when it asks the store.
    /// - Throws: the block's error; 134060 if the block leaves changes, which nothing would save; the error of a failed
    ///   read in a getter; `CancellationError` if the task is cancelled.
    public nonisolated(nonsending) final func read<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await newBackgroundContext().read(block)
    }

    /// Makes a private-queue context for the container's stores.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.comparesOwners = comparesRelationshipOwners
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block asynchronously in a new context.
    public final func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block in a new context and suspends the caller until it has ended. Only the block itself saves.
    ///
    /// - Throws: the error of a failed read in a getter, else the block's.
    @preconcurrency
    public nonisolated(nonsending) final func performBackgroundTask<T>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }

    /// Runs a block that does not throw in a new context and suspends the caller until it has ended.
    @preconcurrency
    public nonisolated(nonsending) final func performBackgroundTask<T>(
        _ block: @escaping @Sendable (NSManagedObjectContext) -> T
    ) async -> T {
        let context = newBackgroundContext()
        return await context.perform { block(context) }
    }
}

/// Gives `NSPersistentContainer` a property besides its method of the same name; a class cannot declare both.
public protocol DefaultDirectoryNaming {
    static func defaultDirectoryURL() -> URL
}

extension DefaultDirectoryNaming {
    /// `defaultDirectoryURL()`, as a property.
    public static var defaultDirectoryURL: URL { defaultDirectoryURL() }
}
