// The errors of a save that met another writer or a uniqueness constraint.

import CoreDataValues
import Foundation

enum ConflictError {
    /// 133021 when a uniqueness constraint is broken, else 133020; the objects are in the user info.
    static func error(_ conflicts: [Conflict], in context: NSManagedObjectContext, store: NumberedStore) -> CocoaError {
        let sentences = conflicts.map { sentence($0, context.runtime) }
        let isConstraint = conflicts.contains { if case .constraint = $0.kind { true } else { false } }
        return .coreData(
            isConstraint ? 133021 : 133020, sentences.joined(separator: " "),
            [NSAffectedObjectsErrorKey: conflicts.compactMap { object($0, context, store) }])
    }

    private static func object(
        _ conflict: Conflict, _ context: NSManagedObjectContext, _ store: NumberedStore
    ) -> NSManagedObject? {
        context.tracker.dirty.first { object in
            let state = object._state.pointee
            return object.savedKey.number == conflict.key.number
                && context.runtime.schema[EntityIndex(rawValue: state.entity)].root
                    == context.runtime.schema[conflict.key.entity].root
        }
    }

    private static func sentence(_ conflict: Conflict, _ runtime: ModelRuntime) -> String {
        let name = "\(runtime.schema[conflict.key.entity].name) \(conflict.key.number)"
        switch conflict.kind {
        case .changed(let version):
            return "\(name) was changed by another writer since it was read (version \(conflict.expected), now \(version)); "
                + "refresh it and save again."
        case .deleted: return "\(name) was deleted by another writer since it was read; refresh or delete it."
        case .constraint(let attributes):
            return "\(name) repeats the values of \(attributes.joined(separator: ", ")) of another row, which must be unique; "
                + "change them or delete one of the two."
        }
    }
}
