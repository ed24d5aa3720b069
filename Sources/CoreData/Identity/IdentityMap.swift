// The identity map of a context: one table of objects for each store and root entity.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// The identity map of one context. Every object of the context retains it, so that it may outlive the context.
final class IdentityMap: @unchecked Sendable {
    /// nil once the context is gone. Only on the context's queue.
    unowned(unsafe) var context: NSManagedObjectContext?
    /// Makes IDs of keys, even for objects whose context is gone.
    let identities: StoreIdentities
    /// Kept alive for the objects, which point at the model's entities without retaining them.
    private let model: NSManagedObjectModel
    /// One table for each store and root entity, made with its first row. Under the lock.
    private var tables: UnsafeMutablePointer<UnsafeMutablePointer<IdentityTable>?>?
    private var tableCount = 0
    private let rootCount: Int
    /// The root of each entity, by number. The model owns this memory.
    private let roots: UnsafeMutablePointer<UInt16>
    private let lock = Mutex<Void>(())
    /// The objects that a context retains if it was told to; otherwise nil. Only on the context's queue.
    var kept: Set<NSManagedObject>? { didSet { isKeeping = kept != nil } }
    /// Read for each object instead of `kept`, whose access is checked for exclusivity (76 instructions).
    private var isKeeping = false
    /// Whether versions of rows are remembered: as long as the context is there. Under the lock.
    private var remembers = true

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
            free(tables[index])
        }
        free(tables)
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
            let grown: UnsafeMutablePointer<UnsafeMutablePointer<IdentityTable>?> = IdentityTable.zeros(count)
            if let tables { grown.update(from: tables, count: tableCount) }
            free(tables)
            (tables, tableCount) = (grown, count)
        }
        let made: UnsafeMutablePointer<IdentityTable> = IdentityTable.zeros(1)
        made.initialize(to: IdentityTable())
        tables?[place] = made
        return made
    }

    func object(number: Int64, entity: UInt16, store: UInt16) -> NSManagedObject? {
        let found = lock.withLock { _ in table(entity: entity, store: store).pointee.retained(number) }
        return found?.takeRetainedValue()
    }

    /// Looks up rows of one table under one lock; each result is retained or nil.
    ///
    /// - Returns: how many are nil.
    @discardableResult
    func objects(
        _ numbers: UnsafeBufferPointer<Int64>, entity: UInt16, store: UInt16,
        into found: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>
    ) -> Int {
        lock.withLock { _ in
            let table = table(entity: entity, store: store)
            guard !table.pointee.isClear else {
                found.initialize(repeating: nil, count: numbers.count)
                return numbers.count
            }
            var missing = 0
            for index in 0..<numbers.count {
                found[index] = table.pointee.retained(numbers[index])
                if found[index] == nil { missing &+= 1 }
            }
            return missing
        }
    }

    /// Registers new objects of one table by their numbers.
    func register(
        _ objects: UnsafeBufferPointer<Unmanaged<NSManagedObject>>, _ numbers: UnsafePointer<Int64>, entity: UInt16,
        store: UInt16
    ) {
        lock.withLock { _ in
            let table = table(entity: entity, store: store)
            for index in 0..<objects.count { table.pointee.add(numbers[index], objects[index].toOpaque()) }
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

    /// Registers objects under one lock.
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

    /// - Parameter version: that of the object's row, to be remembered; `IdentityTable.noVersion` for none.
    @inline(__always)
    func remove(_ pointer: UnsafeMutableRawPointer, number: Int64, entity: UInt16, store: UInt16, version: Int32) {
        lock.withLock { _ in
            table(entity: entity, store: store).pointee.remove(
                number, pointer, remembers ? version : IdentityTable.noVersion)
        }
    }

    /// Removes an object that leaves the context, and forgets the version of its row.
    func withdraw(_ object: NSManagedObject, isRegistered: Bool) {
        let (key, pointer) = (object._state.key, Unmanaged.passUnretained(object).toOpaque())
        let isRow = key.number > 0 && key.store != 0
        guard isRegistered || isRow else { return }
        lock.withLock { _ in
            let table = table(entity: key.entity.rawValue, store: key.store)
            if isRegistered { table.pointee.remove(key.number, pointer, IdentityTable.noVersion) }
            if isRow { table.pointee.forgetVersion(key.number) }
        }
    }

    // MARK: Versions

    /// The version in which the program last read a row that has no object now; nil if it has not read it.
    func version(_ key: ObjectKey) -> Int32? {
        lock.withLock { _ in table(entity: key.entity.rawValue, store: key.store).pointee.version(key.number) }
    }

    /// Remembers the versions of rows that were read and may never get an object.
    func note(_ batch: RowBatch, store: UInt16) {
        lock.withLock { _ in
            for chunk in batch.chunks where chunk.count > 0 {
                let layout = chunk.layout
                let table = table(entity: layout.entity.rawValue, store: store)
                var row = chunk.row(0)
                for _ in 0..<chunk.count {
                    if row.key(layout) > 0 { table.pointee.note(row.key(layout), row.version(layout)) }
                    row += layout.stride
                }
            }
        }
    }

    /// Forgets the version in which a row was read, since the context has noticed another version or takes the next
    /// one.
    func forgetVersion(_ key: ObjectKey) {
        guard key.number > 0, key.store != 0 else { return }
        lock.withLock { _ in table(entity: key.entity.rawValue, store: key.store).pointee.forgetVersion(key.number) }
    }

    func forgetVersions() {
        lock.withLock { _ in for index in 0..<tableCount { tables?[index]?.pointee.forgetVersions() } }
    }

    /// Called when the context goes: no version is compared any more.
    func leaveContext() {
        context = nil
        if isKeeping { kept = nil }
        lock.withLock { _ in remembers = false }
    }

    /// All living objects.
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

extension NSManagedObjectContext {
    /// The registered object for a key. The identity map has only rows; unsaved objects are found among the insertions.
    final func registered(_ key: ObjectKey) -> NSManagedObject? {
        if key.number <= 0 { return registeredUnsaved(key) }
        if let found = requiredIdentityMap.object(number: key.number, entity: key.entity.rawValue, store: key.store) {
            return found
        }
        return link.registeredAnew(key, self)
    }

    /// The registered object, or a new fault.
    final func object(for key: ObjectKey) -> NSManagedObject {
        if key.number <= 0 { return unsavedObject(for: key) }
        if let found = requiredIdentityMap.object(number: key.number, entity: key.entity.rawValue, store: key.store) {
            return found
        }
        return missingObject(for: key)
    }

    /// Looks for the object of a key that the identity map lacks. Never inlined: successful lookups would pay for it.
    @inline(never)
    private func missingObject(for key: ObjectKey) -> NSManagedObject {
        if let found = link.registeredAnew(key, self) { return found }
        return newFault(for: key.store == 0 ? currentKey(key) : key)
    }
}
