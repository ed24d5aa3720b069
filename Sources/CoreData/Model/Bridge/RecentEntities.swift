// The entities that were last asked for by name.

/// Entities by where the texts of their names lie: a program's literals lie where they lay, and need no hashing (300 instructions).
struct RecentEntities {
    private static let count = 16
    private var entries: ContiguousArray<(name: String, info: EntityInfo)?> = .init(repeating: nil, count: Self.count)

    /// What a text is made of. Two that agree in this are equal as long as one is kept; two that do not may be equal still.
    @inline(__always)
    private static func words(_ text: String) -> (UInt64, UInt64) { unsafeBitCast(text, to: (UInt64, UInt64).self) }

    @inline(__always)
    private static func place(_ words: (UInt64, UInt64)) -> Int {
        Int(truncatingIfNeeded: ((words.0 ^ words.1) &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }

    subscript(name: String) -> EntityInfo? {
        let words = RecentEntities.words(name)
        guard let entry = entries[RecentEntities.place(words)], RecentEntities.words(entry.name) == words else {
            return nil
        }
        return entry.info
    }

    mutating func keep(_ info: EntityInfo, for name: String) {
        entries[RecentEntities.place(RecentEntities.words(name))] = (name, info)
    }
}
