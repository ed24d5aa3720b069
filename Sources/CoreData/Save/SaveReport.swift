// What a save made of the objects that were inserted.

import Foundation

/// Follows the inserted objects of one save through the settling of constraints.
final class SaveReport {
    /// Those of the first attempt that was refused, in their order.
    private var first: ContiguousArray<NSManagedObject> = []
    private var saved: ContiguousArray<NSManagedObject> = []
    /// Of an object that became part of another.
    private var merged: [ObjectIdentifier: (survivor: NSManagedObject, effect: NSBatchInsertEffect)] = [:]

    /// The save was refused with these objects.
    func begin(_ inserted: ContiguousArray<NSManagedObject>) {
        if first.isEmpty { first = inserted }
    }

    /// A policy has made one object of two.
    func note(_ object: NSManagedObject, became survivor: NSManagedObject, _ effect: NSBatchInsertEffect) {
        if !first.contains(where: { $0 === object }) { first.append(object) }
        merged[ObjectIdentifier(object)] = (survivor, effect)
    }

    func end(_ inserted: ContiguousArray<NSManagedObject>) { saved = inserted }

    var effects: [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)] {
        let rows = Set(saved.map { ObjectIdentifier($0) })
        let known = Set(first.map { ObjectIdentifier($0) })
        return (first + saved.filter { !known.contains(ObjectIdentifier($0)) }).compactMap { object in
            if rows.contains(ObjectIdentifier(object)) { return (object.objectID, .inserted) }
            return merged[ObjectIdentifier(object)].map { (survivor(of: $0.survivor).objectID, $0.effect) }
        }
    }

    /// Of several objects with the same values one after the other goes into another.
    private func survivor(of object: NSManagedObject) -> NSManagedObject {
        var last = object
        for _ in 0..<merged.count {
            guard let next = merged[ObjectIdentifier(last)]?.survivor else { break }
            last = next
        }
        return last
    }
}
