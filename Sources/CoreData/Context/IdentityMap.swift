// One object for each row: where a context finds the objects that it holds.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// The objects of one root entity of one store, by number: pages of 64 unretained pointers found by `number >> 6`; up to 32
/// objects lie one by one, which a short-lived context never leaves.
///
/// Measured (YARDSTICKS §2): a dictionary of weak references costs 249–1,161 ns an insertion, this 44; removal in order from an
/// identity-hashed table is quadratic, here it is constant. Not thread-safe by itself: `Registry` holds the lock.
struct IdentityTable: ~Copyable {
    private typealias Page = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private struct Entry {
        var key: Int64
        /// Word 0 counts the objects, words 1…64 are the objects.
        var page: Page?
    }
    private struct Single {
        var number: Int64
        var object: UnsafeMutableRawPointer?
    }

    /// 64 places for 32 objects; nil once there are pages.
    private var singles: UnsafeMutablePointer<Single>?
    private var singleCount = 0
    private static let singleLimit = 32
    private static let singleMask = 63
    /// nil before there are pages.
    private var entries: UnsafeMutablePointer<Entry>?
    private var mask = 15
    private var pageCount = 0
    /// Pages without objects. They stay for the next rows near by: look-ups here and there would make and drop a page each.
    private var emptyCount = 0
    private static let emptyLimit = 256
    private var lastKey: Int64 = .min
    private var lastPage: Page?

    init() {
        singles = IdentityTable.zeros(IdentityTable.singleMask + 1)
    }

    deinit {
        free(singles)
        guard let entries else { return }
        for index in 0...mask { free(entries[index].page) }
        free(entries)
    }

