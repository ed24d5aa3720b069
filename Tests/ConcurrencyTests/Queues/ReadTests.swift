// `read`: a context for each block, in which nothing is changed.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Blocks that read")
struct ReadTests {
    private struct Refusal: Error, Equatable {}

    @Test(
        "read answers what its block does; a block that leaves changes behind throws, and nothing is saved",
        .timeLimit(.minutes(30)))
    func read() async throws {
        let hospital = try await WardHospital(2)
        let ward = hospital.wards[0]
        #expect(
            try await hospital.container.read { try $0.existingObject(with: ward).value(forKey: "name") as? String }
                == "0")
        let error = await #expect(throws: CocoaError.self) {
            try await hospital.container.read { context in
                _ = context.make("Doctor")
                try WardHospital.add(1, to: ward, in: context)
            }
        }
        #expect(error?.code == .coreData)
        #expect(error?.affectedObjects?.count == 2)
        #expect(error?.userInfo[NSLocalizedDescriptionKey].map { "\($0)".contains("write(_:)") } == true)
        await #expect(throws: Refusal()) { try await hospital.container.read { _ in throw Refusal() } }
        try await hospital.container.read { context in
            _ = context.make("Doctor")
            context.rollback()
        }
        #expect(try await hospital.beds() == [0, 0])
        try await (hospital.container as? CountedContainer)?.lastIsGone()
    }

    @Test("A row that is deleted while a block reads is no change of that block")
    func deletedMeanwhile() async throws {
        let hospital = try await WardHospital()
        let ward = hospital.wards[0]
        let name = try await hospital.container.read { context in
            let fault = context.object(with: ward)
            let rival = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            rival.persistentStoreCoordinator = context.persistentStoreCoordinator
            try rival.performAndWait {
                rival.delete(try rival.existingObject(with: ward))
                try rival.save()
            }
            return fault.value(forKey: "name") as? String
        }
        #expect(name == nil)
    }

    private actor Service {
        private let container: NSPersistentContainer
        init(_ container: NSPersistentContainer) { self.container = container }
        func admit(_ name: String) async throws -> String {
            try await container.write { context in
                _ = context.make("Patient", ["name": name])
                return name
            }
        }
    }

    @Test(
        "Both are called from actors, from the main actor and from nowhere; a block that throws nothing is one as well")
    @MainActor
    func isolation() async throws {
        let hospital = try await WardHospital()
        #expect(try await Service(hospital.container).admit("Eve") == "Eve")
        try await hospital.container.write { context in _ = context.make("Patient", ["name": "Abel"]) }
        let names = try await Task.detached {
            try await hospital.container.read {
                try $0.all("Patient").compactMap { $0.value(forKey: "name") as? String }.sorted()
            }
        }.value
        #expect(names == ["Abel", "Eve"])
        #expect(try await hospital.container.read { context in context.hasChanges } == false)
    }
}
