// A store with patients, and the statements that reading them costs.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Patients named "0", "1" …, aged likewise, each with a bed, spread over the wards.
final class Hospital {
    let stack: Stack
    /// A context that has read nothing yet.
    let context: NSManagedObjectContext
    let ids: [NSManagedObjectID]

    init(_ count: Int, wards: Int = 1, type: String = NSSQLiteStoreType) throws {
        stack = try Stack(type, undo: false)
        let writer = stack.context
        let places = (0..<wards).map { writer.make("Ward", ["name": "ward \($0)"]) }
        let patients = (0..<count).map { index in
            let patient = writer.make("Patient", ["name": "\(index)", "age": index % 100, "tag": UUID()])
            patient.setValue(places[index % wards], forKey: "ward")
            patient.setValue(writer.make("Bed", ["number": index]), forKey: "bed")
            return patient
        }
        try writer.save()
        ids = patients.map(\.objectID)
        context = stack.another()
        // What the writer saved is in the row cache; these tests are about reading the store.
        context.stalenessInterval = 0
    }

    /// How many statements a block runs.
    func statements(_ body: () throws -> Void) rethrows -> Int { try stack.statements(of: body) }

    func costs(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) rethrows {
        let ran = try statements(body)
        #expect(ran == count, "statements", sourceLocation: sourceLocation)
    }

    /// The patients in the order they were made.
    func fetch(values: Bool, in other: NSManagedObjectContext? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.includesPropertyValues = values
        let found = try (other ?? context).fetch(request)
        let places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        return found.sorted { (places[$0.objectID] ?? 0) < (places[$1.objectID] ?? 0) }
    }

    /// Writes to the file behind the library's back.
    func write(_ sql: String) throws { try SQLiteFile(stack.folder.file("store.sqlite")).run(sql) }

    /// Makes the row of a patient unreadable: its tag is no UUID. The answer makes it readable again.
    func spoil(_ index: Int) throws -> () throws -> Void {
        try write("UPDATE ZPATIENT SET ZTAG = x'0102' WHERE ZNAME = '\(index)'")
        return { try self.write("UPDATE ZPATIENT SET ZTAG = NULL WHERE ZNAME = '\(index)'") }
    }
}
