// Making the errors of contexts and coordinators.

import CoreDataValues
import Foundation

extension CocoaError {
    static func coreData(_ code: Int, _ sentence: String, _ info: [String: Any] = [:]) -> CocoaError {
        var info = info
        info[NSLocalizedDescriptionKey] = sentence
        return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
    }

    /// What this version does not do, by name.
    static func unsupported(_ what: String) -> CocoaError {
        coreData(134060, "unsupported: \(what). See Documentation/Parity.md.")
    }

    /// There is no row for an ID.
    static func missingObject(_ id: NSManagedObjectID) -> CocoaError {
        coreData(
            133000, "No object \(id.uriRepresentation().absoluteString) is in the store; it was deleted or never saved.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    static func reading(_ error: any Error) -> any Error { presenting(error) }
    static func saving(_ error: any Error) -> any Error { presenting(error) }
}
