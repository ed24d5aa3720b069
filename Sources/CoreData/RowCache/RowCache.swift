// The coordinator's cache of rows that its contexts read or saved: a fault asks it before the store.

import CoreDataValues
import Foundation
import Synchronization

/// What a coordinator's row cache has done so far, and how much it holds.
public struct RowCacheCounts: Sendable, Equatable {
    /// Faults and look-ups that were answered without asking the store.
    public internal(set) var hits = 0
    /// Faults and look-ups that had to ask the store.
    public internal(set) var misses = 0
    /// The size of the cached rows in bytes.
    public internal(set) var bytes = 0
}

/// Caches rows by key up to a byte budget; the oldest leave first. May be used on any thread.
///
/// Retains the chunks that objects use and copies nothing; adding a chunk costs the same for many rows and for few. An
/// older row never replaces a newer one: the latest chunk with a row counts, and a chunk whose read began before a save
/// of its table ended is not added (`ticket`). A missing row is only read again, so what is hard to keep is dropped.
final class RowCache: Sendable {
    /// 64 MB.
    static let defaultLimit = 64 * 1024 * 1024

    private struct State: ~Copyable {
        /// By store and root entity, as `table(of:_:)` numbers them.
        var tables: UnsafeMutablePointer<RowCacheTable>?
        var tableCount = 0
        var queue = RowCacheQueue()
        var limit = RowCache.defaultLimit
        var hits = 0
        var misses = 0

        init() {}

        deinit {
            tables?.deinitialize(count: tableCount)
            tables?.deallocate()
        }

        /// The table at an index, made when first needed.
        @inline(__always)
        mutating func table(_ place: Int) -> UnsafeMutablePointer<RowCacheTable> {
            guard place < tableCount, let tables else { return makeTables(through: place) + place }
            return tables + place
        }

        @inline(never)
        private mutating func makeTables(through place: Int) -> UnsafeMutablePointer<RowCacheTable> {
            let made = UnsafeMutablePointer<RowCacheTable>.allocate(capacity: place + 1)
            if let tables { made.moveInitialize(from: tables, count: tableCount) }
            for index in tableCount...place { (made + index).initialize(to: RowCacheTable()) }
            tables?.deallocate()
            (tables, tableCount) = (made, place + 1)
            return made
        }
    }

    private let state = Mutex(State())
    /// How many saves and removals there were.
    private let saves = Atomic<Int>(0)
    /// The root of each entity, by entity index.
    private let roots: ContiguousArray<UInt16>
    /// Whether an entity has derived attributes: its saved rows are not what the store holds.
    private let areComputed: ContiguousArray<Bool>

    init(_ runtime: ModelRuntime) {
        roots = ContiguousArray(runtime.infos.map { $0.entity.root.rawValue })
        areComputed = ContiguousArray(runtime.infos.map { !$0.derivedSlots.isEmpty })
    }

    var counts: RowCacheCounts {
        state.withLock { RowCacheCounts(hits: $0.hits, misses: $0.misses, bytes: $0.queue.bytes) }
    }

    /// How many chunk numbers the ring has room for.
    var room: Int { state.withLock { $0.queue.room } }

