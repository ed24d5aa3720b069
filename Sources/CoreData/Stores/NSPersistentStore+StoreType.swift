// Store types as Swift writes them.

extension NSPersistentStore {
    /// The kind of a store; programs add their own with `init(rawValue:)` and `registerStoreClass(_:type:)`.
    public struct StoreType: Hashable, RawRepresentable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        public static let xml = StoreType(rawValue: NSXMLStoreType)
        /// Ours; Core Data has no such type.
        public static let propertyList = StoreType(rawValue: NSPropertyListStoreType)
    }
}
