// Merging what a context of another coordinator over the same files has saved.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Merging across coordinators") struct MergeAcrossCoordinatorsTests {
    @Test("A did-save notification of another coordinator finds its objects, in whatever order the stores were added")
    func otherOrder() throws {
        let model = Clinic.model()
        let first = Rig(model)
        let a = try first.add(NSSQLiteStoreType, "a")
        let b = try first.add(NSSQLiteStoreType, "b")
        let writer = first.context()
        let doctors = [a, b].map { store in
            let doctor = writer.make("Doctor", ["name": "old"])
            writer.assign(doctor, to: store)
            return doctor
        }
        try writer.save()

        let second = Rig(model, in: first.folder)
        try second.add(NSSQLiteStoreType, "b")
        try second.add(NSSQLiteStoreType, "a")
        let reader = second.context()
        let here = try doctors.map { doctor in
            let uri = doctor.objectID.uriRepresentation()
            return try reader.existingObject(
                with: #require(second.coordinator.managedObjectID(forURIRepresentation: uri)))
        }
        #expect(here.map { $0.value(forKey: "name") as? String } == ["old", "old"])

        let saves = Saves(of: writer)
        doctors[1].setValue("new", forKey: "name")
        try writer.save()
        reader.mergeChanges(fromContextDidSave: try #require(saves.last))
        #expect(here.map { $0.value(forKey: "name") as? String } == ["old", "new"])

        let foreign = doctors[1].objectID
        #expect(reader.registeredObject(for: foreign) == nil)
        let error = #expect(throws: CocoaError.self) { try reader.existingObject(with: foreign) }
        #expect(error?.code.rawValue == 133000 && error?.localizedDescription.contains("another coordinator") == true)

        writer.delete(doctors[0])
        try writer.save()
        reader.mergeChanges(fromContextDidSave: try #require(saves.last))
        #expect(here[0].managedObjectContext == nil && here[1].managedObjectContext === reader)
    }
}

/// Keeps a context's last did-save notification. The observer holds the box.
private final class Saves: @unchecked Sendable {
    private(set) var last: Notification?
    private var token: (any NSObjectProtocol)?

    init(of context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [unowned self] in last = $0 }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
