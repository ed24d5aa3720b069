// A line of contexts, each the child of the one before, and another writer beside it.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// The first context saves into a store, the last one is where a program edits.
struct Line {
    let first: NSManagedObjectContext
    let last: NSManagedObjectContext
    /// From the last one up to the child of the first.
    private let below: [NSManagedObjectContext]

    /// - Parameter generations: how many contexts there are, at least two.
    init(_ first: NSManagedObjectContext, generations: Int) {
        self.first = first
        var below: [NSManagedObjectContext] = []
        for _ in 1..<generations { below.insert((below.first ?? first).child(), at: 0) }
        self.below = below
        last = below.first ?? first
    }

    /// Saves all but the first, so that it has the changes.
    func push() throws {
        for context in below where context.hasChanges { try context.performAndWait { try context.save() } }
    }

    func save() throws {
        try push()
        try first.performAndWait { try first.save() }
    }

    /// Drops the changes that a save has refused, and what the contexts have read.
    func startAnew() {
        for context in [first] + below.reversed() {
            context.performAndWait {
                context.rollback()
                context.refreshAllObjects()
            }
        }
    }

    static let kinds = [NSSQLiteStoreType, NSInMemoryStoreType].flatMap { type in
        [2, 3].map { Kind(type: type, generations: $0) }
    }

    struct Kind: Sendable, CustomStringConvertible {
        let type: String
        let generations: Int
        var description: String { "\(type), \(generations) generations" }
    }
}

extension NSManagedObjectContext {
    /// The code of the Cocoa error that a save throws.
    func saveError() -> CocoaError? {
        do { try save() } catch { return error as? CocoaError }
        return nil
    }
}

extension NSManagedObject {
    var age: Int? {
        get { value(forKey: "age") as? Int }
        set { setValue(newValue, forKey: "age") }
    }
}
