// The check that no relationship leads from one store into another.

import CoreDataValues
import Foundation

/// Checks the changed relationships of a save over several stores.
enum CrossStoreCheck {
    /// Throws if a relationship would cross stores. Every new object must have its store by then.
    ///
    /// - Throws: 133010 for the first relationship whose ends are in different stores; 134030 for a change in a
    ///   read-only store.
    static func check(_ changed: [ContiguousArray<NSManagedObject>], _ coordinator: NSPersistentStoreCoordinator) throws
    {
        for objects in changed {
            try objects.borrowEach { object in
                if let crossing = crossing(object) { throw error(object, crossing.key, crossing.target) }
                if let store = coordinator.numberedStore(object.savedStore)?.store, store.isReadOnly {
                    throw CocoaError.coreData(
                        134030,
                        "\(object.entity.name ?? "") of the store \(store.url?.path ?? store.identifier ?? "") was changed, "
                            + "which is read-only. Nothing was saved.",
                        [NSAffectedObjectsErrorKey: [object], NSAffectedStoresErrorKey: [store]])
                }
            }
        }
    }

    /// A relationship whose target is in another store. A target that will be in no store is left to
    /// `RelationshipCheck`.
    private static func crossing(_ object: NSManagedObject) -> (key: String, target: NSManagedObject)? {
        let state = object._state
        guard !state.has(.deleted) else { return nil }
        let own = object.savedStore
        var found: (String, NSManagedObject)?
        state.forEachPresentToOne { slot, overlay in
            if found == nil, let target = overlay.object(slot), target.savedStore != 0, target.savedStore != own {
                found = (object.relationship(at: slot).name, target)
            }
        }
        object.forEachToMany { index, members in
            if found == nil,
                let target = members.added.objects.first(where: { $0.savedStore != 0 && $0.savedStore != own })
            {
                found = (object.relationship(toMany: index).name, target)
            }
        }
        return found
    }

    private static func error(_ object: NSManagedObject, _ key: String, _ target: NSManagedObject) -> CocoaError {
        CocoaError.coreData(
            133010,
            "\(object.entity.name ?? "").\(key) leads into another store, which no store can keep. Use assign(_:to:) to put both "
                + "objects into one store, or a fetched property.",
            [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key, NSValidationValueErrorKey: target,
                NSAffectedObjectsErrorKey: [object, target],
            ])
    }
}
