// One object for each row: where a context finds the objects that it holds.

import CCoreDataRuntime
import CoreDataValues
import Synchronization

/// The objects of one root entity of one store, by number: pages of 64 unretained pointers found by `number >> 6`.
///
/// Measured (YARDSTICKS §2): a dictionary of weak references costs 249–1,161 ns an insertion, this 44; removal in order from an
/// identity-hashed table is quadratic, here it is constant. Not thread-safe by itself: `Registry` holds the lock.
struct IdentityTable {
    private typealias Page = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private struct Entry {
        var key: Int64
        /// Word 0 counts the objects, words 1…64 are the objects.
        var page: Page?
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private var pageCount = 0
    private var lastKey: Int64 = .min
    private var lastPage: Page?
    /// Empty pages for the next rows: look-ups here and there would make and free a page each (1,100 instructions).
    ///
    /// A list through word 1; all other words of a spare page are nil.
    private var spare: Page?
    private var spareCount = 0
    private static let spareLimit = 128

    init() {
        mask = 15
        entries = .allocate(capacity: 16)
        entries.initialize(repeating: Entry(key: 0, page: nil), count: 16)
    }

    func deallocate() {
        for index in 0...mask { entries[index].page?.deallocate() }
        var next = spare
        while let page = next {
            next = page[1]?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
            page.deallocate()
        }
        entries.deallocate()
    }

    private static func hash(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 24)
    }

