// What the library's errors say when they are printed.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct ErrorTextTests {
    /// The error is of a code, and its sentence stands first in its text and alone in `localizedDescription`.
    private func check(_ code: Int, _ sentence: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was thrown")
        } catch {
            #expect((error as NSError).code == code)
            #expect(
                "\(error)".hasPrefix("Error Domain=NSCocoaErrorDomain Code=\(code) \"\(error.localizedDescription)\""))
            #expect(!"\(error)".contains("(null)") && error.localizedDescription.contains(sentence), "\(error)")
        }
    }

    @Test("Errors of validation say what is wrong, one and several")
    func validation() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let context = stack.context
        context.performAndWait {
            _ = context.make("Patient")
            check(1570, "Patient.name must have a value") { try context.save() }
            _ = context.make("Patient")
            check(1560, "2 values cannot be saved: Patient.name must have a value") { try context.save() }
            context.rollback()
            let doctor = context.make("Doctor")
            context.make("Badge").setValue(doctor, forKey: "doctor")
            try? context.save()
            context.delete(doctor)
            check(1600, "its delete rule is deny") { try context.save() }
        }
    }

    @Test("Errors of conflicts say which rows, with conflicts that can be read")
    func conflicts() throws {
        let stack = try Stack()
        let (first, second) = (stack.context, stack.another())
        try first.performAndWait {
            _ = first.make("Patient", ["name": "Ada"])
            try first.save()
        }
        try second.performAndWait { try second.all("Patient").first?.setValue("Bea", forKey: "name") }
        try first.performAndWait {
            try first.all("Patient").first?.setValue("Cleo", forKey: "name")
            try first.save()
        }
        second.performAndWait {
            check(133020, "was changed by another writer") { try second.save() }
            do { try second.save() } catch {
                #expect("\(error)".contains("<NSMergeConflict for x-coredata://"))
            }
        }
    }

    @Test("Errors of fetches, IDs and stores say what is missing")
    func others() throws {
        let stack = try Stack(NSInMemoryStoreType)
        let context = stack.context
        try context.performAndWait {
            check(134060, "The model has no entity Ghost") {
                _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Ghost"))
            }
            let visit = context.make("Visit")
            try context.save()
            let id = visit.objectID
            context.delete(visit)
            try context.save()
            check(133000, "is in the store") { _ = try context.existingObject(with: id) }
        }
        let folder = Folder()
        try Data("no database, but long enough to be looked at by SQLite".utf8).write(to: folder.file("broken.sqlite"))
        do {
            _ = try stack.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("broken.sqlite"), options: nil)
            Issue.record("nothing was thrown")
        } catch { #expect(!"\(error)".contains("(null)"), "\(error)") }
        do {
            _ = try NSManagedObjectModel(loading: folder.file("nothing.xcdatamodeld"))
            Issue.record("nothing was thrown")
        } catch { #expect(!"\(error)".contains("(null)"), "\(error)") }
    }
}
