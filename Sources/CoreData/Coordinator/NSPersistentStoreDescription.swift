// What a container is to open.

import Foundation

/// Everything about a store that a container or coordinator needs to open it.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// `NSSQLiteStoreType` unless set.
    open var type = NSSQLiteStoreType
    /// The configuration whose entities the store keeps, nil for all.
    open var configuration: String?
    /// `/dev/null` unless set: a SQLite store there lies in memory and lives as long as it is open.
    open var url: URL? = URL(fileURLWithPath: "/dev/null")
    /// The options of the store, by name.
    public final private(set) var options: [String: NSObject] = [:]
    /// Whether the store is opened on a queue in the background.
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

    /// Sets an option or, with nil, takes it away.
    public final func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store is opened without the right to write. A store that is not there is then not made.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setOption(newValue ? NSNumber(value: true) : nil, forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for another's lock, in seconds; 240 unless set.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// PRAGMAs of a SQLite store by name.
    public final var sqlitePragmas: [String: NSObject] {
        options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:]
    }

    /// Sets a PRAGMA of a SQLite store or, with nil, takes it away.
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

    /// The options as a coordinator takes them.
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
