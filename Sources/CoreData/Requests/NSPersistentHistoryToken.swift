// A place in the history of stores.

import Foundation

/// Names the last transaction of the history of one store or of several; transactions with higher numbers came later.
///
/// Tokens are equal when they name the same transactions of the same stores, whichever coordinator or process made them. They may
/// be archived, to be compared with the history of another day.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// Transaction numbers by the UUIDs of the stores.
    let transactions: [String: Int64]

    init(transactions: [String: Int64]) { self.transactions = transactions }

    /// Where the histories of stores are now; nil when none of them keeps one. One short read a store.
    ///
    /// A store that cannot be read now is where it was when it was last known, so that whoever goes on from here misses nothing and
    /// does not begin anew; of one that was never known all of them are nil, as if there were no token. Either is told as a warning.
    convenience init?(of stores: [NSPersistentStore]) {
        var transactions: [String: Int64] = [:]
        do {
            for store in stores {
                guard let last = try store.currentTransaction() else { continue }
                transactions[store.identifier] = last
            }
        } catch { return nil }
        if transactions.isEmpty { return nil }
        self.init(transactions: transactions)
    }

    public static var supportsSecureCoding: Bool { true }

    private static let key = "NSPersistentHistoryTokenDictionary"

    public func encode(with coder: NSCoder) {
        coder.encode(
            NSDictionary(dictionary: transactions.mapValues { NSNumber(value: $0) }),
            forKey: NSPersistentHistoryToken.key)
    }

    public init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard
            let archived = coder.decodeObject(of: classes, forKey: NSPersistentHistoryToken.key) as? [String: NSNumber]
        else { return nil }
        transactions = archived.mapValues(\.int64Value)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.transactions == transactions
    }

    public override var hash: Int { transactions.hashValue }

    public override var description: String {
        "{ "
            + transactions.sorted { $0.key < $1.key }.map { "\"\($0.key)\" = \($0.value);" }.joined(separator: " ")
            + " }"
    }
}
