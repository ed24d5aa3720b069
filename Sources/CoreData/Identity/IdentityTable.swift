// One object for each row: where a context finds the objects that it holds.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// The objects of one root entity of one store, by number: pages of 64 unretained pointers found by `number >> 6`; up to 32
/// objects lie one by one, which a short-lived context never leaves. It remembers the version in which a row was read whose object
/// was let go: where the object lay, later beside the page, or in a `VersionTable` where there is none.
///
/// Measured (YARDSTICKS §2): a dictionary of weak references costs 249–1,161 ns an insertion, this 44; removal in order from an
/// identity-hashed table is quadratic, here it is constant. Not thread-safe by itself: `IdentityMap` holds the lock.
struct IdentityTable: ~Copyable {
    private typealias Page = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private struct Entry {
        var key: Int64
        /// Word 0 counts the objects, words 1…64 are the objects, and words 65…72 hold a byte each for their rows' versions.
        var page: Page?
    }
    private struct Single {
        var number: Int64
        var object: UnsafeMutableRawPointer?
        /// The version of the row once the object is gone, if it is known.
        var version = IdentityTable.noVersion
    }

    /// Up to 32 objects in the order in which they came, some of them gone again; nil once there are pages. What is known of the
    /// rows of gone ones is later than what `versions` knows.
    private var singles: UnsafeMutablePointer<Single>?
    /// Where the first of them that is left stands, and where the next one goes. The gone ones before it stay for their versions.
    private var singleStart = 0
    private var singleEnd = 0
    private static let singleLimit = 32
    /// nil before there are pages.
    private var entries: UnsafeMutablePointer<Entry>?
    private var mask = 15
    private var pageCount = 0
    /// Pages without objects. They stay for the next rows near by: look-ups here and there would make and drop a page each.
    private var emptyCount = 0
    private static let emptyLimit = 256
    private var lastKey: Int64 = .min
    private var lastPage: Page?
    /// Of rows that have no page. Where a page knows a version too, that is the later one.
    private var versions = VersionTable()
    /// Stands for a version that is not known.
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

    /// From `malloc` itself, which is cheaper than Swift's allocation.
    private static func memory<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
        guard let memory = malloc(count * MemoryLayout<T>.stride) else { misuse("There is no memory left.") }
        return memory.bindMemory(to: T.self, capacity: count)
    }

    /// Zeros are nil.
    static func zeros<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
        guard let memory = coredata_zeros(count * MemoryLayout<T>.stride) else { misuse("There is no memory left.") }
        return memory.bindMemory(to: T.self, capacity: count)
    }

    private static func hash(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 24)
    }

    // MARK: Objects

    /// The object, retained, unless it is being let go.
    mutating func retained(_ number: Int64) -> Unmanaged<NSManagedObject>? {
        guard let pointer = object(number), let retained = coredata_try_retain(pointer) else { return nil }
        return Unmanaged.fromOpaque(retained)
    }

    /// Whether it is known at once that there is no object.
    var isClear: Bool { singles != nil && singleStart == singleEnd }

    private mutating func object(_ number: Int64) -> UnsafeMutableRawPointer? {
        if let singles { return place(number, singles).flatMap { singles[$0].object } }
        return page(number >> 6)?[Int(number & 63) &+ 1]
    }

    /// Enters an object under a number; another one under that number is let go of.
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

    /// The same where no object that lives is known under the number: one that is being let go may stand there, which the newer
    /// one hides.
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

    /// The version in which a row was read last that has no object, or one whose row was not read for the program.
    mutating func version(_ number: Int64) -> Int32? {
        if let page = page(number >> 6),
            let known = versions.version(IdentityTable.bytes(page)[Int(number & 63)], number)
        {
            return known
        }
        return singleVersion(number) ?? versions[number]
    }

    /// Remembers the version of a row that was read and may never have an object.
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

    /// Moves what a page knows of its rows, in words of eight.
    private mutating func keepVersions(of page: Page, _ key: Int64) {
        for word in 0..<8 {
            versions.merge(group: key << 6 + Int64(word) << 3, UInt64(UInt(bitPattern: page[65 + word])))
        }
    }

    // MARK: Few objects

    /// Where a number stands. The newest ones are looked at first.
    @inline(__always)
    private func place(_ number: Int64, _ singles: UnsafeMutablePointer<Single>) -> Int? {
        var place = singleEnd
        while place > singleStart {
            place &-= 1
            if singles[place].number == number, singles[place].object != nil { return place }
        }
        return nil
    }

    /// Enters an object behind the others; false when there are too many, and pages from now on.
    @inline(__always)
    private mutating func addSingle(
        _ number: Int64, _ object: UnsafeMutableRawPointer, _ singles: UnsafeMutablePointer<Single>
    ) -> Bool {
        guard singleEnd < IdentityTable.singleLimit || closeGaps(singles) else { return false }
        singles[singleEnd] = Single(number: number, object: object)
        singleEnd &+= 1
        return true
    }

    /// Takes an object out and leaves the version of its row there: a short-lived context never asks for it, and the keys that it
    /// meets lie far apart (in a `VersionTable` an entry each, 150 instructions). They mostly go in the order in which they came.
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
        // A newer one has taken its place.
        if version != IdentityTable.noVersion { versions.set(number, version) }
    }

    /// The version that the newest gone one knows.
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

    /// Makes room among the few; where there is none, all objects lie in pages from now on.
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

    /// Makes the list of pages anew, with all that have objects, and the one that was used last.
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