    /// The byte budget; 0 caches nothing.
    var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { state in
                state.limit = newValue
                state.queue.shrink(to: newValue)
            }
        }
    }

    private func table(of entity: EntityIndex, _ store: UInt16) -> Int {
        Int(store) &* roots.count &+ Int(roots[entity.value])
    }

    // MARK: Looking up

    /// Returns the latest row of a key, unless it was read more than `age` seconds ago; below zero for any age.
    func row(for key: ObjectKey, within age: TimeInterval = -1) -> (chunk: RowChunk, row: Int)? {
        let place = table(of: key.entity, key.store)
        return state.withLock { state in
            guard let hit = RowCache.find(key.number, place, &state),
                age < 0 || RowCache.now() - state.queue.readTime(hit.id) <= age, let chunk = state.queue.chunk(hit.id)
            else {
                state.misses += 1
                return nil
            }
            state.hits += 1
            return (chunk, hit.row)
        }
    }

    /// Returns the latest row of a key without counting a hit or miss, for reports.
    func knownRow(for key: ObjectKey) -> (chunk: RowChunk, row: Int)? {
        let place = table(of: key.entity, key.store)
        return state.withLock { state in
            guard let hit = RowCache.find(key.number, place, &state), let chunk = state.queue.chunk(hit.id) else {
                return nil
            }
            return (chunk, hit.row)
        }
    }

    private static func find(_ number: Int64, _ place: Int, _ state: inout State) -> (id: Int, row: Int)? {
        guard place < state.tableCount, let tables = state.tables else { return nil }
        return tables[place].find(number, state.queue)
    }

    // MARK: Filling

    /// Taken before a read and passed with the rows that were read.
    var ticket: Int { saves.load(ordering: .acquiring) }

    /// Adds rows that were read whole.
    func add(_ batch: RowBatch, store: UInt16, since ticket: Int) {
        if batch.order == nil { return add(batch.first, store, since: ticket) }
        for chunk in batch.chunks { add(chunk, store, since: ticket) }
    }

    private func add(_ chunk: RowChunk, _ store: UInt16, since ticket: Int) {
        guard chunk.count > 0 else { return }
        let place = table(of: chunk.layout.entity, store)
        let now = RowCache.now()
        state.withLock { state in
            if state.limit > 0, state.table(place).pointee.lastSave <= ticket {
                RowCache.add(chunk, place, now, &state)
            }
        }
    }

    private static func add(_ chunk: RowChunk, _ place: Int, _ now: Double, _ state: inout State) {
        guard state.limit > 0 else { return }
        let id = state.queue.append(chunk, place, now)
        state.table(place).pointee.add(id, chunk, &state.queue)
        if state.queue.bytes > state.limit { state.queue.shrink(to: state.limit) }
    }

    /// Adds the rows of a save, which are the latest.
    ///
    /// - Parameter touched: rows that the store changed in addition to the batch, or differently.
    func save(_ batch: ChangeBatch, touched: [RowKey], store: UInt16, since ticket: Int) {
        let now = RowCache.now()
        state.withLock { state in
            let count = saves.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            for chunk in batch.inserts { save(chunk, store, ticket, count, now, &state) }
            for group in batch.updates { save(group.chunk, store, ticket, count, now, &state) }
            for group in batch.touches { save(group.chunk, store, ticket, count, now, &state) }
            for group in batch.deletes { forget(group.numbers, table(of: group.entity, store), count, &state) }
            for key in touched { forget([key.number], table(of: key.entity, store), count, &state) }
        }
    }

    /// Adds a chunk of saved rows. Only drops cached rows if another save came in between, whose rows may be newer, or
    /// if the entity has derived attributes, which the store computes.
    private func save(
        _ chunk: RowChunk, _ store: UInt16, _ ticket: Int, _ count: Int, _ now: Double, _ state: inout State
    ) {
        let place = table(of: chunk.layout.entity, store)
        let last = state.table(place).pointee.lastSave
        if last <= ticket || last == count, !areComputed[chunk.layout.entity.value] {
            RowCache.add(chunk, place, now, &state)
            state.table(place).pointee.lastSave = count
        } else {
            forget((0..<chunk.count).map { chunk.row($0).key(chunk.layout) }, place, count, &state)
        }
    }

    // MARK: Forgetting

    /// Drops rows that were changed or deleted without the cache being told.
    func forget(_ keys: [ObjectKey]) {
        guard !keys.isEmpty else { return }
        state.withLock { state in
            let count = saves.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            for key in keys where key.number > 0 {
                forget([key.number], table(of: key.entity, key.store), count, &state)
            }
        }
    }

    /// Drops all rows of the root entities of some entities.
    func forget(_ entities: Set<EntityIndex>, store: UInt16) {
        guard !entities.isEmpty else { return }
        let concerned = Set(entities.map { table(of: $0, store) })
        state.withLock { state in
            let count = saves.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            state.queue.drop { concerned.contains($0) }
            for place in concerned {
                let table = state.table(place)
                table.pointee = RowCacheTable()
                table.pointee.lastSave = count
            }
        }
    }

    private func forget(_ numbers: [Int64], _ place: Int, _ count: Int, _ state: inout State) {
        let table = state.table(place)
        if !table.pointee.forget(numbers, before: state.queue.next) {
            state.queue.drop { $0 == place }
            table.pointee = RowCacheTable()
        }
        table.pointee.lastSave = count
    }

    /// Drops all rows of a store, or of all stores.
    func removeAll(store: UInt16? = nil) {
        state.withLock { state in
            let count = saves.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            let places = store.map { Int($0) * roots.count..<(Int($0) + 1) * roots.count } ?? 0..<Int.max
            state.queue.drop { places.contains($0) }
            for place in places.clamped(to: 0..<state.tableCount) {
                let table = state.table(place)
                table.pointee = RowCacheTable()
                table.pointee.lastSave = count
            }
        }
    }

    /// Seconds of the coarse monotonic clock, which is exact to some milliseconds and costs a load.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Chunks with ascending numbers; the oldest leave first. Numbers below `first` are gone.
