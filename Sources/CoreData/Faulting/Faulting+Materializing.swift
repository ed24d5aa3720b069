// Makes objects of rows.

import CCoreDataRuntime
import CoreDataValues
import Foundation

extension Faulting {
    /// Returns the objects of rows, in order. A registered object keeps its values, a registered fault gets the row.
    func materialize(_ batches: [RowBatch], store: UInt16, asFaults: Bool = true) -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        objects.reserveCapacity(batches.reduce(0) { $0 + $1.count })
        for batch in batches { materialize(batch, store: store, asFaults: asFaults, into: &objects) }
        return Array(objects)
    }

    func materialize(
        _ batch: RowBatch, store: UInt16, asFaults: Bool, into objects: inout ContiguousArray<NSManagedObject>
    ) {
        guard let order = batch.order else {
            let chunk = batch.first
            // What many rows share is not worth making for one (2 % of a look-up, measured).
            if chunk.count == 1, !asFaults, store != 0, chunk.row(0).key(chunk.layout) >= 0 {
                return objects.append(materialize(chunk, chunk.row(0), store: store))
            }
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
    func materialize(
        _ chunk: RowChunk, _ rows: Range<Int>, store: UInt16, asFaults: Bool,
        into objects: inout ContiguousArray<NSManagedObject>
    ) {
        let count = rows.count
        guard count > 0 else { return }
        let needed = objects.count + count
        if objects.capacity < needed { objects.reserveCapacity(max(needed, 2 * objects.capacity)) }
        let layout = chunk.layout
        if store == 0 || chunk.row(0).key(layout) < 0 {
            return context.materializeUnsaved(chunk, rows, store: store, asFaults: asFaults, into: &objects)
        }
        let (info, identityMap) = withContext { ($0.runtime.infos[layout.entity.value], $0.requiredIdentityMap) }
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
    func make(_ birth: Birth, _ row: UnsafeMutablePointer<UInt64>) -> NSManagedObject {
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
            if unseen { flags.formUnion(asFaults ? .readIncidentally : [.readIncidentally, .unseen]) }
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
    func materialize(
        _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, store: UInt16
    ) -> NSManagedObject {
        let entity = chunk.layout.entity
        let (info, identityMap) = withContext { ($0.runtime.infos[entity.value], $0.requiredIdentityMap) }
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
    func fulfill(
        _ object: NSManagedObject, _ chunk: RowChunk, _ row: UnsafeMutablePointer<UInt64>, asFaults: Bool
    ) -> Bool {
        let state = object._state
        guard state.isFault else { return false }
        if state.pointee.row == nil {
            state.attach(chunk, row: row)
            if readsUnseen { state.set(asFaults ? .readIncidentally : [.readIncidentally, .unseen]) }
        } else if !readsUnseen {
            state.clear(.readIncidentally)
        }
        if asFaults {
            state.pointee.slow |= SlowReason.fault
        } else {
            state.pointee.slow &= ~SlowReason.anyFault
        }
        return !asFaults
    }

    /// Calls `awakeFromFetch` without tracking changes.
    func wake(_ object: NSManagedObject) {
        object._state.set(.waking)
        context.writing(as: .waking) { object.awakeFromFetch() }
        object._state.clear(.waking)
    }
}
