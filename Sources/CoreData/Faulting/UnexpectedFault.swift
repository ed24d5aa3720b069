// A read of the store where none was expected.

import CoreDataValues
import Foundation

/// The key of the unexpected faults, `[UnexpectedFault]`, in the userInfo of the error of `withoutFaulting`.
public let UnexpectedFaultsErrorKey: String = "OpenCoreDataUnexpectedFaults"

/// A fault that fired where none was expected: the object that was read, and what to prefetch instead.
///
/// Ours, beside Core Data's API.
public struct UnexpectedFault: Sendable, CustomStringConvertible {
    /// The entity of the object that was read.
    public let entityName: String
    public let objectID: NSManagedObjectID
    /// The to-many whose members were read; nil if it was the object's own row.
    public let relationshipName: String?
    /// The value for `relationshipKeyPathsForPrefetching` of a fetch of `prefetchEntityName`. nil if no relationship
    /// led to the object: fetch it with its property values, or give it to `fulfill(_:)`.
    public let prefetchKeyPath: String?
    /// The entity whose fetch can prefetch it.
    public let prefetchEntityName: String?

    public var description: String {
        let cure =
            prefetching(prefetchKeyPath, prefetchEntityName)
            ?? "fetch it with its property values, or load it with fulfill(_:)"
        return
            "\(faultName(entityName, relationshipName)) of \(objectID.uri) was read from the store: \(cure)."
    }
}

/// The name of a fault in sentences.
func faultName(_ entity: String, _ relationship: String?) -> String { relationship.map { "\(entity).\($0)" } ?? entity }

/// The advice for a fault that a fetch could have prefetched; nil for other faults.
func prefetching(_ keyPath: String?, _ entity: String?) -> String? {
    guard let keyPath, let entity else { return nil }
    return "prefetch \"\(keyPath)\" with \(entity)"
}

extension CocoaError {
    /// The faults that fired in a block of `withoutFaulting`; empty for other errors.
    public var unexpectedFaults: [UnexpectedFault] { userInfo[UnexpectedFaultsErrorKey] as? [UnexpectedFault] ?? [] }

    static func unexpected(_ faults: [UnexpectedFault]) -> CocoaError {
        let shown = faults.prefix(3).map(\.description).joined(separator: " ")
        let more = faults.count > 3 ? " And \(faults.count - 3) more, see \(UnexpectedFaultsErrorKey)." : ""
        let number = faults.count == 1 ? "A fault was" : "\(faults.count) faults were"
        return coreData(
            134060, "\(number) fired in a block without faulting. \(shown)\(more)",
            [UnexpectedFaultsErrorKey: faults, NSAffectedObjectsErrorKey: faults.map(\.objectID)])
    }
}
