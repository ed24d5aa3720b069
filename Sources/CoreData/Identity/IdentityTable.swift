// The objects of a context that have one root entity and one store.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// The objects of one root entity in one store, by number: pages of 64 unretained pointers found by `number >> 6`. Up
/// to 32 objects are kept in a list instead, which is enough for a short-lived context. When an object goes, the table
/// remembers the version in which its row was read: in the object's place in the list, beside its page, or in a
/// `VersionTable` if there is neither.
///
/// Measured: a dictionary of weak references costs 249–1,161 ns an insertion, this 44. Removal in order is quadratic in
/// a table hashed by identity, here it is constant. Not thread-safe by itself: `IdentityMap` holds the lock.
struct IdentityTable: ~Copyable {
    private typealias Page = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private struct Entry {
        var key: Int64
        /// Word 0 is the number of objects, words 1…64 are the objects, words 65…72 have one byte for the version of
        /// each row.
        var page: Page?
    }
    private struct Single {
        var number: Int64
        var object: UnsafeMutableRawPointer?
        /// The version of the row once the object is gone, if known.
        var version = IdentityTable.noVersion
    }

    /// Up to 32 objects in the order they came, some of them gone again; nil once there are pages. A version found here
    /// is later than one in `versions`.
    private var singles: UnsafeMutablePointer<Single>?
    /// The place of the first object that is left, and that of the next one. Gone ones before it stay for their
    /// versions.
    private var singleStart = 0
    private var singleEnd = 0
    private static let singleLimit = 32
    /// nil until there are pages.
    private var entries: UnsafeMutablePointer<Entry>?
    private var mask = 15
    private var pageCount = 0
    /// How many pages have no objects. They stay for the next rows near by: scattered look-ups would otherwise make and
    /// drop a page each.
    private var emptyCount = 0
    private static let emptyLimit = 256
    private var lastKey: Int64 = .min
    private var lastPage: Page?
    /// The versions of rows without a page. If a page has a version too, that is the later one.
    private var versions = VersionTable()
    /// Means that no version is known.
    static let noVersion = Int32.min

    init() {
        singles = IdentityTable.memory(IdentityTable.singleLimit)
    }

    deinit {
        free(singles)
        guard let entries else { return }
        for index in 0...mask { free(entries[index].page) }
        free(entries)
    }

