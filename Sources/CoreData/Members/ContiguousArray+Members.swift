// Lists of members and of their keys.

import CoreDataValues

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

extension ContiguousArray<NSManagedObject> {
    /// The keys of objects, 12 instructions each.
    var keys: ContiguousArray<ObjectKey> {
        // Without this the count would be written to the empty array that all share.
        guard !isEmpty else { return [] }
        return ContiguousArray<ObjectKey>(unsafeUninitializedCapacity: count) { keys, made in
            borrowEach { object in
                keys.initializeElement(at: made, to: object._state.key)
                made += 1
            }
        }
    }

    /// The place of an object. Near either end, or near a given place, the search is short.
    func place(of member: ObjectIdentifier, near: Int) -> Int? {
        withUnsafeBytes { bytes in
            let objects = bytes.bindMemory(to: ObjectIdentifier.self)
            let last = objects.count - 1
            for distance in 0..<(objects.count + 1) / 2 {
                if objects[distance] == member { return distance }
                if objects[last - distance] == member { return last - distance }
                let (behind, before) = (near + distance, near - distance)
                if behind <= last, behind >= 0, objects[behind] == member { return behind }
                if before >= 0, before <= last, objects[before] == member { return before }
            }
            return nil
        }
    }
}
