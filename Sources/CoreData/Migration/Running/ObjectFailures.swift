// The objects that a mapped migration fails for.

import CoreDataValues
import Foundation

extension MigrationRun {
    /// What a policy threw for an object, with the source object, which it need not name.
    struct ObjectFailure: Error {
        let cause: any Error
        let object: URL

        /// In words that name the object.
        var told: CocoaError {
            let why = (cause as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(cause)"
            return CocoaError.coreData(
                134110, "The object \(object.absoluteString) cannot be migrated. \(why)",
                [NSUnderlyingErrorKey: cause, NSAffectedObjectsErrorKey: [object as NSURL]])
        }
    }
}

/// Names objects that fail; where a run goes on after them, it keeps what they say.
final class ObjectFailures {
    private var errors: [any Error] = []
    private var count = 0
    /// Whether they were thrown.
    private var isTold = false
    var isEmpty: Bool { count == 0 }

    /// - Parameter source: the object that it failed for.
    /// - Throws: the error with the name of the object, unless the manager collects them.
    func note(_ error: any Error, _ source: NSManagedObject, _ manager: NSMigrationManager) throws {
        let named = Self.named(error, source)
        guard manager.collectsFailures else { throw named }
        add(named)
    }

    func add(_ error: any Error) {
        count += 1
        if errors.count < FailedObject.limit {
            errors.append((error as? MigrationRun.ObjectFailure)?.told ?? error)
        }
    }

    /// - Throws: all that was kept, and how many more there are.
    func finish() throws {
        if isEmpty { return }
        isTold = true
        let rest = count - errors.count
        let more = CocoaError.coreData(134110, "\(rest) other objects cannot be migrated either.")
        try Validation.throwing(rest > 0 ? errors + [more] : errors)
    }

    /// What ends a run, with what was kept before.
    func joining(_ error: any Error) -> any Error {
        if isEmpty || isTold { return error }
        add(CocoaError.presenting(error))
        do { try finish() } catch { return error }
        return error
    }

    /// The same error with the source object in it; for one of a program's own, which cannot have it, one around it.
    static func named(_ error: any Error, _ source: NSManagedObject) -> any Error {
        let uri = source.objectID.uriRepresentation()
        guard let known = CocoaError.presenting(error) as? CocoaError, known.isOfStore else {
            return MigrationRun.ObjectFailure(cause: error, object: uri)
        }
        if known.affectedObjects != nil { return known }
        var info = known.userInfo
        info[NSAffectedObjectsErrorKey] = [source.objectID]
        if info[NSEntityNameErrorKey] == nil {
            info[NSEntityNameErrorKey] = (known.validationObject as? NSManagedObject)?.entity.name
        }
        let text = info[NSLocalizedDescriptionKey] as? String ?? ""
        info.merge(CocoaError.saying("\(text) It comes of \(uri.absoluteString).")) { $1 }
        return CocoaError(known.code, userInfo: info)
    }
}

extension CocoaError {
    /// Whether it is one of validation or of stores, as this library throws them.
    fileprivate var isOfStore: Bool {
        userInfo[NSLocalizedDescriptionKey] is String
            && ((1550..<1700).contains(code.rawValue) || (134000..<135000).contains(code.rawValue))
    }
}
