// Sibling faults: firing one reads the rows of all in one statement.

import CoreDataValues

// A fault without a row may retain a chunk that names its siblings: one without cells that lists their keys, or that of
// the row which led to the fault, with their keys at `targetSlot`. Chunks retain no objects, so no cycle forms (I-4).
extension Faulting {
    // MARK: Making

    /// Makes faults that were found together siblings, in groups of at most `size`. Leaves out objects with a row.
    func join(_ objects: borrowing ContiguousArray<NSManagedObject>, _ size: Int = RowChunk.maximumCount) {
        var group: ContiguousArray<NSManagedObject> = []
        for index in objects.indices where objects[index]._state.mayJoin {
            let object = objects[index]
            if let first = group.first, !first._state.isOfTree(object._state) || group.count == size {
                link(group)
                group.removeAll(keepingCapacity: true)
            }
            group.append(object)
        }
        link(group)
    }

    private func link(_ group: ContiguousArray<NSManagedObject>) {
        guard group.count > 1, let root = group.first?._state.info.entity.root else { return }
        let chunk = RowChunk(layout: RowLayout(entity: root, kinds: []), capacity: group.count)
        for object in group { add(object, chunk) }
    }

    /// Makes a fault the sibling of others of its root entity that were made singly: up to 256, until one is read.
    func joinOthers(_ object: NSManagedObject) {
        let state = object._state
        guard state.mayJoin else { return }
        let (store, root) = (state.pointee.store, state.info.entity.root)
        if let place = openSiblings.firstIndex(where: { $0.store == store && $0.root == root }) {
            guard openSiblings[place].chunk.isFull else { return add(object, openSiblings[place].chunk) }
            openSiblings.remove(at: place)
        }
        let chunk = RowChunk(layout: RowLayout(entity: root, kinds: []), capacity: RowChunk.maximumCount)
        openSiblings.append(OpenSiblings(store: store, root: root, chunk: chunk))
        add(object, chunk)
    }

    private func add(_ object: NSManagedObject, _ chunk: RowChunk) {
        let state = object._state
        _ = chunk.appendRow(key: state.pointee.number, version: 0, entity: state.info.entity.index)
        state.pointee.chunk = UnsafeRawPointer(Unmanaged.passRetained(chunk).toOpaque())
    }

    /// Returns the objects of keys; those that are faults become siblings.
    func objects(for keys: ContiguousArray<ObjectKey>) -> [NSManagedObject] {
        var objects: ContiguousArray<NSManagedObject> = []
        objects.reserveCapacity(keys.count)
        var start = 0
        while start < keys.count {
            var end = start
            while end < keys.count, keys[end].number > 0, keys[end].entity == keys[start].entity,
                keys[end].store == keys[start].store
            {
                end += 1
            }
            if start == end {
                objects.append(context.object(for: keys[start]))
                start += 1
            } else {
                find(keys, start..<end, into: &objects)
                start = end
            }
        }
        join(objects)
        return Array(objects)
    }

