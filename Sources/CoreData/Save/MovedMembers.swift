// Finds the members of an ordered to-many that are not in the stored order.

import CoreDataValues

/// The fewest added or moved members that turn the stored order into the present one.
///
/// Skips equal members at both ends and recognizes a single move, at 10 instructions a member. Only the range between
/// the first and the last of several moves is compared in detail.
struct MovedMembers {
    /// Their indexes in the present order, ascending.
    private(set) var places: [Int] = []
    private let stored: ContiguousArray<ObjectKey>
    private let order: ContiguousArray<ObjectKey>
    private let gone: Set<ObjectKey>
    private let came: Set<ObjectKey>

    /// nil if the members were not read, or if most of them were added or moved.
    init?(in order: ContiguousArray<NSManagedObject>, _ members: ToMany, store: UInt16) {
        guard !members.isFault, 2 * members.added.count <= order.count else { return nil }
        stored = members.storedKeys(in: store)
        self.order = order.keys
        gone = Set(members.removed.objects.keys)
        came = Set(members.added.objects.keys)
        guard compare() else { return nil }
        places.sort()
    }

    private mutating func compare() -> Bool {
        let (former, present, new) = stored.withUnsafeBufferPointer { stored in
            order.withUnsafeBufferPointer { order in rest(stored, order) }
        }
        places = new
        return former.isEmpty || present.isEmpty ? end(former, present) : compareMiddle(former, present)
    }

    /// The ranges that remain after skipping equal, added and removed members at both ends.
    private func rest(
        _ stored: UnsafeBufferPointer<ObjectKey>, _ order: UnsafeBufferPointer<ObjectKey>
    ) -> (former: Range<Int>, present: Range<Int>, new: [Int]) {
        var new: [Int] = []
        var (a, b) = (0, 0)
        while a < stored.count, b < order.count {
            if stored[a].isSame(as: order[b]) {
                a += 1
                b += 1
            } else if came.contains(order[b]) {
                new.append(b)
                b += 1
            } else if gone.contains(stored[a]) {
                a += 1
            } else {
                break
            }
        }
        var (aEnd, bEnd) = (stored.count, order.count)
        while aEnd > a, bEnd > b {
            if stored[aEnd - 1].isSame(as: order[bEnd - 1]) {
                aEnd -= 1
                bEnd -= 1
            } else if came.contains(order[bEnd - 1]) {
                bEnd -= 1
                new.append(bEnd)
            } else if gone.contains(stored[aEnd - 1]) {
                aEnd -= 1
            } else {
                break
            }
        }
        return (a..<aEnd, b..<bEnd, new)
    }

    /// Ends the comparison if one range is empty: the other must hold only added or removed members.
    private mutating func end(_ former: Range<Int>, _ present: Range<Int>) -> Bool {
        places += present
        return present.allSatisfy { came.contains(order[$0]) } && former.allSatisfy { gone.contains(stored[$0]) }
    }

    private mutating func compareMiddle(_ former: Range<Int>, _ present: Range<Int>) -> Bool {
        let keys = gone.isEmpty ? stored[former] : stored[former].filter { !gone.contains($0) }[...]
        let kept = came.isEmpty ? Array(present) : present.filter { !came.contains(order[$0]) }
        if !came.isEmpty { places += present.filter { came.contains(order[$0]) } }
        guard keys.count == kept.count, let first = kept.first, let last = kept.last else { return false }
        if keys.last == order[first], zip(keys, kept.dropFirst()).allSatisfy({ $0.isSame(as: order[$1]) }) {
            places.append(first)
            return true
        }
        if keys.first == order[last], zip(keys.dropFirst(), kept).allSatisfy({ $0.isSame(as: order[$1]) }) {
            places.append(last)
            return true
        }
        let ranks = Dictionary(zip(keys, Int64(0)...), uniquingKeysWith: { first, _ in first })
        let ascent = kept.compactMap { ranks[order[$0]] }
        guard ascent.count == kept.count else { return false }
        let staying = ascent.longestAscent()
        guard staying.count > kept.count / 2 else { return false }
        var next = 0
        for place in kept.indices {
            if next < staying.count, staying[next] == place { next += 1 } else { places.append(kept[place]) }
        }
        return true
    }
}
