// Finds the places of names.

/// The places of a few hundred names, fixed from the beginning.
///
/// Hashes the length and two bytes alone: a dictionary, which hashes every byte with a secret of its own, takes three times as long
/// (400 instructions). Names that agree in these stand one after the other.
struct NameTable: Sendable {
    private let names: [String]
    /// Places of names by hash, -1 where there is none; a power of two, at least half of them free.
    private var places: [Int32]

    init(_ names: [String]) {
        self.names = names
        var size = 4
        while size < 2 * names.count { size *= 2 }
        places = Array(repeating: -1, count: size)
        for (place, name) in names.enumerated() {
            var index = NameTable.hash(name) & (size - 1)
            while places[index] >= 0 { index = (index + 1) & (size - 1) }
            places[index] = Int32(place)
        }
    }

    /// The place of a name, nil for another.
    func place(of name: String) -> Int? {
        var index = NameTable.hash(name) & (places.count &- 1)
        while places[index] >= 0 {
            let place = Int(places[index])
            if names[place] == name { return place }
            index = (index &+ 1) & (places.count &- 1)
        }
        // Unicode writes one name in several ways.
        return names.firstIndex(of: name)
    }

    private static func hash(_ name: String) -> Int {
        let bytes = name.utf8
        guard let first = bytes.first, let last = bytes.last else { return 0 }
        let word = UInt64(truncatingIfNeeded: bytes.count) << 16 | UInt64(first) << 8 | UInt64(last)
        return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }
}
