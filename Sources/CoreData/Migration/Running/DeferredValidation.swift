// Validation that waits until everything is there.

import CoreDataValues
import Foundation

/// Takes the place of validation in the saves of a migration, whose objects are written before their relationships are filled: remembers
/// which objects do not satisfy the model yet. `finish` judges these once more.
final class DeferredValidation {
    private var failed: Set<NSManagedObjectID> = []
    private var failing: [NSManagedObject] = []

    /// In the place of validation, before the save writes.
    func note(
        _ inserted: ContiguousArray<NSManagedObject>, _ updated: ContiguousArray<NSManagedObject>,
        _ deleted: ContiguousArray<NSManagedObject>
    ) {
        failing = []
        inserted.borrowEach { object in
            do { try object.validateForInsert() } catch { failing.append(object) }
        }
        updated.borrowEach { object in
            do {
                try object.validateForUpdate()
                if !failed.isEmpty { failed.remove(object.objectID) }
            } catch { failing.append(object) }
        }
        if !failed.isEmpty { deleted.borrowEach { failed.remove($0.objectID) } }
    }

    /// Once the save is through.
    func keepFailures() {
        for object in failing { failed.insert(object.objectID) }
        failing = []
    }

    /// Judges the objects that did not satisfy the model.
    ///
    /// - Parameter body: is told what one says that still does not; false ends it.
    func finish(_ context: NSManagedObjectContext, _ body: (NSManagedObject, any Error) -> Bool) throws {
        let ids = failed.sorted { $0.uriRepresentation().absoluteString < $1.uriRepresentation().absoluteString }
        for start in stride(from: 0, to: ids.count, by: MigrationRun.batch) {
            let objects = ids[start..<min(start + MigrationRun.batch, ids.count)].map { context.object(with: $0) }
            try context.fulfill(objects)
            for object in objects where !object.isDeleted {
                var errors: [any Error] = []
                Validation.readCounted(object)
                Validation.collect(&errors) { try object.validateForUpdate() }
                for error in errors where !body(object, error) { return }
            }
        }
    }
}
