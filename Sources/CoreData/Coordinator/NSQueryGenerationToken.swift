// The public token of a query generation.

import Foundation

/// Names a state of a coordinator's stores, for `NSManagedObjectContext.setQueryGenerationFrom(_:)`.
///
/// A context's first read with it takes the state, which is kept while a context or a token has it. It occupies a
/// connection of each SQLite store, whose log grows meanwhile. Tokens of the same state are equal. Unarchived in the
/// same process, a token has its state again if something else still has it.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    enum Named {
        /// The latest state at the next read.
        case current
        case state(QueryGeneration)
        /// A state from an archive that nothing has any more.
        case ended(UUID)
    }
    let named: Named

    init(_ named: Named) { self.named = named }

    /// The latest state: a context pinned with it keeps the state that its next read finds.
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