    /// Appends the objects of consecutive keys of one entity, looked up together.
    private func find(
        _ keys: ContiguousArray<ObjectKey>, _ places: Range<Int>, into objects: inout ContiguousArray<NSManagedObject>
    ) {
        let first = keys[places.lowerBound]
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: places.count) { numbers in
            withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>?.self, capacity: places.count) { found in
                guard let found = found.baseAddress else { return }
                for place in places { numbers.initializeElement(at: place - places.lowerBound, to: keys[place].number) }
                context.requiredIdentityMap.objects(
                    UnsafeBufferPointer(numbers), entity: first.entity.rawValue, store: first.store, into: found)
                for place in places {
                    objects.append(
                        found[place - places.lowerBound]?.takeRetainedValue() ?? context.object(for: keys[place]))
                }
            }
        }
    }

    /// Makes the object for a to-one's target that is not in memory: of a row that was read with those of its siblings,
    /// or as a fault.
    func newTarget(_ key: ObjectKey, of source: NSManagedObject, _ slot: Int) -> NSManagedObject {
        guard let chunk = source._state.chunk else { return context.newFault(for: key) }
        let object: NSManagedObject
        if let found = siblingRow(key, chunk, slot) {
            let entity = found.chunk.layout.entity
            object = context.newFault(for: ObjectKey(number: key.number, entity: entity, store: key.store))
            fill(object, found.chunk, found.chunk.row(found.row), sleep(entity))
        } else {
            object = context.newFault(for: key)
            object._state.pointee.chunk = UnsafeRawPointer(Unmanaged.passRetained(chunk).toOpaque())
            object._state.pointee.targetSlot = UInt16(truncatingIfNeeded: slot)
        }
        return object
    }

    private func siblingRow(_ key: ObjectKey, _ source: RowChunk, _ slot: Int) -> SiblingRows.Entry? {
        guard !siblingRows.isEmpty, readsTogether else { return nil }
        let root = context.runtime.schema[key.entity].root
        for set in siblingRows
        where set.source === source && set.slot == slot && set.time == rowTime && set.root == root {
            return set.entry(key.number)
        }
        return nil
    }

    // MARK: Firing

    /// Reads the rows of a fault and its siblings. False if it has none, or if its own row was not among them.
    func readTogether(_ object: NSManagedObject) -> Bool {
        let state = object._state
        guard readsTogether, let siblings = state.chunk, let store = context.reader(of: state.pointee.store) else {
            return false
        }
        openSiblings.removeAll { $0.chunk === siblings }
        let isTarget = siblings.layout.slotCount > 0
        guard isTarget || siblings.count > 1 else { return false }
        let numbers = isTarget ? targets(in: siblings, Int(state.pointee.targetSlot)) : keys(of: siblings)
        let wanted = unread(numbers, beside: object, includesMissing: isTarget)
        guard wanted.numbers.count > 1, wanted.numbers.contains(state.pointee.number) else { return false }
        var unclaimed: [SiblingRows.Entry] = []
        let cache = context.rowCache
        let ticket = cache?.ticket ?? 0
        let begun = context.observedTime
        defer { if begun != 0 { context.tellFault(of: state.key, rows: wanted.numbers.count, since: begun) } }
        do {
            try store.rows(for: wanted.numbers, in: state.info.entity.root, .latest) { batch in
                cache?.add(batch, store: state.pointee.store, since: ticket)
                for chunk in batch.chunks { fill(from: chunk, store: state.pointee.store, &unclaimed) }
                return .more
            }
        } catch {
            // A sibling's row may be the unreadable one. The fault's own row is read alone then.
            return withExtendedLifetime(wanted) { state.pointee.row != nil }
        }
        if !unclaimed.isEmpty { addSiblingRows(unclaimed, siblings, beside: object, Int(wanted.slot)) }
        return withExtendedLifetime(wanted) { state.pointee.row != nil }
    }

    /// The rows that one statement is to read, and their objects, retained until then.
    private struct Wanted {
        var numbers: [Int64] = []
        var objects: ContiguousArray<NSManagedObject> = []
        var slot: UInt16
    }

    private func keys(of chunk: RowChunk) -> ContiguousArray<Int64> {
        ContiguousArray((0..<chunk.count).map { chunk.row($0).key(chunk.layout) })
    }

    /// The targets of one to-one of all rows of a chunk, each once.
    private func targets(in chunk: RowChunk, _ slot: Int) -> ContiguousArray<Int64> {
        guard slot < chunk.layout.slotCount, chunk.layout.kinds[slot] == .toOne else { return [] }
        var numbers: ContiguousArray<Int64> = []
        numbers.reserveCapacity(chunk.count)
        var row = chunk.row(0)
        for _ in 0..<chunk.count {
            let number = Int64(bitPattern: row[slot])
            if row.isPresent(slot), number > 0, number != numbers.last { numbers.append(number) }
            row += chunk.layout.stride
        }
        numbers.sort()
        var last: Int64 = 0
        numbers.removeAll { number in
            defer { last = number }
            return number == last
        }
        return numbers
    }

    /// The keys whose objects are faults without a row and, with `includesMissing`, those without an object.
    private func unread(
        _ numbers: ContiguousArray<Int64>, beside object: NSManagedObject, includesMissing: Bool
    ) -> Wanted {
        let state = object._state.pointee
        var wanted = Wanted(slot: state.targetSlot)
        wanted.numbers.reserveCapacity(numbers.count)
        wanted.objects.reserveCapacity(numbers.count)
        withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>?.self, capacity: max(1, numbers.count)) { found in
            guard let base = found.baseAddress else { return }
            numbers.withUnsafeBufferPointer {
                _ = context.requiredIdentityMap.objects($0, entity: state.entity, store: state.store, into: base)
            }
            for (index, number) in numbers.enumerated() {
                guard let sibling = base[index]?.takeRetainedValue() else {
                    if includesMissing { wanted.numbers.append(number) }
                    continue
                }
                guard sibling._state.isFault, sibling._state.pointee.row == nil else { continue }
                wanted.numbers.append(number)
                wanted.objects.append(sibling)
            }
        }
        return wanted
    }

    /// Attaches rows to registered faults; adds those that no object has yet to `unclaimed`.
    private func fill(from chunk: RowChunk, store: UInt16, _ unclaimed: inout [SiblingRows.Entry]) {
        let count = chunk.count
        guard count > 0, chunk.row(0).key(chunk.layout) > 0 else { return }
        let numbers = keys(of: chunk)
        let sleep = sleep(chunk.layout.entity)
        withUnsafeTemporaryAllocation(of: Unmanaged<NSManagedObject>?.self, capacity: count) { found in
            guard let base = found.baseAddress else { return }
            numbers.withUnsafeBufferPointer {
                _ = context.requiredIdentityMap.objects(
                    $0, entity: chunk.layout.entity.rawValue, store: store, into: base)
            }
            for index in 0..<count {
                if let object = base[index]?.takeRetainedValue() {
                    fill(object, chunk, chunk.row(index), sleep)
                } else {
                    unclaimed.append((numbers[index], chunk, index))
                }
            }
        }
    }

    /// Attaches a row to a fault; it stays a fault until its first read.
    private func fill(_ object: NSManagedObject, _ chunk: RowChunk, _ row: Row, _ sleep: UInt32) {
        let state = object._state
        // The entity of a fault made from a key is a hint, and an object cannot change its entity.
        guard state.isFault, state.pointee.row == nil, state.pointee.entity == chunk.layout.entity.rawValue else {
            return
        }
        state.attach(chunk, row: row)
        state.set(.readIncidentally)
        state.pointee.slow |= sleep
    }

    /// The `SlowReason` of a fault with a row.
    private func sleep(_ entity: EntityIndex) -> UInt32 {
        context.runtime.infos[entity.value].classBinding.sleepsThroughFetch ? SlowReason.dormant : SlowReason.fault
    }

    /// Keeps rows for siblings that are made later. Drops sets that are out of date, and the oldest beyond the limit.
    private func addSiblingRows(
        _ unclaimed: [SiblingRows.Entry], _ source: RowChunk, beside object: NSManagedObject, _ slot: Int
    ) {
        siblingRows.removeAll { $0.time != rowTime || $0.source === source && $0.slot == slot }
        if siblingRows.count >= SiblingRows.limit { siblingRows.removeFirst() }
        siblingRows.append(
            SiblingRows(
                source: source, slot: slot, root: object._state.info.entity.root, time: rowTime,
                entries: unclaimed.sorted { $0.number < $1.number }))
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Whether this is a fault with neither a row nor siblings.
    fileprivate var mayJoin: Bool {
        isFault && pointee.row == nil && pointee.chunk == nil && pointee.number > 0 && pointee.store != 0
    }

    fileprivate func isOfTree(_ other: UnsafeMutablePointer<ObjectState>) -> Bool {
        pointee.store == other.pointee.store && info.entity.root == other.info.entity.root
    }
}