    /// Memory from `malloc` itself, which is cheaper than Swift's allocation.
    private static func memory<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
        guard let memory = malloc(count * MemoryLayout<T>.stride) else { misuse("There is no memory left.") }
        return memory.bindMemory(to: T.self, capacity: count)
    }

    /// Memory filled with zeros, which are nil.
    static func zeros<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
        guard let memory = coredata_zeros(count * MemoryLayout<T>.stride) else { misuse("There is no memory left.") }
        return memory.bindMemory(to: T.self, capacity: count)
    }

    private static func hash(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 24)
    }

    // MARK: Objects

    /// The object of a number, retained; nil if there is none or it is being deallocated.
    mutating func retained(_ number: Int64) -> Unmanaged<NSManagedObject>? {
        guard let pointer = object(number), let retained = coredata_try_retain(pointer) else { return nil }
        return Unmanaged.fromOpaque(retained)
    }

    /// Whether there is certainly no object, known without a search.
    var isClear: Bool { singles != nil && singleStart == singleEnd }

    private mutating func object(_ number: Int64) -> UnsafeMutableRawPointer? {
        if let singles { return place(number, singles).flatMap { singles[$0].object } }
        return page(number >> 6)?[Int(number & 63) &+ 1]
    }

    /// Registers an object under a number, in place of another one.
    mutating func set(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        if let singles {
            if let place = place(number, singles) {
                singles[place].object = object
                return
            }
            if addSingle(number, object, singles) { return }
        }
        let page = page(number >> 6) ?? addPage(number >> 6)
        let place = Int(number & 63) &+ 1
        if page[place] == nil {
            if page[0] == nil { emptyCount -= 1 }
            page[0] = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: page[0]) &+ 1)
        }
        page[place] = object
    }

    /// Registers an object under a number that no living object has. One that is being deallocated may still be there;
    /// the newer one hides it.
    @inline(__always)
    mutating func add(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        if let singles, addSingle(number, object, singles) { return }
        set(number, object)
    }

    /// Removes an entry if it is still this object's, and remembers the version of its row.
    @inline(__always)
    mutating func remove(_ number: Int64, _ object: UnsafeMutableRawPointer, _ version: Int32) {
        if let singles { return removeSingle(number, object, version, singles) }
        guard let page = page(number >> 6) else { return }
        let place = Int(number & 63) &+ 1
        guard page[place] == object else { return }
        page[place] = nil
        if version != IdentityTable.noVersion {
            IdentityTable.bytes(page)[place &- 1] = versions.byte(of: version, number)
        }
        page[0] = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: page[0]) &- 1)
        guard page[0] == nil else { return }
        emptyCount += 1
        if emptyCount > IdentityTable.emptyLimit { dropEmptyPages() }
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        if let singles {
            for place in singleStart..<singleEnd { if let object = singles[place].object { body(object) } }
        }
        guard let entries else { return }
        for index in 0...mask {
            guard let page = entries[index].page else { continue }
            for place in 1...64 { if let object = page[place] { body(object) } }
        }
    }

    // MARK: Versions

    private static func bytes(_ page: Page) -> UnsafeMutablePointer<UInt8> {
        UnsafeMutableRawPointer(page + 65).assumingMemoryBound(to: UInt8.self)
    }

    /// The version in which the program last read a row that has no object, or whose object it has not read.
    mutating func version(_ number: Int64) -> Int32? {
        if let page = page(number >> 6),
            let known = versions.version(IdentityTable.bytes(page)[Int(number & 63)], number)
        {
            return known
        }
        return singleVersion(number) ?? versions[number]
    }

    /// Remembers the version of a row that was read and may never get an object.
    mutating func note(_ number: Int64, _ version: Int32) {
        guard let page = page(number >> 6) else {
            forgetSingleVersion(number)
            return versions.set(number, version)
        }
        IdentityTable.bytes(page)[Int(number & 63)] = versions.byte(of: version, number)
    }

    mutating func forgetVersion(_ number: Int64) {
        if let page = page(number >> 6) { IdentityTable.bytes(page)[Int(number & 63)] = 0 }
        forgetSingleVersion(number)
        versions.forget(number)
    }

    mutating func forgetVersions() {
        versions.removeAll()
        if let singles { for place in 0..<singleEnd { singles[place].version = IdentityTable.noVersion } }
        guard let entries else { return }
        for index in 0...mask {
            if let page = entries[index].page { IdentityTable.bytes(page).update(repeating: 0, count: 64) }
        }
    }

    /// Copies the versions beside a page into `versions`, eight at a time.
    private mutating func keepVersions(of page: Page, _ key: Int64) {
        for word in 0..<8 {
            versions.merge(group: key << 6 + Int64(word) << 3, UInt64(UInt(bitPattern: page[65 + word])))
        }
    }

    // MARK: Few objects

    /// The place of a number, searched from the newest object on.
    @inline(__always)
    private func place(_ number: Int64, _ singles: UnsafeMutablePointer<Single>) -> Int? {
        var place = singleEnd
        while place > singleStart {
            place &-= 1
            if singles[place].number == number, singles[place].object != nil { return place }
        }
        return nil
    }

    /// Appends an object to the list; false if there are too many, so that pages hold them from now on.
    @inline(__always)
    private mutating func addSingle(
        _ number: Int64, _ object: UnsafeMutableRawPointer, _ singles: UnsafeMutablePointer<Single>
    ) -> Bool {
        guard singleEnd < IdentityTable.singleLimit || closeGaps(singles) else { return false }
        singles[singleEnd] = Single(number: number, object: object)
        singleEnd &+= 1
        return true
    }

    /// Removes an object and leaves the version of its row in its place. A short-lived context never asks for it, and
    /// keys that lie far apart would cost a `VersionTable` an entry each (150 instructions). Objects mostly go in the
    /// order they came.
    @inline(__always)
    private mutating func removeSingle(
        _ number: Int64, _ object: UnsafeMutableRawPointer, _ version: Int32, _ singles: UnsafeMutablePointer<Single>
    ) {
        let place = singleStart
        guard place < singleEnd, UInt(bitPattern: singles[place].object) == UInt(bitPattern: object) else {
            return removeInside(number, object, version, singles)
        }
        singles[place].object = nil
        singles[place].version = version
        repeat { singleStart &+= 1 } while singleStart < singleEnd && singles[singleStart].object == nil
    }

    @inline(never)
    private mutating func removeInside(
        _ number: Int64, _ object: UnsafeMutableRawPointer, _ version: Int32, _ singles: UnsafeMutablePointer<Single>
    ) {
        for place in singleStart..<singleEnd where singles[place].object == object {
            singles[place].object = nil
            singles[place].version = version
            return
        }
        // A newer object has its place.
        if version != IdentityTable.noVersion { versions.set(number, version) }
    }

    /// The version that the newest gone object with a number has left.
    private func singleVersion(_ number: Int64) -> Int32? {
        guard let singles else { return nil }
        for place in (0..<singleEnd).reversed()
        where singles[place].number == number && singles[place].version != IdentityTable.noVersion {
            return singles[place].version
        }
        return nil
    }

    private func forgetSingleVersion(_ number: Int64) {
        guard let singles else { return }
        for place in 0..<singleEnd where singles[place].number == number {
            singles[place].version = IdentityTable.noVersion
        }
    }

    /// Makes room in the list, or moves all objects to pages and answers false if more than half of the list is in use.
    @inline(never)
    private mutating func closeGaps(_ singles: UnsafeMutablePointer<Single>) -> Bool {
        var end = 0
        for place in 0..<singleEnd {
            let single = singles[place]
            if single.object != nil {
                singles[end] = single
                end += 1
            } else if single.version != IdentityTable.noVersion {
                versions.set(single.number, single.version)
            }
        }
        (singleStart, singleEnd) = (0, end)
        guard end > IdentityTable.singleLimit / 2 else { return true }
        self.singles = nil
        entries = IdentityTable.zeros(mask + 1)
        for place in 0..<end { if let object = singles[place].object { set(singles[place].number, object) } }
        free(singles)
        return false
    }

    // MARK: Pages

    private mutating func page(_ key: Int64) -> Page? {
        if key == lastKey { return lastPage }
        guard let entries else { return nil }
        var index = IdentityTable.hash(key) & mask
        while let page = entries[index].page {
            if entries[index].key == key {
                lastKey = key
                lastPage = page
                return page
            }
            index = (index &+ 1) & mask
        }
        return nil
    }

    private mutating func addPage(_ key: Int64) -> Page {
        if (pageCount + 1) * 4 > (mask + 1) * 3 { rebuild(2 * mask + 1) }
        let page: Page = IdentityTable.zeros(73)
        insert(Entry(key: key, page: page))
        pageCount += 1
        emptyCount += 1
        lastKey = key
        lastPage = page
        return page
    }

    private func insert(_ entry: Entry) {
        guard let entries else { return }
        var index = IdentityTable.hash(entry.key) & mask
        while entries[index].page != nil { index = (index + 1) & mask }
        entries[index] = entry
    }

    private mutating func dropEmptyPages() {
        lastKey = .min
        lastPage = nil
        rebuild(mask)
    }

    /// Makes the list of pages anew from those with objects and the one used last.
    private mutating func rebuild(_ newMask: Int) {
        guard let former = entries else { return }
        let formerMask = mask
        mask = newMask
        entries = IdentityTable.zeros(newMask + 1)
        pageCount = 0
        for index in 0...formerMask {
            guard let page = former[index].page else { continue }
            if page[0] == nil, former[index].key != lastKey {
                keepVersions(of: page, former[index].key)
                free(page)
            } else {
                insert(former[index])
                pageCount += 1
            }
        }
        emptyCount = lastPage.map { $0[0] == nil ? 1 : 0 } ?? 0
        free(former)
    }
}
