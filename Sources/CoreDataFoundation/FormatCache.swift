// Format texts that were read before.

import CoreDataValues
import enum CoreDataValues.Predicate
import Foundation
import Synchronization

/// The trees of predicate formats, by text. A program has few texts and uses them again and again; reading one costs 20,000
/// instructions.
///
/// What a text means does not depend on the arguments: they travel through the tree as variables. Only a key path (`%K`)
/// among them is part of the tree, so such texts are not kept. When there are too many all are let go. May be used from any thread.
final class FormatCache: Sendable {
    struct Entry: Sendable {
        let tree: Predicate
        /// How many arguments the text asks for.
        let argumentCount: Int
    }

    static let shared = FormatCache()
    static let limit = 256
    private let entries = Mutex<[String: Entry]>([:])

    /// The tree of a text, nil when it has to be read: it is new, or asks for more arguments than there are.
    func tree(_ text: String, argumentCount: Int) -> Predicate? {
        guard let entry = entries.withLock({ $0[text] }), entry.argumentCount <= argumentCount else { return nil }
        return entry.tree
    }

    func keep(_ entry: Entry, for text: String) {
        entries.withLock { entries in
            if entries.count >= FormatCache.limit { entries.removeAll() }
            entries[text] = entry
        }
    }
}
