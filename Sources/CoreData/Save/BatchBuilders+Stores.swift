// Keys for new objects whose stores are not determined by entity alone.

import CoreDataValues
import Foundation

extension BatchBuilders {
    /// Assigns keys where stores choose them for each object, or where objects were assigned to stores.
    ///
    /// *find each object's store · get keys store by store · assign them*
    func assignKeysOneByOne(_ inserted: ContiguousArray<NSManagedObject>) throws {
        var homes: [UInt16: (store: NumberedStore, objects: [NSManagedObject])] = [:]
        try inserted.borrowEach { object in
            let home = try context.home(of: object)
            homes[home.number, default: (home, [])].objects.append(object)
        }
        for (number, home) in homes.sorted(by: { $0.key < $1.key }) {
            let keys: [Int64]
            do { keys = try self.keys(for: home.objects, in: home.store) } catch { throw CocoaError.saving(error) }
            for (object, key) in zip(home.objects, keys) {
                object._state.pointee.assigned = key
                object._state.pointee.assignedStore = number
            }
        }
    }

    private func keys(for objects: [NSManagedObject], in store: NumberedStore) throws -> [Int64] {
        if let keys = try store.store.takeKeys(for: objects) { return keys }
        var counts: [EntityIndex: Int] = [:]
        for object in objects { counts[object._state.info.entity.root, default: 0] += 1 }
        var next = try counts.reduce(into: [EntityIndex: Int64]()) { next, entry in
            next[entry.key] = try store.writer.allocateKeys(entry.value, in: entry.key).lowerBound
        }
        return objects.map { object in
            let root = object._state.info.entity.root
            let key = next[root] ?? 0
            next[root] = key + 1
            return key
        }
    }
}