///
/// A ring without Swift arrays: every row that is read singly is added here (300 instructions saved).
struct RowCacheQueue: ~Copyable {
    private struct Item {
        /// Retained; nil once the chunk was dropped.
        var chunk: Unmanaged<RowChunk>?
        let place: Int
        let readAt: Double
        let bytes: Int
    }

    private var items: UnsafeMutablePointer<Item>
    private var mask: Int
    /// The oldest chunk's number.
    private var first = 1
    /// The next chunk's number.
    private(set) var next = 1
    private(set) var bytes = 0
    /// How many chunks are retained.
    private var count = 0
    /// Up to this size the ring grows without checking how many of its chunks were dropped.
    private static let small = 4096

    init() {
        items = .allocate(capacity: 64)
        mask = 63
    }

    deinit {
        for id in first..<next { items[id & mask].chunk?.release() }
        items.deallocate()
    }

    @inline(__always)
    func chunk(_ id: Int) -> RowChunk? { id < first ? nil : items[id & mask].chunk?.takeUnretainedValue() }

    @inline(__always)
    func isHere(_ id: Int) -> Bool { id >= first && items[id & mask].chunk != nil }

    /// How many numbers the ring has room for.
    var room: Int { mask + 1 }

    func readTime(_ id: Int) -> Double { id < first ? 0 : items[id & mask].readAt }

    mutating func append(_ chunk: RowChunk, _ place: Int, _ now: Double) -> Int {
        if next &- first > mask { makeRoom() }
        let fill = chunk.fill
        var size = 192 &+ 8 &* chunk.capacity &* chunk.layout.stride &+ fill.pointee.arenaCapacity
        if !fill.pointee.large.isEmpty { size += fill.pointee.large.reduce(0) { $0 + $1.count } }
        let id = next
        (items + (id & mask)).initialize(
            to: Item(chunk: Unmanaged.passRetained(chunk), place: place, readAt: now, bytes: size))
        next = id &+ 1
        bytes &+= size
        count &+= 1
        return id
    }

    /// Makes room for a number. If most chunks of a large ring were replaced by others, drops its older half instead.
    private mutating func makeRoom() {
        guard mask > RowCacheQueue.small, count < mask / 4 else { return grow() }
        let end = next - mask / 2
        while first < end {
            drop(first)
            first += 1
        }
    }

    private mutating func grow() {
        let former = items
        let formerMask = mask
        mask = 2 * mask + 1
        items = .allocate(capacity: mask + 1)
        for id in first..<next { (items + (id & mask)).initialize(to: former[id & formerMask]) }
        former.deallocate()
    }

    /// Drops one chunk.
    mutating func drop(_ id: Int) {
        guard id >= first, let chunk = items[id & mask].chunk else { return }
        items[id & mask].chunk = nil
        bytes -= items[id & mask].bytes
        count -= 1
        chunk.release()
    }

    /// Drops the chunks of some tables.
    mutating func drop(where isDropped: (Int) -> Bool) {
        for id in first..<next where isDropped(items[id & mask].place) { drop(id) }
    }

    /// Drops the oldest chunks until the budget holds.
    mutating func shrink(to limit: Int) {
        while first < next, bytes > limit || items[first & mask].chunk == nil {
            drop(first)
            first += 1
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// What the row cache has done and holds. Ours, beside Core Data's API.
    public final var rowCacheCounts: RowCacheCounts { rowCache.counts }

    /// The row cache's budget in bytes, 64 MB by default; 0 caches nothing. Ours, beside Core Data's API.
    public final var rowCacheLimit: Int {
        get { rowCache.limit }
        set { rowCache.limit = max(0, newValue) }
    }

    /// The cached row of a key, nil if there is none: the first of the two places where conflicts are detected (6.1).
    final func cachedRow(for key: ObjectKey) -> RowSnapshot? {
        guard key.number > 0, let found = rowCache.knownRow(for: key) else { return nil }
        return RowSnapshot(chunk: found.chunk, row: found.chunk.row(found.row))
    }
}

extension NSManagedObjectContext {
    /// The row cache for this context's reads; nil for a child context, whose rows come from its parent, and for a
    /// pinned one, whose rows may be old.
    final var rowCache: RowCache? { readsElsewhere ? nil : requiredCoordinator.rowCache }
}
