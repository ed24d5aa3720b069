// The errors of a save that met another writer or a uniqueness constraint.

import CoreDataValues
import Foundation

enum ConflictError {
    /// 133020 with the conflicts.
    static func error(_ conflicts: [NSMergeConflict]) -> CocoaError {
        .coreData(
            133020, distinct(conflicts.map(sentence)),
            [
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
                NSAffectedObjectsErrorKey: conflicts.map(\.sourceObject),
            ])
    }

    /// 133021 with the conflicts, and one 1551 for each object with values that are not unique.
    static func error(_ conflicts: [NSConstraintConflict]) -> CocoaError {
        let objects = conflicts.flatMap(\.conflictingObjects)
        return .coreData(
            133021, distinct(conflicts.map(sentence)),
            [
                NSPersistentStoreSaveConflictsErrorKey: conflicts, NSAffectedObjectsErrorKey: objects,
                NSDetailedErrorsKey: conflicts.flatMap(details),
            ])
    }

    private static func details(_ conflict: NSConstraintConflict) -> [CocoaError] {
        conflict.conflictingObjects.map { object in
            var info: [String: Any] = [
                NSValidationObjectErrorKey: object,
                NSValidationKeyErrorKey: conflict.constraint.joined(separator: ", "),
            ]
            info[NSValidationValueErrorKey] =
                conflict.constraint.count == 1
                ? conflict.constraintValues[conflict.constraint[0]] : conflict.constraintValues
            return .coreData(1551, sentence(conflict), info)
        }
    }

    private static func sentence(_ conflict: NSMergeConflict) -> String {
        let name = name(conflict.sourceObject)
        guard conflict.newVersionNumber != 0 else {
            return "\(name) was deleted by another writer since it was read; refresh or delete it."
        }
        return "\(name) was changed by another writer since it was read (version \(conflict.oldVersionNumber), "
            + "now \(conflict.newVersionNumber)); refresh it and save again."
    }

    private static func sentence(_ conflict: NSConstraintConflict) -> String {
        let entity = conflict.conflictingObjects.first?.entity.name ?? ""
        let names = conflict.constraint.joined(separator: ", ")
        let cure = "which must be unique; change them or delete one of the two."
        guard let row = conflict.databaseObject else {
            if conflict.conflictingObjects.count == 1 {
                return "\(entity) repeats the values of \(names) of another row, " + cure
            }
            return "\(conflict.conflictingObjects.count) objects of \(entity) have the same values of \(names), " + cure
        }
        return "\(entity) repeats the values of \(names) of \(name(row)), " + cure
    }

    private static func name(_ object: NSManagedObject) -> String {
        "\(object.entity.name ?? "") \(object._state.pointee.number)"
    }

    private static func distinct(_ sentences: [String]) -> String {
        var seen: Set<String> = []
        return sentences.filter { seen.insert($0).inserted }.joined(separator: " ")
    }
}

extension CocoaError {
    /// The conflicts that made a save fail, for 133020; for 133021 see `persistentStoreConstraintConflicts`.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }

    /// The broken constraints that made a save fail, for 133021.
    public var persistentStoreConstraintConflicts: [NSConstraintConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
    }
}
