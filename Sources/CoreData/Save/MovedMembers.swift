// Which members of an ordered to-many do not stand where the store has them.

import CoreDataValues

/// The fewest members that came or moved to make the present order of the stored one.
///
/// Both ends that are alike are passed by, and a single member that moved is seen, at 10 instructions a member. Only what lies
/// between the first and the last of several moves is looked at more closely.
struct MovedMembers {
    /// Where they stand in the order, ascending.
    private(set) var places: [Int] = []
    private let stored: ContiguousArray<ObjectKey>
    private let order: ContiguousArray<ObjectKey>
    private let gone: Set<ObjectKey>
    private let came: Set<ObjectKey>

    /// nil when the members were not read, or when most of them moved.
    init?(in order: ContiguousArray<NSManagedObject>, _ members: ToMany, store: UInt16) {
        guard !members.isFault else { return nil }
        stored = members.storedKeys(in: store)
        self.order = order.keys
        gone = Set(members.removed.objects.keys)
        came = Set(members.added.objects.keys)
        guard compare() else { return nil }
        places.sort()
    }

    private mutating func compare() -> Bool {
        var (former, present) = (0..<stored.count, 0..<order.count)
        while let a = former.first, let b = present.first {
            if stored[a] == order[b] {
                former.removeFirst()
                present.removeFirst()
            } else if came.contains(order[b]) {
                places.append(b)
                present.removeFirst()
            } else if gone.contains(stored[a]) {
                former.removeFirst()
            } else { break }
        }
        while let a = former.last, let b = present.last {
            if stored[a] == order[b] {
                former.removeLast()
                present.removeLast()
            } else if came.contains(order[b]) {
                places.append(b)
                present.removeLast()
            } else if gone.contains(stored[a]) {
                former.removeLast()
            } else { break }
        }
        return former.isEmpty || present.isEmpty ? end(former, present) : compareMiddle(former, present)
    }

    /// One of the two is empty: what is left of the other came or is gone.
    private mutating func end(_ former: Range<Int>, _ present: Range<Int>) -> Bool {
        places += present
        return present.allSatisfy { came.contains(order[$0]) } && former.allSatisfy { gone.contains(stored[$0]) }
    }

    private mutating func compareMiddle(_ former: Range<Int>, _ present: Range<Int>) -> Bool {
        let keys = gone.isEmpty ? stored[former] : stored[former].filter { !gone.contains($0) }[...]
        let kept = came.isEmpty ? Array(present) : present.filter { !came.contains(order[$0]) }
        if !came.isEmpty { places += present.filter { came.contains(order[$0]) } }
        guard keys.count == kept.count, let first = kept.first, let last = kept.last else { return false }
        if keys.last == order[first], zip(keys, kept.dropFirst()).allSatisfy({ $0 == order[$1] }) {
            places.append(first)
            return true
        }
        if keys.first == order[last], zip(keys.dropFirst(), kept).allSatisfy({ $0 == order[$1] }) {
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
