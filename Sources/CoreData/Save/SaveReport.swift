// What became of the objects that a save was to insert.

import Foundation

/// Follows the inserted objects of one save through the resolution of constraint conflicts.
final class SaveReport {
    /// The inserted objects of the first refused attempt, in their order.
    private var first: ContiguousArray<NSManagedObject> = []
    private var saved: ContiguousArray<NSManagedObject> = []
    /// The survivor of each object that was merged into another, and the effect on it.
    private var merged: [ObjectIdentifier: (survivor: NSManagedObject, effect: NSBatchInsertEffect)] = [:]

    /// Notes the objects with which the save was refused first.
    func begin(_ inserted: ContiguousArray<NSManagedObject>) {
        if first.isEmpty { first = inserted }
    }

    /// Notes that a policy merged one object into another.
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

    /// The object that remains at the end, as a survivor may have been merged into another in turn.
    private func survivor(of object: NSManagedObject) -> NSManagedObject {
        var last = object
        for _ in 0..<merged.count {
            guard let next = merged[ObjectIdentifier(last)]?.survivor else { break }
            last = next
        }
        return last
    }
}

extension NSManagedObjectContext {
    /// Saves and reports the effect for each inserted object: `.inserted`; `.updated` if a merge policy has merged it
    /// into another one with the same unique values, which took its values; `.kept` if that one kept its own. Ours.
    ///
    /// In the order of insertion; each ID is that of the row that has the object's unique values now. Objects that a
    /// custom merge policy has deleted are left out. A context with a parent only hands objects on: all are inserted
    /// into the parent.
    /// - Throws: what `save()` throws; then there is no report.
    public final func saveReportingEffects() throws -> [(objectID: NSManagedObjectID, effect: NSBatchInsertEffect)] {
        checkQueue()
        let report = SaveReport()
        saveReport = report
        defer { saveReport = nil }
        try save()
        return report.effects
    }
}
