// The versions in which a context last read rows that it has no object of.

import CoreDataValues

/// The versions of rows of one root entity in one store, by number: one byte a row, eight rows in an entry of 16 bytes,
/// found by `number >> 3`. Not thread-safe by itself.
struct VersionTable: ~Copyable {
    private struct Entry {
        /// The group of eight rows, counted from 1; 0 for an empty entry.
        var group: UInt64
        /// One byte for each row, 0 for an unknown version.
        var versions: UInt64
    }

    /// nil until a version is known.
    private var entries: UnsafeMutablePointer<Entry>?
    private var mask = 0
    private var count = 0
    /// The place of the entry written last.
    private var last = 0
    /// Versions that do not fit into a byte.
    private var large: [Int64: Int32] = [:]
    /// The byte that stands for a version in `large`.
    private static let isLarge: UInt8 = 255

    deinit { free(entries) }

    // MARK: Bytes

    /// The byte of a version. The lowest is -1 (NULL in the store).
    @inline(__always)
    mutating func byte(of version: Int32, _ number: Int64) -> UInt8 {
        if version >= -1, version < 253 { return UInt8(truncatingIfNeeded: version &+ 2) }
        large[number] = version
        return VersionTable.isLarge
    }

    func version(_ byte: UInt8, _ number: Int64) -> Int32? {
        byte == 0 ? nil : byte == VersionTable.isLarge ? large[number] : Int32(byte) - 2
    }

    // MARK: Rows

    subscript(number: Int64) -> Int32? {
        guard let entries, let place = place(VersionTable.group(number)) else { return nil }
        return version(UInt8(truncatingIfNeeded: entries[place].versions >> VersionTable.shift(number)), number)
    }

    @inline(__always)
    mutating func set(_ number: Int64, _ version: Int32) {
        let byte = UInt64(byte(of: version, number))
        let group = VersionTable.group(number)
        let place = place(group) ?? add(group)
        guard let entries else { return }
        let shift = VersionTable.shift(number)
        entries[place].versions = entries[place].versions & ~(255 << shift) | byte << shift
        last = place
    }

    /// Takes over the bytes of eight rows, except for zeros.
    mutating func merge(group number: Int64, _ bytes: UInt64) {
        guard bytes != 0 else { return }
        let group = VersionTable.group(number)
        let place = place(group) ?? add(group)
        guard let entries else { return }
        var known: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) where bytes >> shift & 255 != 0 { known |= 255 << shift }
        entries[place].versions = entries[place].versions & ~known | bytes
    }

    mutating func forget(_ number: Int64) {
        guard let entries, let place = place(VersionTable.group(number)) else { return }
        entries[place].versions &= ~(255 << VersionTable.shift(number))
    }

    mutating func removeAll() {
        free(entries)
        entries = nil
        (mask, count, last) = (0, 0, 0)
        large = [:]
    }

    // MARK: Places

    private static func group(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) >> 3 &+ 1 }
    private static func shift(_ number: Int64) -> UInt64 { (UInt64(bitPattern: number) & 7) << 3 }
    private static func hash(_ group: UInt64) -> Int { Int(truncatingIfNeeded: (group &* 0x9E37_79B9_7F4A_7C15) >> 24) }

    @inline(__always)
    private func place(_ group: UInt64) -> Int? {
        guard let entries else { return nil }
        if entries[last].group == group { return last }
        var place = VersionTable.hash(group) & mask
        while entries[place].group != 0 {
            if entries[place].group == group { return place }
            place = (place &+ 1) & mask
        }
        return nil
    }

    /// Adds an entry. A list that is three quarters full is doubled before.
    @inline(never)
    private mutating func add(_ group: UInt64) -> Int {
        if entries == nil || (count + 1) * 4 > (mask + 1) * 3 { grow() }
        guard let entries else { return 0 }
        var place = VersionTable.hash(group) & mask
        while entries[place].group != 0 { place = (place &+ 1) & mask }
        entries[place].group = group
        count += 1
        return place
    }

    private mutating func grow() {
        let former = entries
        // 32 entries are enough for most short-lived contexts.
        let size = former == nil ? 32 : 2 * (mask + 1)
        let grown: UnsafeMutablePointer<Entry> = IdentityTable.zeros(size)
        let formerSize = mask + 1
        (entries, mask, count, last) = (grown, size - 1, 0, 0)
        guard let former else { return }
        for index in 0..<formerSize where former[index].versions != 0 {
            var place = VersionTable.hash(former[index].group) & mask
            while grown[place].group != 0 { place = (place &+ 1) & mask }
            grown[place] = former[index]
            count += 1
        }
        free(former)
    }
}
