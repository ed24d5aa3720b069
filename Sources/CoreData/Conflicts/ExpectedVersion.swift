// Row versions that a program sends to clients and expects again when they come back.

import CoreDataValues
import Foundation

public let UnmetExpectationsErrorKey: String = "OpenCoreDataUnmetExpectations"

extension NSManagedObject {
    /// The version of the row that this object was read from or saved to, nil without one. Ours, beside Core Data's
    /// API.
    ///
    /// It rises with each save that writes the row, also for members that come or go, and never repeats. Unsaved
    /// changes leave it alone. Reads the row of a fault. -1 for a row that a file has without a version.
    ///
    /// Another row under the same unique value begins with version 1 again, so a tag for clients has the row's number too:
    ///
    ///     let row = casualty.objectID.uriRepresentation().lastPathComponent
    ///     response.headers[.eTag] = "\"\(row)-\(casualty.rowVersion ?? 0)\""
    public final var rowVersion: Int? {
        guard _state.has(.persistent), !_state.has(.detached) else { return nil }
        if _state.isFault { fire() }
        return _state.pointee.row == nil ? nil : Int(comparedVersion)
    }
}

extension NSManagedObjectContext {
    /// Makes the next save fail unless the object's row then has this version in the store, whether the save changes,
    /// deletes or only touches the object, or does nothing with it. Ours, beside Core Data's API.
    ///
    /// The version is compared in the save's transaction, before anything is written. No merge policy is asked, and
    /// `write(_:)` does not run again: another attempt would meet the same row. A child passes this on. It ends
    /// with a successful save, `rollback()` or `reset()`. The last one for an object counts; new objects meet none.
    ///
    ///     try await container.write { context in
    ///         let casualty = try context.existingObject(with: id)
    ///         context.expect(version, of: casualty)
    ///         casualty.setValue("stable", forKey: "state")
    ///     }
    ///
    /// - Parameters:
    ///   - version: what `rowVersion` of the object was.
    ///   - object: one of this context.
    /// - Important: the save throws 133020 with `unmetExpectations`.
    public final func expect(_ version: Int, of object: NSManagedObject) {
        checkQueue()
        guard object.managedObjectContext === self else {
            misuse("expect(_:of:) was given an object of another context; use object(with: objectID) here.")
        }
        expectations.removeAll { $0.object === object }
        expectations.append(ExpectedVersion(object: object, version: version))
    }
}

/// A row whose version differed from the one given to `expect(_:of:)`. Ours.
public struct UnmetExpectation: Sendable, Hashable, CustomStringConvertible {
    public let objectID: NSManagedObjectID
    public let expected: Int
    /// The version that the row has; nil if there is none.
    public let found: Int?

    public var description: String {
        let name = "\(objectID.entity.name ?? "") \(objectID.uriRepresentation().lastPathComponent)"
        guard let found else { return "\(name) was expected in version \(expected) and is not there." }
        return "\(name) was expected in version \(expected) and has version \(found)."
    }
}

extension CocoaError {
    /// Why a save failed with 133020 without asking a merge policy; empty for other errors.
    public var unmetExpectations: [UnmetExpectation] {
        userInfo[UnmetExpectationsErrorKey] as? [UnmetExpectation] ?? []
    }

    static func unmet(_ expectations: [UnmetExpectation]) -> CocoaError {
        coreData(
            133020, expectations.map(\.description).joined(separator: " ") + " Read it again, and let the user decide.",
            [UnmetExpectationsErrorKey: expectations, NSAffectedObjectsErrorKey: expectations.map(\.objectID)])
    }
}

/// One expectation of a context, which retains the object until the expectation is met or dropped.
struct ExpectedVersion {
    let object: NSManagedObject
    let version: Int

    func unmet(_ found: Int?) -> UnmetExpectation {
        UnmetExpectation(objectID: object.objectID, expected: version, found: found)
    }
}

extension SaveOperation {
    /// Adds the comparisons with the expected versions to the batches.
    @inline(never)
    func addExpectations(_ builders: inout BatchBuilders) throws {
        let hopeless = context.expectations.filter {
            !$0.object._state.has(.persistent) || Int32(exactly: $0.version) == nil
        }
        if !hopeless.isEmpty { throw CocoaError.unmet(hopeless.map { $0.unmet($0.object.rowVersion) }) }
        for expectation in context.expectations {
            try builders.builder(for: expectation.object).check(
                expectation.object, version: Int32(truncatingIfNeeded: expectation.version))
        }
    }

    /// - Throws: 133020 if a store refused a row that was expected in another version.
    @inline(never)
    func checkExpectations(_ conflicts: [Conflict], _ store: UInt16) throws {
        let schema = context.runtime.schema
        let unmet: [UnmetExpectation] = context.expectations.compactMap { expectation in
            let key = expectation.object._state.key
            guard key.store == store else { return nil }
            for conflict in conflicts
            where conflict.key.number == key.number && schema[conflict.key.entity].root == schema[key.entity].root
                && Int(conflict.expected) == expectation.version
            {
                switch conflict.kind {
                case .changed(let version):
                    if Int(version) != expectation.version { return expectation.unmet(Int(version)) }
                case .deleted: return expectation.unmet(nil)
                case .constraint: continue
                }
            }
            return nil
        }
        if unmet.isEmpty { return }
        // The row cache may still have the rows in the versions that were expected.
        context.requiredCoordinator.rowCache.removeAll(store: store)
        throw CocoaError.unmet(unmet)
    }
}
