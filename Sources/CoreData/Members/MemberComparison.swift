// How the wanted members of a to-many differ from the present ones.

import CoreDataValues
import Foundation

/// The members that come and go when members are replaced.
///
/// Found by marks in the objects' state, cleared before `init` returns: a set of the objects would cost a hash and a
/// comparison for each, 2,000 instructions a member instead of 30.
struct MemberComparison {
    /// The wanted members, each once.
    let wanted: ContiguousArray<NSManagedObject>
    let came: ContiguousArray<NSManagedObject>
    let gone: ContiguousArray<NSManagedObject>

    init(present: ContiguousArray<NSManagedObject>, wanted all: ContiguousArray<NSManagedObject>) {
        var (came, gone): (ContiguousArray<NSManagedObject>, ContiguousArray<NSManagedObject>) = ([], [])
        var repetitions: ContiguousArray<Int> = []
        var place = 0
        present.borrowEach { $0._state.set(.present) }
        all.borrowEach { object in
            let state = object._state
            if state.has(.wanted) {
                repetitions.append(place)
            } else {
                state.set(.wanted)
                if !state.has(.present) { came.append(object) }
            }
            place += 1
        }
        present.borrowEach { object in
            let state = object._state
            if !state.has(.wanted) { gone.append(object) }
            state.clear([.present, .wanted])
        }
        came.borrowEach { $0._state.clear([.present, .wanted]) }
        wanted = all.without(places: repetitions)
        self.came = came
        self.gone = gone
    }
}

extension ContiguousArray<NSManagedObject> {
    /// Whether two lists have the same objects in the same order.
    func isSame(as other: Self) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                guard let a = mine.baseAddress, let b = theirs.baseAddress else { return true }
                return a == b || memcmp(a, b, mine.count) == 0
            }
        }
    }

    /// How many objects two lists share at the start and at the end. For lists with more than 4096 differences only the
    /// start counts.
    func change(to other: Self) -> (same: Int, rest: Int) {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                let (mine, theirs) = (
                    mine.bindMemory(to: ObjectIdentifier.self), theirs.bindMemory(to: ObjectIdentifier.self)
                )
                let all = Swift.min(mine.count, theirs.count)
                var same = 0
                while same < all, mine[same] == theirs[same] { same += 1 }
                var rest = 0
                while rest < all - same, mine[mine.count - 1 - rest] == theirs[theirs.count - 1 - rest] { rest += 1 }
                let changes = mine.count + theirs.count - 2 * (same + rest)
                return (same, changes > 4096 ? 0 : rest)
            }
        }
    }

    /// - Parameter places: ascending.
    fileprivate func without(places: ContiguousArray<Int>) -> Self {
        guard let first = places.first else { return self }
        var left = Self(self[..<first])
        for (place, next) in zip(places, places.dropFirst() + [count]) {
            left.append(contentsOf: self[place + 1..<next])
        }
        return left
    }
}

/// A collection of managed objects of any class, found inside an `Any` without bridging to Foundation.
protocol ManagedObjectCollection {
    var managedObjects: ContiguousArray<NSManagedObject> { get }
}

extension Set: ManagedObjectCollection where Element: NSManagedObject {
    var managedObjects: ContiguousArray<NSManagedObject> { collected(self) }
}

extension Array: ManagedObjectCollection where Element: NSManagedObject {
    var managedObjects: ContiguousArray<NSManagedObject> { collected(self) }
}

/// The objects of any sequence. The usual collections are copied without a call for each object.
func collected<Objects: Sequence>(_ objects: Objects) -> ContiguousArray<NSManagedObject>
where Objects.Element: NSManagedObject {
    // The type is compared first, since a cast of another set would make a new one.
    if Objects.self == Set<NSManagedObject>.self, let set = objects as? Set<NSManagedObject> {
        return ContiguousArray(set)
    }
    if Objects.self == [NSManagedObject].self, let array = objects as? [NSManagedObject] {
        return ContiguousArray(array)
    }
    if let array = objects as? ContiguousArray<NSManagedObject> { return array }
    var collected: ContiguousArray<NSManagedObject> = []
    collected.reserveCapacity(objects.underestimatedCount)
    for object in objects { collected.append(object) }
    return collected
}
