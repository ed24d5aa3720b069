// Everything that a failed save must leave as it was.

import Foundation

#if DEBUG
@testable import CoreData
#else
import CoreData
#endif

/// A context and the rows below it at one moment, as text: every registered object's ID, state, values and relationships,
/// deleted ones too, the sets of the context, its undo stack, and the rows as another context reads them.
///
/// Pending changes must have been processed. Taking one reads all faults; it holds all objects, so that a later one shows
/// them too.
package struct Picture {
    package let facts: [String]
    private let objects: Set<NSManagedObject>

    /// - Parameter reader: a context that has nothing of its own, over the same rows; nil leaves the rows out.
    package init(_ context: NSManagedObjectContext, rows reader: NSManagedObjectContext? = nil) throws {
        var objects: Set<NSManagedObject> = []
        // Reading relationships registers what is at their other ends.
        while true {
            let known = context.registeredObjects.union(context.insertedObjects).union(context.deletedObjects)
            if known.isSubset(of: objects) { break }
            objects.formUnion(known)
            for object in known { _ = Picture.contents(object) }
        }
        self.objects = objects
        var facts = objects.map { Picture.state($0, in: context) + " " + Picture.contents($0) }.sorted()
        for (name, set) in [
            ("inserted", context.insertedObjects), ("updated", context.updatedObjects),
            ("deleted", context.deletedObjects),
        ] {
            facts.append("\(name) \(set.map { "\($0.objectID)" }.sorted())")
        }
        facts.append("has changes: \(context.hasChanges)")
        if let undo = context.undoManager {
            facts.append(
                "undo \(undo.undoCount) \(undo.canUndo) redo \(undo.redoCount) \(undo.canRedo) level \(undo.groupingLevel)"
            )
        }
        #if DEBUG
        let tracker = context.tracker
        facts.append(
            "\(tracker.dirtyCount) dirty, \(tracker.event.count) in the event, \(tracker.deletePropagation.waiting.count) unpropagated"
        )
        facts.append(
            "\(tracker.log.count) logged, \(tracker.isLogging), \(context.checkedObjects.count) checked, \(context.hasEarlyKeys)"
        )
        #endif
        if let reader { facts += try Picture.rows(reader).map { "row " + $0 } }
        self.facts = facts
    }

    /// What is in one picture and not in the other; empty if nothing has changed.
    package func differences(from before: Picture) -> [String] {
        let (former, present) = (Set(before.facts), Set(facts))
        return before.facts.filter { !present.contains($0) }.map { "was " + $0 }
            + facts.filter { !former.contains($0) }.map { "is " + $0 }
    }

    /// All objects that a context finds, one a line: rows if it has no changes.
    package static func rows(_ context: NSManagedObjectContext) throws -> [String] {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        var lines: [String] = []
        for entity in model?.entities ?? [] where entity.superentity == nil {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.returnsObjectsAsFaults = false
            lines += try context.fetch(request).map { object in
                #if DEBUG
                return "version \(withExtendedLifetime(object) { $0._state.version }) \(contents(object))"
                #else
                return contents(object)
                #endif
            }.sorted()
        }
        return lines
    }

    private static func state(_ object: NSManagedObject, in context: NSManagedObjectContext) -> String {
        var flags: [String] = []
        if object.isInserted { flags.append("inserted") }
        if object.isUpdated { flags.append("updated") }
        if object.isDeleted { flags.append("deleted") }
        if object.isFault { flags.append("fault") }
        if object.hasChanges { flags.append("changed") }
        if object.hasPersistentChangedValues { flags.append("persistently") }
        if object.objectID.isTemporaryID { flags.append("temporary") }
        if object.managedObjectContext !== context { flags.append("elsewhere") }
        if context.registeredObject(for: object.objectID) === object { flags.append("registered") }
        flags.append("\(object.changedValues().keys.sorted())")
        #if DEBUG
        let state = object._state.pointee
        flags.append("flags \(state.flags) slow \(state.slow) number \(state.number) assigned \(state.assigned)")
        flags.append("store \(state.store) version \(object._state.version)")
        #endif
        return flags.joined(separator: " ")
    }

    private static func contents(_ object: NSManagedObject) -> String {
        var parts = ["\(object.objectID)"]
        for (key, _) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            parts.append("\(key): \(text(object.value(forKey: key)))")
        }
        for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let value = object.value(forKey: key)
            let members: [Any] =
                (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
            let ids = members.map { ($0 as? NSManagedObject).map { "\($0.objectID)" } ?? "\($0)" }
            parts.append("\(key): \(relationship.isOrdered ? ids : ids.sorted())")
        }
        return parts.joined(separator: ", ")
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let data as Data:
            "\(data.count) bytes \(data.prefix(16).map { $0 }) \(data.reduce(0) { ($0 &* 31) &+ Int($1) })"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let value?: "\(value)"
        }
    }
}
