// Making the errors of contexts and coordinators.

import CoreDataValues
import Foundation

extension CocoaError {
    static func coreData(_ code: Int, _ sentence: String, _ info: [String: Any] = [:]) -> CocoaError {
        CocoaError(CocoaError.Code(rawValue: code), userInfo: info.merging(saying(sentence)) { $1 })
    }

    /// A sentence as an error carries it: where `localizedDescription` looks for it, and where Foundation on Linux does that prints
    /// the error.
    static func saying(_ sentence: String) -> [String: Any] {
        [NSLocalizedDescriptionKey: sentence, NSLocalizedFailureReasonErrorKey: sentence]
    }

    /// What this version does not do, by name.
    static func unsupported(_ what: String) -> CocoaError {
        coreData(134060, "unsupported: \(what). See Documentation/Parity.md.")
    }

    /// There is no row for an ID.
    static func missingObject(_ id: NSManagedObjectID) -> CocoaError {
        coreData(
            133000,
            "No object \(id.uri) is in the store; it was deleted or never saved.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    static func foreignID(_ id: NSManagedObjectID) -> CocoaError {
        coreData(
            133000,
            "\(id.uri) comes from another coordinator; use managedObjectID(forURIRepresentation:).",
            [NSAffectedObjectsErrorKey: [id]])
    }

    /// The rows of a store are there but out of reach.
    static func removedStore(_ uuid: String?, of object: NSManagedObject? = nil) -> CocoaError {
        let what = object.map { " of \($0.entity.name ?? "")" } ?? ""
        return coreData(
            134070,
            "The store \(uuid ?? "")\(what) was removed from the coordinator. Add it again to read and save its objects.",
            object.map { [NSAffectedObjectsErrorKey: [$0]] } ?? [:])
    }

    /// What a read inside a getter could not throw: 134060, with the cause, the object's ID and the key; 134100 where the store was migrated
    /// meanwhile.
    static func unread(_ id: NSManagedObjectID, key: String?, cause: any Error) -> CocoaError {
        let cause = presenting(cause)
        let what = key.map { "\(id.entity.name ?? "").\($0)" } ?? id.entity.name ?? "An object"
        var info: [String: Any] = [NSUnderlyingErrorKey: cause, NSAffectedObjectsErrorKey: [id]]
        info[NSValidationKeyErrorKey] = key
        return coreData(
            cocoaCode(of: cause) == 134100 ? 134100 : 134060,
            "\(what) of \(id.uri) could not be read and answered as empty: "
                + "\((cause as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(cause)") "
                + "Nothing was written since; remove the cause and save again, or roll back.",
            info)
    }

    /// The same for an object whose row was to be read for the sake of a slot.
    static func unread(_ object: NSManagedObject, reading slot: Int?, cause: any Error) -> CocoaError {
        unread(object.objectID, key: slot.map { object._state.info.entity.slots[$0].name }, cause: cause)
    }

    static func reading(_ error: any Error) -> any Error { presenting(error) }
    static func saving(_ error: any Error) -> any Error { presenting(error) }
}
