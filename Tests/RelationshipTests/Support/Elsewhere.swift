// What another writer does to the rows of a stack while a context has changes or undo actions.

import CoreDataTestSupport
import Foundation

@testable import CoreData

extension Stack {
    /// Changes rows through another context and answers what its save says.
    func elsewhere(_ change: (NSManagedObjectContext) throws -> Void) throws -> Notification? {
        let other = another()
        other.stalenessInterval = 0
        try change(other)
        nonisolated(unsafe) var told: Notification?
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) {
            told = $0
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.save()
        return told
    }

    /// The same, merged into the stack's own context.
    func merge(_ change: (NSManagedObjectContext) throws -> Void) throws {
        try withExtendedLifetime(elsewhere(change)) {
            if let told = $0 { context.mergeChanges(fromContextDidSave: told) }
        }
    }
}
