// From rows to objects, and from faults to rows.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// The objects of rows, in the rows' order. A registered object keeps its values; a registered fault takes the row.
    final func materialize(_ batches: [RowBatch], store: UInt16, asFaults: Bool = true) -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        objects.reserveCapacity(batches.reduce(0) { $0 + $1.count })
        for batch in batches { materialize(batch, store: store, asFaults: asFaults, into: &objects) }
        return Array(objects)
    }

    final func materialize(
        _ batch: RowBatch, store: UInt16, asFaults: Bool, into objects: inout ContiguousArray<NSManagedObject>
    ) {
        guard let order = batch.order else {
            let chunk = batch.first
            return materialize(chunk, 0..<chunk.count, store: store, asFaults: asFaults, into: &objects)
        }
        let made = batch.chunks.map { chunk in
            var some: ContiguousArray<NSManagedObject> = []
            materialize(chunk, 0..<chunk.count, store: store, asFaults: asFaults, into: &some)
            return some
        }
        for reference in order { objects.append(made[Int(reference.chunk)][Int(reference.row)]) }
    }

    /// Rows of one chunk: *look up all keys under one lock · make what is missing · enter the new ones under one lock*.
    final func materialize(
        _ chunk: RowChunk, _ rows: Range<Int>, store: UInt16, asFaults: Bool,
        into objects: inout ContiguousArray<NSManagedObject>
    ) {
        let count = rows.count
        guard count > 0 else { return }
        let layout = chunk.layout
        if store == 0 || chunk.row(0).key(layout) < 0 {
            return materializeUnsaved(chunk, rows, store: store, asFaults: asFaults, into: &objects)
        }
        let info = runtime.infos[layout.entity.value]
        let registry = requiredRegistry
        let wakes = !asFaults && !info.classBinding.sleepsThroughFetch
        var fulfilled: ContiguousArray<NSManagedObject> = []
        let birth = Birth(info, registry, chunk, store: store, asFaults: asFaults)
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { numbers in
            withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>?.self, capacity: count) { found in
                withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>.self, capacity: count) { born in
                    guard let numbersBase = numbers.baseAddress, let foundBase = found.baseAddress else { return }
                    let first = chunk.row(rows.lowerBound)
                    var row = first
                    for index in 0..<count {
                        numbersBase[index] = row.key(layout)
                        row += layout.stride
                    }
                    registry.objects(
                        UnsafeBufferPointer(numbers), entity: layout.entity.rawValue, store: store, into: foundBase)
                    var bornCount = 0
                    let bornNumbers = numbersBase
                    row = first
                    for index in 0..<count {
                        if let existing = foundBase[index]?.takeRetainedValue() {
                            if take(existing, chunk, row, asFaults: asFaults), wakes { fulfilled.append(existing) }
                            objects.append(existing)
                        } else {
                            let object = make(birth, row)
                            born[bornCount] = Unmanaged.passUnretained(object)
                            bornNumbers[bornCount] = numbersBase[index]
                            bornCount += 1
                            objects.append(object)
                            if wakes { fulfilled.append(object) }
                        }
                        row += layout.stride
                    }
                    registry.register(
                        UnsafeBufferPointer(rebasing: born[0..<bornCount]), bornNumbers,
                        entity: layout.entity.rawValue, store: store)
                }
            }
        }
        for object in fulfilled { wake(object) }
    }

    /// Makes the object of a row: a `birth` has what all rows of a chunk share.
    @inline(__always)
    final func make(_ birth: Birth, _ row: UnsafeMutablePointer<UInt64>) -> NSManagedObject {
        let object = birth.binding.make(birth.description)
        let state = object._state
        // What an initialiser of a subclass wrote does not count.
        if state.pointee.overlay != nil { state.dropOverlay() }
        state.pointee.slow = birth.slow
        state.pointee.registry = UnsafeRawPointer(Unmanaged.passRetained(birth.registry).toOpaque())
        state.pointee.number = row.key(birth.chunk.layout)
        state.pointee.store = birth.store
        state.pointee.flags = ObjectFlags([.persistent, .registered]).rawValue
        state.pointee.chunk = UnsafeRawPointer(Unmanaged.passRetained(birth.chunk).toOpaque())
        state.pointee.row = row
        state.pointee.arena = birth.arena
        return object
    }

    /// What the new objects of one chunk have in common.
    struct Birth {
        let binding: ClassBinding
        let description: NSEntityDescription
        let registry: Registry
        var chunk: RowChunk
        var arena: UnsafeMutablePointer<UInt8>
        let store: UInt16
        let slow: UInt32

        init(_ info: EntityInfo, _ registry: Registry, _ chunk: RowChunk, store: UInt16, asFaults: Bool) {
            binding = info.classBinding
            description = info.description
            self.registry = registry
            self.chunk = chunk
            arena = chunk.arena
            self.store = store
            let fault = binding.sleepsThroughFetch ? SlowReason.dormant : SlowReason.fault
            slow = (binding.slots == nil ? 0 : SlowReason.foreignSlots) | (asFaults ? fault : 0) | coredata_checked_bit()
        }
    }

    /// The object of one row, awake.
    final func materialize(
        _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, store: UInt16
    ) -> NSManagedObject {
        let entity = chunk.layout.entity
        let info = runtime.infos[entity.value]
        let object: NSManagedObject
        if let existing = requiredRegistry.object(number: row.key(chunk.layout), entity: entity.rawValue, store: store) {
            guard take(existing, chunk, row, asFaults: false) else { return existing }
            object = existing
        } else {
            object = make(Birth(info, requiredRegistry, chunk, store: store, asFaults: false), row)
            requiredRegistry.register(object)
        }
        if !info.classBinding.sleepsThroughFetch { wake(object) }
        return object
    }

    /// A fetch never changes the values of an object that has them (8.4). Answers whether a fault was fulfilled.
    final func take(
        _ object: NSManagedObject, _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, asFaults: Bool
    ) -> Bool {
        let state = object._state
        guard state.isFault else { return false }
        if state.pointee.row == nil { state.attach(chunk, row: row) }
        if asFaults {
            state.pointee.slow |= SlowReason.fault
        } else {
            state.pointee.slow &= ~SlowReason.anyFault
        }
        return !asFaults
    }

    /// Calls `awakeFromFetch` with change tracking off.
    final func wake(_ object: NSManagedObject) {
        let former = tracker.isSuspended
        tracker.isSuspended = true
        object._state.set(.waking)
        object.awakeFromFetch()
        object._state.clear(.waking)
        tracker.isSuspended = former
    }

    // MARK: Faults

    /// Gives a fault its row, from memory or from the store.
    final func fire(_ object: NSManagedObject, reading slot: Int? = nil) {
        let state = object._state
        if state.pointee.row == nil { noteFault(of: object) }
        guard state.pointee.row != nil || readTogether(object) else {
            do {
                // Reading fulfils the object and wakes it.
                persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
                if try read(state.key) == nil { loseRow(of: object, reading: slot) }
            } catch {
                if readError == nil { readError = CocoaError.unread(object, reading: slot, cause: error) }
            }
            return
        }
        state.pointee.slow &= ~SlowReason.anyFault
        if !state.info.classBinding.sleepsThroughFetch { wake(object) }
    }

    /// The row of a fault is gone: the object reads as empty and is dropped at the next save (4.12).
    final func loseRow(of object: NSManagedObject, reading slot: Int? = nil) {
        let state = object._state
        state.pointee.slow &= ~SlowReason.anyFault
        state.pointee.slow |= SlowReason.overlay
        state.set([.inaccessible, .propagated])
        if shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil) {
            tracker.mark(object, .deleted)
        } else if readError == nil {
            readError = CocoaError.unread(object, reading: slot, cause: CocoaError.missingObject(object.objectID))
        }
    }

    /// Reads one row and answers its object, nil when there is none.
    final func read(_ key: ObjectKey) throws -> NSManagedObject? {
        guard key.number > 0, key.store != 0 else { return try readUnsaved(key) }
        guard let store = rows(of: key.store) else { return nil }
        if let object = cachedObject(for: key) { return object }
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        var found: NSManagedObject?
        do {
            try store.rows(for: [key.number], in: runtime.schema[key.entity].root) { batch in
                cache?.add(batch, store: key.store, since: ticket)
                found = materialize(batch.first, batch.first.row(0), store: key.store)
                return .stop
            }
        } catch { throw CocoaError.reading(error) }
        return found
    }

    /// Reads the members of a to-many.
    final func fire(_ owner: NSManagedObject, toMany index: Int, _ members: ToMany) {
        guard let store = rows(of: owner._state.pointee.store) else { return }
        noteFault(of: owner, toMany: index)
        var batches: [RowBatch] = []
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        do {
            try store.members(of: owner.relationship(toMany: index).index, owner: owner._state.key.row) { batch in
                batches.append(batch)
                cache?.add(batch, store: owner._state.pointee.store, since: ticket)
                return .more
            }
            let number = owner._state.pointee.store
            // An owner that only the parent holds has no store, its members may have one: they are named by their own keys.
            members.base = number == 0
                ? .keys(ContiguousArray(materialize(batches, store: number).map { $0._state.key })) : .rows(batches)
            members.readAt = rowTime
        } catch {
            if readError == nil {
                readError = CocoaError.unread(owner.objectID, key: owner.relationship(toMany: index).name, cause: error)
            }
        }
    }

    /// Throws the error that a read inside a getter left, once.
    final func throwReadError() throws {
        guard let error = readError else { return }
        readError = nil
        throw CocoaError.cancelledOr(error)
    }
}
