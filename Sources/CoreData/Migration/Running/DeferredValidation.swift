// Validation that waits until everything is there.

import CoreDataValues
import Foundation

/// Takes the place of validation in the saves of a migration, whose objects are written before their relationships are filled: remembers
/// which objects do not satisfy the model yet, whoever saves them. `finish` judges these once more.
///
/// What the migration made is new, however often it was saved since: `validateForInsert` judges it.
final class DeferredValidation {
    private var failed: Set<NSManagedObjectID> = []
    /// Of the save that runs.
    private var failing: [NSManagedObject] = []
    private var passing: [NSManagedObjectID] = []
    /// The numbers of rows that were made, by tree; nil where all rows were.
    private var made: [EntityIndex: IndexSet]?
    /// Told of the objects that a save has deleted.
    private let deletions: (ContiguousArray<NSManagedObject>) -> Void

    /// - Parameter isNew: whether the destination was empty.
    init(isNew: Bool, _ deletions: @escaping (ContiguousArray<NSManagedObject>) -> Void) {
        made = isNew ? nil : [:]
        self.deletions = deletions
    }

    /// In the place of validation, before the save writes.
    func note(_ inserted: ContiguousArray<NSManagedObject>, _ updated: ContiguousArray<NSManagedObject>) {
        (failing, passing) = ([], [])
        inserted.borrowEach { object in
            do { try object.validateForInsert() } catch { failing.append(object) }
        }
        updated.borrowEach { object in
            do {
                try validate(object)
                if !failed.isEmpty, failed.contains(object.objectID) { passing.append(object.objectID) }
            } catch { failing.append(object) }
        }
    }

    /// Once the save is through.
    func didSave(_ inserted: ContiguousArray<NSManagedObject>, _ deleted: ContiguousArray<NSManagedObject>) {
        for id in passing { failed.remove(id) }
        for object in failing { failed.insert(object.objectID) }
        (failing, passing) = ([], [])
        if made != nil {
            inserted.borrowEach { object in
                let (root, number) = (object._state.info.entity.root, Int(object._state.key.number))
                if number > 0 { made?[root, default: []].insert(number) }
            }
        }
        if !failed.isEmpty { deleted.borrowEach { failed.remove($0.objectID) } }
        deletions(deleted)
    }

    private func validate(_ object: NSManagedObject) throws {
        let state = object._state
        let number = Int(state.key.number)
        if let made, number > 0, made[state.info.entity.root]?.contains(number) != true {
            try object.validateForUpdate()
        } else {
            try object.validateForInsert()
        }
    }

    /// Judges the objects that did not satisfy the model.
    ///
    /// - Parameter body: is told what one says that still does not; false ends it.
    func finish(_ context: NSManagedObjectContext, _ body: (NSManagedObject, any Error) -> Bool) throws {
        let ids = failed.sorted { $0.uri < $1.uri }
        for start in stride(from: 0, to: ids.count, by: MigrationRun.batch) {
            let objects = ids[start..<min(start + MigrationRun.batch, ids.count)].map { context.object(with: $0) }
            try context.fulfill(objects)
            for object in objects where !object.isDeleted {
                var errors: [any Error] = []
                Validation.readCounted(object)
                Validation.collect(&errors) { try validate(object) }
                for error in errors where !body(object, error) { return }
            }
        }
    }
}
