// Validation errors about the members of objects whose rows another writer has changed since.

import CoreDataValues
import Foundation

extension SaveOperation {
    /// Removes errors about the number of members of objects whose row is not the one that the context last read.
    ///
    /// A registered object keeps the members that it read, a deallocated one reads the current ones: whether a rule
    /// denies its deletion would depend on what the program retains. Either way the row conflicts. A child leaves this
    /// to the save into the store. Reads the rows of these objects from the store, and only if there are such errors.
    ///
    /// - Throws: 133020 in a context that saves into stores.
    func withoutOvertaken(_ errors: [any Error]) throws -> [any Error] {
        guard context.refusesConflicts, let coordinator = context.persistentStoreCoordinator else { return errors }
        var overtaken: Set<ObjectIdentifier> = []
        let owners = Dictionary(grouping: errors.compactMap(owner), by: \.savedStore)
        for (number, owners) in owners.sorted(by: { $0.key < $1.key }) {
            guard let store = coordinator.numberedStore(number) else { continue }
            let rows = try StoredRows(owners.map(\.savedKey), in: store.rows)
            let conflicts = owners.compactMap { owner in
                conflict(owner, with: rows[owner.savedKey]).map { (owner, $0) }
            }
            if conflicts.isEmpty { continue }
            try context.link.refuse(conflicts.map(\.1), in: store, self)
            overtaken.formUnion(conflicts.map { ObjectIdentifier($0.0) })
        }
        if overtaken.isEmpty { return errors }
        return errors.filter { error in owner(error).map { !overtaken.contains(ObjectIdentifier($0)) } ?? true }
    }

    /// The saved object of a 1580, 1590 or 1600: too many members, too few, or some that deny its deletion.
    private func owner(_ error: any Error) -> NSManagedObject? {
        guard let error = error as? CocoaError, [1580, 1590, 1600].contains(error.code.rawValue),
            let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject,
            object.managedObjectContext === context, object._state.has(.persistent),
            !object._state.has([.inserted, .detached]),
            object.savedKey.number > 0
        else { return nil }
        return object
    }

    private func conflict(_ owner: NSManagedObject, with stored: StoredRow) -> Conflict? {
        let expected = context.link.comparedVersion(of: owner, context)
        guard let row = stored.row else { return Conflict(key: owner.savedKey, expected: expected, kind: .deleted) }
        return row.version == expected
            ? nil : Conflict(key: owner.savedKey, expected: expected, kind: .changed(version: row.version))
    }
}