    /// Zeros are nil. Memory from `malloc` itself: Swift's own allocation takes the aligned way, which costs twice as much, and
    /// `calloc` goes past what the thread has ready.
    private static func zeros<T>(_ count: Int) -> UnsafeMutablePointer<T> {
        let size = count * MemoryLayout<T>.stride
        guard let memory = malloc(size) else { misuse("There is no memory left.") }
        memset(memory, 0, size)
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

    private mutating func object(_ number: Int64) -> UnsafeMutableRawPointer? {
        if let singles { return singles[IdentityTable.place(number, singles)].object }
        return page(number >> 6)?[Int(number & 63) &+ 1]
    }

    mutating func set(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        if let singles {
            let place = IdentityTable.place(number, singles)
            if singles[place].object != nil || singleCount < IdentityTable.singleLimit {
                if singles[place].object == nil { singleCount += 1 }
                singles[place] = Single(number: number, object: object)
                return
            }
            makePages(singles)
        }
        let page = page(number >> 6) ?? addPage(number >> 6)
        let place = Int(number & 63) &+ 1
        if page[place] == nil {
            if page[0] == nil { emptyCount -= 1 }
            page[0] = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: page[0]) &+ 1)
        }
        page[place] = object
    }

    /// Removes an entry if it is still this object's.
    mutating func remove(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        if let singles { return removeSingle(number, object, singles) }
        guard let page = page(number >> 6) else { return }
        let place = Int(number & 63) &+ 1
        guard page[place] == object else { return }
        page[place] = nil
        page[0] = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: page[0]) &- 1)
        guard page[0] == nil else { return }
        emptyCount += 1
        if emptyCount > IdentityTable.emptyLimit { dropEmptyPages() }
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        if let singles {
            for place in 0...IdentityTable.singleMask { if let object = singles[place].object { body(object) } }
        }
        guard let entries else { return }
        for index in 0...mask {
            guard let page = entries[index].page else { continue }
            for place in 1...64 { if let object = page[place] { body(object) } }
        }
    }

    // MARK: Few objects

    /// Where a number stands, or the free place where it would.
    @inline(__always)
    private static func place(_ number: Int64, _ singles: UnsafeMutablePointer<Single>) -> Int {
        var place = hash(number) & singleMask
        while singles[place].object != nil, singles[place].number != number { place = (place &+ 1) & singleMask }
        return place
    }

    /// Takes an object out and closes the gap that it leaves among its neighbours.
    private mutating func removeSingle(
        _ number: Int64, _ object: UnsafeMutableRawPointer, _ singles: UnsafeMutablePointer<Single>
    ) {
        var gap = IdentityTable.place(number, singles)
        guard singles[gap].object == object else { return }
        singleCount -= 1
        var next = gap
        while true {
            next = (next &+ 1) & IdentityTable.singleMask
            guard singles[next].object != nil else { break }
            let home = IdentityTable.hash(singles[next].number) & IdentityTable.singleMask
            if ((next &- home) & IdentityTable.singleMask) >= ((next &- gap) & IdentityTable.singleMask) {
                singles[gap] = singles[next]
                gap = next
            }
        }
        singles[gap].object = nil
    }

    /// The number of objects grows beyond a few: from now on they lie in pages.
    private mutating func makePages(_ former: UnsafeMutablePointer<Single>) {
        singles = nil
        entries = IdentityTable.zeros(mask + 1)
        for place in 0...IdentityTable.singleMask {
            if let object = former[place].object { set(former[place].number, object) }
        }
        free(former)
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
        let page: Page = IdentityTable.zeros(65)
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

/// The identity map of one context. Every object of the context retains it, so it outlives the context.
final class Registry: @unchecked Sendable {
    /// nil once the context is gone. Touched on the context's queue only.
    unowned(unsafe) var context: NSManagedObjectContext?
    /// What makes IDs of keys; also for objects whose context is gone.
    let identities: StoreIdentities
    /// Objects point at the entities of the model without holding them; this does.
    private let model: NSManagedObjectModel
    /// One table a (store, root entity); made as rows of it appear. Under the lock.
    private var tables: UnsafeMutablePointer<UnsafeMutablePointer<IdentityTable>?>?
    private var tableCount = 0
    private let rootCount: Int
    /// The root of each entity, by number; the model's.
    private let roots: UnsafeMutablePointer<UInt16>
    private let lock = Mutex<Void>(())
    /// The objects that a context retains because it was told to; nil usually. Touched on the context's queue only.
    var kept: Set<NSManagedObject>? { didSet { isKeeping = kept != nil } }
    /// Asked for each object: a look at the set itself is checked for exclusivity (76 instructions).
    private var isKeeping = false

    init(_ runtime: ModelRuntime, _ identities: StoreIdentities) {
        self.identities = identities
        model = runtime.model
        rootCount = runtime.infos.count
        roots = runtime.roots
    }

    deinit {
        guard let tables else { return }
        for index in 0..<tableCount {
            tables[index]?.deinitialize(count: 1)
            tables[index]?.deallocate()
        }
        tables.deallocate()
    }

    /// The table of an entity's tree in a store; made on first use. Under the lock.
    @inline(__always)
    private func table(entity: UInt16, store: UInt16) -> UnsafeMutablePointer<IdentityTable> {
        let place = Int(store) &* rootCount &+ Int(roots[Int(entity)])
        if place < tableCount, let table = tables?[place] { return table }
        return makeTable(place)
    }

    @inline(never)
    private func makeTable(_ place: Int) -> UnsafeMutablePointer<IdentityTable> {
        if place >= tableCount {
            let count = (place / rootCount + 1) * rootCount
            let grown = UnsafeMutablePointer<UnsafeMutablePointer<IdentityTable>?>.allocate(capacity: count)
            grown.initialize(repeating: nil, count: count)
            if let tables { grown.update(from: tables, count: tableCount) }
            tables?.deallocate()
            (tables, tableCount) = (grown, count)
        }
        let made = UnsafeMutablePointer<IdentityTable>.allocate(capacity: 1)
        made.initialize(to: IdentityTable())
        tables?[place] = made
        return made
    }

    func object(number: Int64, entity: UInt16, store: UInt16) -> NSManagedObject? {
        let found = lock.withLock { _ in table(entity: entity, store: store).pointee.retained(number) }
        return found?.takeRetainedValue()
    }

    /// Looks up the rows of one table at once; each answer is retained or nil.
    func objects(
        _ numbers: UnsafeBufferPointer<Int64>, entity: UInt16, store: UInt16,
        into found: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>
    ) {
        lock.withLock { _ in
            let table = table(entity: entity, store: store)
            for index in 0..<numbers.count { found[index] = table.pointee.retained(numbers[index]) }
        }
    }

    /// Enters objects of one table by their numbers.
    func register(
        _ objects: UnsafeBufferPointer<Unmanaged<NSManagedObject>>, _ numbers: UnsafePointer<Int64>, entity: UInt16,
        store: UInt16
    ) {
        lock.withLock { _ in
            let table = table(entity: entity, store: store)
            for index in 0..<objects.count { table.pointee.set(numbers[index], objects[index].toOpaque()) }
        }
        if isKeeping { for object in objects { kept?.insert(object.takeUnretainedValue()) } }
    }

    func register(_ object: NSManagedObject) {
        let state = object._state
        state.set(.registered)
        lock.withLock { _ in
            table(entity: state.pointee.entity, store: state.pointee.store).pointee
                .set(state.pointee.number, Unmanaged.passUnretained(object).toOpaque())
        }
        if isKeeping { kept?.insert(object) }
    }

    /// Enters objects under one lock.
    func register(_ objects: ContiguousArray<NSManagedObject>) {
        lock.withLock { _ in
            objects.borrowEach { object in
                let state = object._state
                state.set(.registered)
                table(entity: state.pointee.entity, store: state.pointee.store).pointee
                    .set(state.pointee.number, Unmanaged.passUnretained(object).toOpaque())
            }
        }
        if isKeeping { kept?.formUnion(objects) }
    }

    func remove(_ pointer: UnsafeMutableRawPointer, number: Int64, entity: UInt16, store: UInt16) {
        lock.withLock { _ in table(entity: entity, store: store).pointee.remove(number, pointer) }
    }

    /// All objects that are alive.
    func all() -> [NSManagedObject] {
        let found: [Unmanaged<NSManagedObject>] = lock.withLock { _ in
            var found: [Unmanaged<NSManagedObject>] = []
            for index in 0..<tableCount {
                tables?[index]?.pointee.forEach { pointer in
                    if let retained = coredata_try_retain(pointer) { found.append(.fromOpaque(retained)) }
                }
            }
            return found
        }
        return found.map { $0.takeRetainedValue() }
    }
}
