// The members of a to-many as last read or saved: rows or keys.

import CoreDataValues

extension ToMany {
    /// How many times the stored members are searched before a set of their keys is made, which costs as much as 400
    /// searches.
    static let searches = 16

    /// The number of members as last read or saved; 0 for a fault.
    var baseCount: Int {
        switch base {
        case .fault: 0
        case .rows(let batches): batches.reduce(0) { $0 + $1.count }
        case .slices(let slices): slices.count
        case .keys(let keys): keys.count
        }
    }

    /// Whether a row was a member when the members were last read or saved. The first calls search all members, later
    /// ones use a set.
    func held(_ key: ObjectKey, store: UInt16) -> Bool {
        if let keys = contents.pointee.keys { return keys.contains(key) }
        if isFault { return false }
        guard contents.pointee.questions >= ToMany.searches else {
            contents.pointee.questions += 1
            return storedPlace(of: key, store: store) != nil
        }
        let keys = Set(storedKeys(in: store))
        contents.pointee.keys = keys
        return keys.contains(key)
    }

    /// Whether to ask the store for one member while the members are not read: many questions cost more than reading
    /// them.
    func mayAskForPair() -> Bool {
        contents.pointee.questions &+= 1
        return contents.pointee.questions <= ToMany.searches
    }

    /// The place of a row when the members were last read or saved. The search takes a few instructions a member.
    func storedPlace(of key: ObjectKey, store: UInt16) -> Int? {
        guard case .keys(let keys) = base else {
            return key.store == (key.number > 0 ? store : 0) ? placeOfRow(key) : nil
        }
        return keys.withUnsafeBufferPointer { keys in
            var place = 0
            while place < keys.count {
                if keys[place].isSame(as: key) { return place }
                place += 1
            }
            return nil
        }
    }

    private func placeOfRow(_ key: ObjectKey) -> Int? {
        switch base {
        case .fault, .keys: return nil
        case .slices(let slices): return slices.place(of: key.number, key.entity)
        case .rows(let batches):
            var before = 0
            for batch in batches {
                if let place = batch.place(of: key.number, key.entity) { return before + place }
                before += batch.count
            }
            return nil
        }
    }

    /// Forgets additions and removals that the members read since reflect already: another context has saved them.
    func compare(store: UInt16) {
        guard !contents.pointee.isCompared, !isFault else { return }
        contents.pointee.isCompared = true
        if !added.isEmpty { contents.pointee.added.removeAll { isStored($0, store) } }
        if !removed.isEmpty { contents.pointee.removed.removeAll { !isStored($0, store) } }
    }

    private func isStored(_ member: NSManagedObject, _ store: UInt16) -> Bool {
        member._state.has(.persistent) && held(member._state.key, store: store)
    }

    /// Whether an object is the last of the members as last read or saved.
    func isStoredLast(_ member: NSManagedObject, store: UInt16) -> Bool {
        let key = member._state.key
        switch base {
        case .fault: return contents.pointee.tail.last?.isSame(as: key) == true
        case .keys(let keys): return keys.last?.isSame(as: key) == true
        case .rows, .slices: return storedPlace(of: key, store: store) == baseCount - 1
        }
    }

    /// Drops rows that a save or refresh may have made old: members made from them would have old values.
    ///
    /// Without pending changes the members become a fault, which one statement reads; with them their keys are kept.
    func dropOldRows(_ time: Int, store: UInt16) {
        guard readAt != time else { return }
        switch base {
        case .fault, .keys: return
        case .rows, .slices: if isChanged { keepKeys(store: store) } else { becomeFault() }
        }
    }

    /// Replaces rows that were read by their keys.
    func keepKeys(store: UInt16) {
        switch base {
        case .fault, .keys: return
        case .rows(let batches): setStored(.keys(ContiguousArray(batches.flatMap { $0.keys(inStore: store) })))
        case .slices(let slices): setStored(.keys(slices.keys(inStore: store)))
        }
    }

    /// The rows of the members as slices, which can keep what is prefetched beyond them; nil if there are no rows.
    func asSlices() -> MemberSlices? {
        switch base {
        case .fault, .keys: return nil
        case .slices(let slices): return slices
        case .rows(let batches):
            let slices = MemberSlices(batches)
            setStored(.slices(slices))
            return slices
        }
    }

    /// Whether a key may be that of an object that was unsaved or had no store when the members were read. The rows of
    /// a chunk are all saved or all unsaved.
    func mayHaveFormerKeys(store: UInt16) -> Bool {
        func isUnsaved(_ chunk: RowChunk) -> Bool { chunk.count > 0 && chunk.row(0).key(chunk.layout) <= 0 }
        return switch base {
        case .fault: false
        case .keys(let keys): keys.contains { $0.number <= 0 || $0.store == 0 }
        case .rows(let batches): store == 0 || batches.contains { $0.chunks.contains(where: isUnsaved) }
        case .slices(let slices): store == 0 || slices.table.chunks.contains(where: isUnsaved)
        }
    }
}

extension ObjectKey {
    /// The answer of `==` in 6 instructions and without its call.
    @inline(__always)
    func isSame(as other: ObjectKey) -> Bool {
        number == other.number && entity.rawValue == other.entity.rawValue && store == other.store
    }
}

extension ContiguousArray<ObjectKey> {
    /// Removes some keys in one pass.
    mutating func remove(_ gone: Self) {
        if gone.count == 1 {
            if let place = firstIndex(where: gone[0].isSame) { remove(at: place) }
        } else {
            let gone = Set(gone)
            removeAll(where: gone.contains)
        }
    }
}
