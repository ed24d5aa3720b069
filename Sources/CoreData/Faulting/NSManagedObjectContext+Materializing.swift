// Makes objects of rows, and reads the rows of faults.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension NSManagedObjectContext {
    /// Returns the objects of rows, in order. A registered object keeps its values, a registered fault gets the row.
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

    /// Materializes rows of one chunk: *look up all keys under one lock · make missing objects · register these*.
    final func materialize(
        _ chunk: RowChunk, _ rows: Range<Int>, store: UInt16, asFaults: Bool,
        into objects: inout ContiguousArray<NSManagedObject>
    ) {
        let count = rows.count
        guard count > 0 else { return }
        let needed = objects.count + count
        if objects.capacity < needed { objects.reserveCapacity(max(needed, 2 * objects.capacity)) }
        let layout = chunk.layout
        if store == 0 || chunk.row(0).key(layout) < 0 {
            return materializeUnsaved(chunk, rows, store: store, asFaults: asFaults, into: &objects)
        }
        let info = runtime.infos[layout.entity.value]
        let identityMap = requiredIdentityMap
        var fulfilled: ContiguousArray<NSManagedObject> = []
        let birth = Birth(info, identityMap, chunk, store: store, asFaults: asFaults, unseen: readsUnseen)
        let wakes = !asFaults && birth.wakes
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
                    let missing = identityMap.objects(
                        UnsafeBufferPointer(numbers), entity: layout.entity.rawValue, store: store, into: foundBase)
                    var bornCount = 0
                    let bornNumbers = numbersBase
                    birth.expect(missing)
                    row = first
                    objects.append(addingCapacity: count) { span in
                        for index in 0..<count {
                            let object: NSManagedObject
                            if let existing = foundBase[index]?.takeRetainedValue() {
                                object = existing
                                if fulfill(object, chunk, row, asFaults: asFaults), wakes { fulfilled.append(object) }
                            } else {
                                object = make(birth, row)
                                born[bornCount] = Unmanaged.passUnretained(object)
                                bornNumbers[bornCount] = numbersBase[index]
                                bornCount &+= 1
                                if wakes { fulfilled.append(object) }
                            }
                            span.append(object)
                            row += layout.stride
                        }
                    }
                    birth.retain(bornCount)
                    identityMap.register(
                        UnsafeBufferPointer(rebasing: born[0..<bornCount]), bornNumbers,
                        entity: layout.entity.rawValue, store: store)
                }
            }
        }
        for object in fulfilled { wake(object) }
    }

    /// Makes the object of a row from its chunk's `birth`. The caller calls `expect` before and `retain` afterwards.
    @inline(__always)
    final func make(_ birth: Birth, _ row: UnsafeMutablePointer<UInt64>) -> NSManagedObject {
        let object = birth.makeObject()
        let state = object._state
        // Values that a subclass's initialiser wrote do not count.
        if state.pointee.overlay != nil { state.dropOverlay() }
        state.pointee.slow = birth.slow
        state.pointee.identityMap = UnsafeRawPointer(birth.identityMap.toOpaque())
        state.pointee.number = Int64(bitPattern: row[-birth.header])
        state.pointee.store = birth.store
        state.pointee.flags = birth.flags
        state.pointee.chunk = UnsafeRawPointer(birth.chunk.toOpaque())
        state.pointee.row = row
        state.pointee.arena = birth.arena
        return object
    }

    /// What the new objects of one chunk have in common.
    ///
    /// Retains nothing, as its caller holds the chunk, the context and so the model (saves 13 retains a look-up).
    struct Birth {
        private let initializer: ClassInitializer?
        private let description: Unmanaged<NSEntityDescription>
        let identityMap: Unmanaged<IdentityMap>
        private(set) var chunk: Unmanaged<RowChunk>
        private(set) var arena: UnsafeMutablePointer<UInt8>
        let header: Int
        let store: UInt16
        let slow: UInt32
        let flags: UInt32
        /// Whether the class overrides `awakeFromFetch`.
        let wakes: Bool

        init(
            _ info: EntityInfo, _ identityMap: IdentityMap, _ chunk: RowChunk, store: UInt16, asFaults: Bool,
            unseen: Bool
        ) {
            var flags: ObjectFlags = [.persistent, .registered]
            if unseen { flags.formUnion(asFaults ? .unasked : [.unasked, .unseen]) }
            self.flags = flags.rawValue
            let binding = info.classBinding
            initializer = binding.initializer
            description = .passUnretained(info.description)
            self.identityMap = .passUnretained(identityMap)
            self.chunk = .passUnretained(chunk)
            arena = chunk.arena
            header = chunk.layout.header
            self.store = store
            wakes = !binding.sleepsThroughFetch
            let fault = wakes ? SlowReason.fault : SlowReason.dormant
            slow =
                (binding.slots == nil ? 0 : SlowReason.foreignSlots) | (asFaults ? fault : 0) | coredata_checked_bit()
        }

        @inline(__always)
        func makeObject() -> NSManagedObject {
            guard let initializer else {
                return NSManagedObject(entity: description.takeUnretainedValue(), insertInto: nil)
            }
            return initializer.make(description)
        }

        /// Retains the description once for each initialiser to come, which releases it.
        @inline(__always)
        func expect(_ count: Int) {
            if initializer != nil { coredata_retain(description.toOpaque(), UInt32(count)) }
        }

        /// Retains the identity map and the chunk once for each new object.
        @inline(__always)
        func retain(_ count: Int) {
            coredata_retain(identityMap.toOpaque(), UInt32(count))
            coredata_retain(chunk.toOpaque(), UInt32(count))
        }

        /// Changes to another chunk of the same entity.
        @inline(__always)
        mutating func move(to other: RowChunk) {
            guard chunk.toOpaque() != Unmanaged.passUnretained(other).toOpaque() else { return }
            chunk = .passUnretained(other)
            arena = other.arena
        }
    }

    /// Returns the object of one row, fulfilled.
    final func materialize(
        _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, store: UInt16
    ) -> NSManagedObject {
        let entity = chunk.layout.entity
        let info = runtime.infos[entity.value]
        let identityMap = requiredIdentityMap
        if let existing = identityMap.object(number: row.key(chunk.layout), entity: entity.rawValue, store: store) {
            if fulfill(existing, chunk, row, asFaults: false), !info.classBinding.sleepsThroughFetch { wake(existing) }
            return existing
        }
        let birth = Birth(info, identityMap, chunk, store: store, asFaults: false, unseen: readsUnseen)
        birth.expect(1)
        let object = make(birth, row)
        birth.retain(1)
        identityMap.register(object)
        if birth.wakes { wake(object) }
        return object
    }

    /// Attaches a row to a fault and returns whether it is fulfilled. Never changes values of other objects (8.4).
    final func fulfill(
        _ object: NSManagedObject, _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, asFaults: Bool
    ) -> Bool {
        let state = object._state
        guard state.isFault else { return false }
        if state.pointee.row == nil {
            state.attach(chunk, row: row)
            if readsUnseen { state.set(asFaults ? .unasked : [.unasked, .unseen]) }
        } else if !readsUnseen {
            state.clear(.unasked)
        }
        if asFaults {
            state.pointee.slow |= SlowReason.fault
        } else {
            state.pointee.slow &= ~SlowReason.anyFault
        }
        return !asFaults
    }

    /// Calls `awakeFromFetch` without tracking changes.
    final func wake(_ object: NSManagedObject) {
        object._state.set(.waking)
        writing(as: .waking) { object.awakeFromFetch() }
        object._state.clear(.waking)
    }

    // MARK: Faults

    /// Fulfils a fault from the row that it has, the row cache or the store.
    final func fire(_ object: NSManagedObject, reading slot: Int? = nil) {
        let state = object._state
        if state.pointee.row == nil {
            // A row in the cache is no read of the store.
            if state.pointee.number > 0, cachedObject(for: state.key) === object { return }
            noteFault(of: object)
            persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        }
        guard state.pointee.row != nil || readTogether(object) else {
            do {
                // The read fulfils the object and calls `awakeFromFetch`.
                if try readStored(state.key) == nil { loseRow(of: object, reading: slot) }
            } catch {
                if readError == nil { readError = CocoaError.unread(object, reading: slot, cause: error) }
            }
            return
        }
        if state.has(.unasked), readsUnseen { state.set(.unseen) }
        state.pointee.slow &= ~SlowReason.anyFault
        if !state.info.classBinding.sleepsThroughFetch { wake(object) }
    }

    /// Returns the object of one row from the row cache or the store, nil if there is no row.
    final func read(_ key: ObjectKey) throws -> NSManagedObject? {
        if key.number > 0, let object = cachedObject(for: key) { return object }
        return try readStored(key)
    }

    /// Returns the object of one row from the store, past the row cache.
    private final func readStored(_ key: ObjectKey) throws -> NSManagedObject? {
        guard key.number > 0, key.store != 0 else { return try link.readUnsaved(key, self) }
        guard let store = try storedRows(of: key.store) else { return nil }
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        var found: NSManagedObject?
        let begun = observedTime
        defer { if begun != 0 { tellFault(of: key, rows: found == nil ? 0 : 1, since: begun) } }
        do {
            try store.rows(for: [key.number], in: runtime.infos[key.entity.value].entity.root, .latest) { batch in
                cache?.add(batch, store: key.store, since: ticket)
                found = materialize(batch.first, batch.first.row(0), store: key.store)
                return .stop
            }
        } catch { throw CocoaError.reading(error) }
        return found
    }

    /// Reads the members of a to-many.
    final func fire(_ owner: NSManagedObject, toMany index: Int, _ members: ToMany) {
        let number = owner._state.pointee.store
        guard rows(of: number) != nil || number != 0 && !owner._state.has(.gone) else { return }
        noteFault(of: owner, toMany: index)
        persistentStoreCoordinator?.faultCount.wrappingAdd(1, ordering: .relaxed)
        let begun = observedTime
        defer { if begun != 0 { tellFault(of: owner, toMany: index, members, since: begun) } }
        do {
            members.setStored(try read(owner.relationship(toMany: index).index, of: owner._state.key))
            members.readAt = rowTime
            members.isUnseen = readsUnseen
            members.mayPrecedeRow = owner._state.pointee.row == nil
        } catch {
            if readError == nil {
                readError = CocoaError.unread(owner.objectID, key: owner.relationship(toMany: index).name, cause: error)
            }
        }
    }

    private func read(_ relationship: RelationshipIndex, of owner: ObjectKey) throws -> ToMany.Base {
        guard let store = try storedRows(of: owner.store) else { return .fault }
        if store.capabilities.contains(.memberKeys) {
            let keys = try store.memberKeys(of: relationship, owner: owner.row, .latest)
            return .keys(
                ContiguousArray(keys.map { ObjectKey(number: $0.number, entity: $0.entity, store: owner.store) }))
        }
        var batches: [RowBatch] = []
        let cache = rowCache
        let ticket = cache?.ticket ?? 0
        try store.members(of: relationship, owner: owner.row, .latest) { batch in
            batches.append(batch)
            cache?.add(batch, store: owner.store, since: ticket)
            return .more
        }
        // An owner that only the parent has is in no store, but its members may be: they keep their own keys.
        guard owner.store == 0 else { return .rows(batches) }
        return .keys(ContiguousArray(materialize(batches, store: 0).map { $0._state.key }))
    }

    /// Throws the error of an earlier read in a getter, once.
    final func throwReadError() throws {
        guard let error = readError else { return }
        readError = nil
        throw CocoaError.cancelledOr(error)
    }
}
