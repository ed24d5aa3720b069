// The concurrency types of contexts.

/// How a context's work is scheduled.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// A context that belongs to the thread that made it. Core Data has deprecated it; making one is a misuse here.
    case confinementConcurrencyType = 0
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
    /// How a context's work is scheduled, under the shorter name.
    public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType

        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

        /// A serial queue of the context's own.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// Makes a context of a concurrency type, without coordinator or parent.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }
}
