// What programs have of a query generation.

import Foundation

/// Names a state of a coordinator's stores, for `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// The state is taken when a context first reads with it, and kept while a context or a token has it: each of a SQLite store takes a
/// connection, and the store's log grows meanwhile. Tokens of the same state are equal. An archived token leads back to its state in the
/// same process as long as something else has it.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    enum Named {
        /// The latest state of the moment of the next read.
        case current
        case state(QueryGeneration)
        /// What an archive named, and nobody has any more.
        case ended(UUID)
    }
    let named: Named

    init(_ named: Named) { self.named = named }

    /// The latest state: a context that is pinned by it stays with what the stores have when it reads next.
    public static let current = NSQueryGenerationToken(.current)

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        switch (named, other.named) {
        case (.current, .current): return true
        case (.state(let one), .state(let other)): return one === other
        case (.ended(let one), .ended(let other)): return one == other
        case (.current, _), (.state, _), (.ended, _): return false
        }
    }

    public override var hash: Int {
        switch named {
        case .current: 0
        case .state(let generation): ObjectIdentifier(generation).hashValue
        case .ended(let uuid): uuid.hashValue
        }
    }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    private static let key = "NSQueryGeneration"

    public func encode(with coder: NSCoder) {
        switch named {
        case .current: break
        case .state(let generation): coder.encode(generation.uuid.uuidString as NSString, forKey: Self.key)
        case .ended(let uuid): coder.encode(uuid.uuidString as NSString, forKey: Self.key)
        }
    }

    public init?(coder: NSCoder) {
        if coder.containsValue(forKey: Self.key) {
            guard let text = coder.decodeObject(of: NSString.self, forKey: Self.key),
                let uuid = UUID(uuidString: text as String)
            else { return nil }
            named = QueryGeneration.named(uuid).map { .state($0) } ?? .ended(uuid)
        } else {
            named = .current
        }
    }
}
