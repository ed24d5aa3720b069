// The look at a context's invariants finds what is planted.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Invariants of a context") struct InvariantTests {
    /// A saved patient with a bed, a ward and two visits, of whom one is new, and a changed name.
    struct Scene {
        let stack: Stack
        let patient, bed, ward, visit: NSManagedObject

        var context: NSManagedObjectContext { stack.context }

        init() throws {
            stack = try Stack(undo: true)
            bed = stack.context.make("Bed")
            ward = stack.context.make("Ward")
            patient = stack.context.make("Patient", ["name": "Ada", "bed": bed, "ward": ward])
            visit = stack.context.make("Visit", ["patient": patient])
            try stack.context.save()
            patient.setValue("Bo", forKey: "name")
            stack.context.make("Visit").setValue(patient, forKey: "patient")
            stack.context.processPendingChanges()
        }

        func members(_ key: String, of object: NSManagedObject) throws -> ToMany {
            guard case .toMany(let index)? = object.place(of: key) else { throw CocoaError(.coreData) }
            return object.makeToManyState(index)
        }

        func slot(_ key: String, of object: NSManagedObject) throws -> Int {
            guard case .slot(let slot)? = object.place(of: key) else { throw CocoaError(.coreData) }
            return slot
        }
    }

    struct Breach: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sentence: String
        let plant: @Sendable (Scene) throws -> Void

        init(_ name: String, _ sentence: String, _ plant: @escaping @Sendable (Scene) throws -> Void) {
            (testDescription, self.sentence, self.plant) = (name, sentence, plant)
        }
    }

    static let breaches: [Breach] = [
        Breach("a changed object that lost its mark", "are counted as changed") { $0.patient._state.clear(.updated) },
        Breach("a changed object beside the list", "not in the list of changed objects") {
            $0.ward._state.set(.updated)
        },
        Breach("an object listed twice", "stands twice in the list") {
            $0.patient._state.clear(.inDirtyList)
            $0.context.tracker.mark($0.patient, .updated)
        },
        Breach("an event that does not know its object", "not in its list") { $0.ward._state.set(.eventUpdated) },
        Breach("an object under another number", "not found under its key") { $0.bed._state.pointee.number += 1000 },
        Breach("an object that left and stayed registered", "has left the context and is registered") {
            $0.ward._state.set(.detached)
        },
        Breach("a row without its chunk", "a row and no chunk") {
            guard let chunk = $0.bed._state.pointee.chunk else { return }
            Unmanaged<RowChunk>.fromOpaque(chunk).release()
            $0.bed._state.pointee.chunk = nil
        },
        Breach("changed values that getters do not see", "hidden from its getters") {
            $0.patient._state.pointee.slow &= ~SlowReason.overlay
        },
        Breach("a one-to-one of which one side moved", "leads elsewhere") {
            let other = $0.context.make("Patient", ["name": "Cy"])
            $0.context.processPendingChanges()
            $0.bed._state.makeOverlay().set(try $0.slot("patient", of: $0.bed), other as AnyObject)
            $0.patient._state.makeOverlay().set(try $0.slot("bed", of: $0.patient), $0.bed as AnyObject)
        },
        Breach("a target that has lost the member", "has lost it as a member") {
            let patient = $0.context.make("Patient", ["name": "Cy", "ward": $0.ward])
            $0.context.processPendingChanges()
            let members = try $0.members("patients", of: $0.ward)
            members.unlink(patient, isOrdered: false)
            members.unlink(patient, isOrdered: false)
        },
        Breach("an unchanged object that holds changes", "it is unchanged and patients holds changes") {
            try $0.members("patients", of: $0.ward).link($0.context.make("Patient", ["name": "Cy"]))
        },
        Breach("an order without a new member", "missing in the order of visits") {
            try $0.members("visits", of: $0.patient).setOrder([$0.visit])
        },
        Breach("writes that stay an undo's", "writes are still those of undo") {
            $0.context.tracker.origin = WriteOrigin().inner(.undo)
        },
        Breach("an undo that does not end", "an undo has not ended") { $0.context.tracker.replayed = [] },
    ]

    @Test("Nothing is found in a context that nobody has tampered with")
    func sound() throws {
        let scene = try Scene()
        #expect(scene.context.checkInvariants() == [])
        try scene.context.save()
        #expect(scene.context.checkInvariants() == [])
        scene.context.undo()
        #expect(scene.context.checkInvariants() == [])
    }

    @Test("Each planted breach is found, in words", arguments: breaches)
    func planted(_ breach: Breach) async throws {
        let scene = try Scene()
        try breach.plant(scene)
        let found = scene.context.checkInvariants()
        #expect(found.contains { $0.contains(breach.sentence) }, "\(found)")
        // What is broken cannot be let go in peace.
        _ = Unmanaged.passRetained(scene.stack)
    }
}
