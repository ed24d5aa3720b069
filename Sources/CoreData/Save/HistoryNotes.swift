// What a save tells a store that keeps history.

import CoreDataValues

extension SaveOperation {
    /// A batch with the note that the store's history asks for.
    func noted(_ batch: StoreBatch) -> ChangeBatch {
        var relationships: [RowKey: [RelationshipIndex]] = [:]
        for object in updated where object._state.pointee.store == batch.store.number {
            object.forEachToMany { index, members in
                let relationship = object.relationship(toMany: index)
                guard members.isChanged, !relationship.description.isTransient else { return }
                relationships[object.savedKey, default: []].append(relationship.index)
                guard relationship.isOrdered, let inverse = relationship.inverse, let order = members.order else { return }
                // A member that only changed its place has changed as well (12.6).
                for member in moved(order, from: members.storedKeys(in: batch.store.number)) {
                    relationships[member.savedKey, default: []].append(inverse)
                }
            }
        }
        var noted = batch.batch
        noted.note = HistoryNote(
            author: context.transactionAuthor, contextName: context.name, relationships: relationships)
        return noted
    }

    /// The fewest members that could have moved to make one order of the other, without those that came and went.
    private func moved(
        _ order: ContiguousArray<NSManagedObject>, from former: ContiguousArray<ObjectKey>
    ) -> [NSManagedObject] {
        let places = Dictionary(zip(former, former.indices), uniquingKeysWith: { first, _ in first })
        let kept = order.filter { !$0._state.has(.inserted) && places[$0._state.key] != nil }
        return descents(in: kept.map { places[$0._state.key] ?? 0 }).map { kept[$0] }
    }

    /// The places of the fewest numbers without which the others ascend.
    private func descents(in numbers: [Int]) -> [Int] {
        // For each length the place where an ascent of that length ends lowest, and what comes before each place in its ascent.
        var ends: [Int] = []
        var former = numbers.map { _ in -1 }
        for (place, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { former[place] = ends[low - 1] }
            if low < ends.count { ends[low] = place } else { ends.append(place) }
        }
        var ascending: Set<Int> = []
        var place = ends.last ?? -1
        while place >= 0 {
            ascending.insert(place)
            place = former[place]
        }
        return numbers.indices.filter { !ascending.contains($0) }
    }
}
