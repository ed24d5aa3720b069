// New objects that a uniqueness constraint of the destination forbids.

import CoreDataValues
import Foundation

extension MigrationRun {
    /// 134111 in the place of a save's conflicts, with the objects that the new ones were made of; nil for another error.
    func equalObjects(_ error: any Error) -> StoreError? {
        guard let conflicts = (error as? CocoaError)?.persistentStoreConstraintConflicts, let first = conflicts.first
        else { return nil }
        let alike = conflicts.filter { $0.constraint == first.constraint }
        let objects = alike.flatMap { conflict in
            let values = conflict.constraint.map { Value.shown(conflict.constraintValues[$0]) }.joined(separator: ", ")
            return ([conflict.databaseObject].compactMap { $0 } + conflict.conflictingObjects).map {
                (uri: uri($0), values: values)
            }
        }
        let entity = (first.databaseObject ?? first.conflictingObjects.first)?.entity.name ?? ""
        let path = sourceContext.persistentStoreCoordinator?.persistentStores.first?.url?.path ?? ""
        return .equalObjects(objects, in: first.constraint, of: entity, path)
    }

    private func uri(_ object: NSManagedObject) -> String {
        (origin(of: object) ?? object).objectID.uri
    }
}

extension Value {
    /// As errors of stores show values.
    fileprivate static func shown(_ value: Any?) -> String {
        switch value {
        case let text as String: Value.text(text).shown
        case let value?: "\(value)"
        case nil: "nil"
        }
    }
}
