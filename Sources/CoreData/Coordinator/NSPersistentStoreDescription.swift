// The description of a store for a container.

import Foundation

/// What a container or coordinator needs to open a store.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// `NSSQLiteStoreType` by default.
    open var type = NSSQLiteStoreType
    /// The configuration with the store's entities; nil for all.
    open var configuration: String?
    /// `/dev/null` by default: a SQLite store there is in memory and exists as long as it is open.
    open var url: URL? = URL(fileURLWithPath: "/dev/null")
    /// The store's options by name.
    public final private(set) var options: [String: NSObject] = [:]
    /// Whether the store is opened on a background queue.
    open var shouldAddStoreAsynchronously = false

    public override init() {
        super.init()
        shouldMigrateStoreAutomatically = true
        shouldInferMappingModelAutomatically = true
    }

    public convenience init(url: URL) {
        self.init()
        self.url = url
    }

    /// Sets an option; nil removes it.
    public final func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store is opened read-only; a missing store is then not created.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setOption(newValue ? NSNumber(value: true) : nil, forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for a lock, in seconds; 240 by default.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// PRAGMAs of a SQLite store by name.
    public final var sqlitePragmas: [String: NSObject] {
        options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:]
    }

    /// Sets a PRAGMA of a SQLite store; nil removes it.
    public final func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(pragmas.isEmpty ? nil : NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
    }

    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

    /// The options in the form that a coordinator needs.
    final var storeOptions: [AnyHashable: Any] {
        var all: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: NSNumber(value: timeout)]
        for (key, value) in options { all[key] = value }
        if !sqlitePragmas.isEmpty { all[NSSQLitePragmasOption] = sqlitePragmas.mapValues { $0 as Any } }
        return all
    }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return type == other.type && configuration == other.configuration && url == other.url
            && options == other.options && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    open override var hash: Int { url.hashValue ^ type.hashValue }

    open override var description: String {
        "<NSPersistentStoreDescription: \(type); url: \(url?.absoluteString ?? "nil")>"
    }
}