    private mutating func page(_ key: Int64) -> Page? {
        if key == lastKey { return lastPage }
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

    /// The object, retained, unless it is being let go.
    mutating func retained(_ number: Int64) -> Unmanaged<NSManagedObject>? {
        guard let page = page(number >> 6), let pointer = page[Int(number & 63) &+ 1],
            let retained = coredata_try_retain(pointer)
        else { return nil }
        return Unmanaged.fromOpaque(retained)
    }

    mutating func set(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        let page = page(number >> 6) ?? addPage(number >> 6)
        let place = Int(number & 63) &+ 1
        if page[place] == nil { page[0] = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: page[0]) &+ 1) }
        page[place] = object
    }

    /// Removes an entry if it is still this object's.
    mutating func remove(_ number: Int64, _ object: UnsafeMutableRawPointer) {
        guard let page = page(number >> 6) else { return }
        let place = Int(number & 63) &+ 1
        guard page[place] == object else { return }
        page[place] = nil
        let count = UInt(bitPattern: page[0]) &- 1
        page[0] = UnsafeMutableRawPointer(bitPattern: count)
        if count == 0 { dropPage(number >> 6) }
    }

    private mutating func addPage(_ key: Int64) -> Page {
        if (pageCount + 1) * 4 > (mask + 1) * 3 { grow() }
        let page = takeSpare() ?? IdentityTable.newPage()
        insert(Entry(key: key, page: page))
        pageCount += 1
        lastKey = key
        lastPage = page
        return page
    }

    private mutating func takeSpare() -> Page? {
        guard let page = spare else { return nil }
        spare = page[1]?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        page[1] = nil
        spareCount -= 1
        return page
    }

    private mutating func keepSpare(_ page: Page) {
        guard spareCount < IdentityTable.spareLimit else { return page.deallocate() }
        page[1] = spare.map { UnsafeMutableRawPointer($0) }
        spare = page
        spareCount += 1
    }

    private static func newPage() -> Page {
        let page = Page.allocate(capacity: 65)
        page.initialize(repeating: nil, count: 65)
        return page
    }

    private mutating func insert(_ entry: Entry) {
        var index = IdentityTable.hash(entry.key) & mask
        while entries[index].page != nil { index = (index + 1) & mask }
        entries[index] = entry
    }

    private mutating func grow() {
        let former = entries
        let count = mask + 1
        mask = count * 2 - 1
        entries = .allocate(capacity: count * 2)
        entries.initialize(repeating: Entry(key: 0, page: nil), count: count * 2)
        for index in 0..<count where former[index].page != nil { insert(former[index]) }
        former.deallocate()
    }

    /// Takes a page out and closes the gap that it leaves among its neighbours.
    private mutating func dropPage(_ key: Int64) {
        var index = IdentityTable.hash(key) & mask
        while let page = entries[index].page {
            if entries[index].key == key {
                keepSpare(page)
                break
            }
            index = (index + 1) & mask
        }
        pageCount -= 1
        lastKey = .min
        lastPage = nil
        var next = index
        while true {
            next = (next + 1) & mask
            guard entries[next].page != nil else { break }
            let home = IdentityTable.hash(entries[next].key) & mask
            if ((next &- home) & mask) >= ((next &- index) & mask) {
                entries[index] = entries[next]
                index = next
            }
        }
        entries[index].page = nil
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        for index in 0...mask {
            guard let page = entries[index].page else { continue }
            for place in 1...64 { if let object = page[place] { body(object) } }
        }
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
    /// One table a (store, root entity); created as rows of it appear. Under the lock.
    private var tables: UnsafeMutablePointer<IdentityTable?>
    private var tableCount: Int
    private let rootCount: Int
    /// The root of each entity, by number.
    private let roots: UnsafeMutablePointer<UInt16>
    private let lock = Mutex<Void>(())
    /// The objects that a context retains because it was told to; nil usually. Touched on the context's queue only.
    var kept: Set<NSManagedObject>?

    init(_ runtime: ModelRuntime, _ identities: StoreIdentities) {
        self.identities = identities
        model = runtime.model
        let entities = runtime.schema.entities
        rootCount = max(1, entities.count)
        roots = .allocate(capacity: rootCount)
        for (index, entity) in entities.enumerated() { roots[index] = entity.root.rawValue }
        tableCount = 2 * rootCount
        tables = .allocate(capacity: tableCount)
        tables.initialize(repeating: nil, count: tableCount)
    }

    deinit {
        for index in 0..<tableCount { tables[index]?.deallocate() }
        tables.deallocate()
        roots.deallocate()
    }

    /// The table of an entity's tree in a store; made on first use. Under the lock.
    @inline(__always)
    private func table(entity: UInt16, store: UInt16) -> UnsafeMutablePointer<IdentityTable> {
        let place = Int(store) &* rootCount &+ Int(roots[Int(entity)])
        if place >= tableCount || tables[place] == nil { makeTable(place) }
        return UnsafeMutableRawPointer(tables + place).assumingMemoryBound(to: IdentityTable.self)
    }

    @inline(never)
    private func makeTable(_ place: Int) {
        if place >= tableCount {
            let grown = UnsafeMutablePointer<IdentityTable?>.allocate(capacity: place + rootCount)
            grown.moveInitialize(from: tables, count: tableCount)
            (grown + tableCount).initialize(repeating: nil, count: place + rootCount - tableCount)
            tables.deallocate()
            tables = grown
            tableCount = place + rootCount
        }
        tables[place] = IdentityTable()
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
        if kept != nil { for object in objects { kept?.insert(object.takeUnretainedValue()) } }
    }

    func register(_ object: NSManagedObject) {
        let state = object._state
        state.set(.registered)
        lock.withLock { _ in
            table(entity: state.pointee.entity, store: state.pointee.store).pointee
                .set(state.pointee.number, Unmanaged.passUnretained(object).toOpaque())
        }
        if kept != nil { kept?.insert(object) }
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
        if kept != nil { kept?.formUnion(objects) }
    }

    func remove(_ pointer: UnsafeMutableRawPointer, number: Int64, entity: UInt16, store: UInt16) {
        lock.withLock { _ in table(entity: entity, store: store).pointee.remove(number, pointer) }
    }

    /// All objects that are alive.
    func all() -> [NSManagedObject] {
        let found: [Unmanaged<NSManagedObject>] = lock.withLock { _ in
            var found: [Unmanaged<NSManagedObject>] = []
            for index in 0..<tableCount {
                tables[index]?.forEach { pointer in
                    if let retained = coredata_try_retain(pointer) { found.append(.fromOpaque(retained)) }
                }
            }
            return found
        }
        return found.map { $0.takeRetainedValue() }
    }
}
