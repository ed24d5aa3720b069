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
    final class Entry: Sendable {
        let tree: Predicate
        /// How many arguments the text asks for.
        let argumentCount: Int
        /// A bit for each of the first arguments that `%d` and its like ask for.
        let numbers: UInt64
        /// The whole text, where it compares a key path with an argument and does nothing else.
        let plain: PlainComparison?

        init(tree: Predicate, argumentCount: Int, numbers: UInt64, plain: PlainComparison?) {
            self.tree = tree
            self.argumentCount = argumentCount
            self.numbers = numbers
            self.plain = plain
        }
    }

    /// Texts are the same by their scalars: one with é and one with e and an accent find different things.
    private struct Text: Hashable {
        let text: String
        init(_ text: String) { self.text = text }
        static func == (left: Text, right: Text) -> Bool { left.text.hasSameBytes(right.text) }
    }

    private struct State {
        var entries: [Text: Entry] = [:]
        /// The last texts that were asked for, by where they lie: a program's literals lie where they lay, and need no hashing.
        var recent: [(text: String, entry: Entry)?] = Array(repeating: nil, count: FormatCache.recentCount)
    }

    static let shared = FormatCache()
    static let limit = 256
    private static let recentCount = 64
    private let state = Mutex(State())

    /// What is known of a text, nil when it has to be read: it is new, or asks for more arguments than there are.
    func entry(_ text: String, argumentCount: Int) -> Entry? {
        let words = FormatCache.words(text)
        let place = Int(truncatingIfNeeded: ((words.0 ^ words.1) &* 0x9E37_79B9_7F4A_7C15) >> 58)
        let entry: Entry? = state.withLock { state in
            if let recent = state.recent[place], FormatCache.words(recent.text) == words { return recent.entry }
            guard let known = state.entries[Text(text)] else { return nil }
            state.recent[place] = (text, known)
            return known
        }
        guard let entry, entry.argumentCount <= argumentCount else { return nil }
        return entry
    }

    /// What a text is made of. Two that agree in this are equal as long as one is kept; two that do not may be equal still.
    @inline(__always)
    private static func words(_ text: String) -> (UInt64, UInt64) { unsafeBitCast(text, to: (UInt64, UInt64).self) }

    func keep(_ entry: Entry, for text: String) {
        state.withLock { state in
            if state.entries.count >= FormatCache.limit { state = State() }
            state.entries[Text(text)] = entry
        }
    }
}
