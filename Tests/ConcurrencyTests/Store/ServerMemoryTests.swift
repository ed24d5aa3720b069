import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("A SQLite store at /dev/null", .timeLimit(.minutes(30)))
struct ServerMemoryTests {
    private let place = URL(fileURLWithPath: "/dev/null")

    private func coordinator() throws -> NSPersistentStoreCoordinator {
        try NSPersistentStoreCoordinator(Clinic.model(), at: place)
    }

    private func isDevice() throws -> Bool {
        try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
            == .typeCharacterSpecial
    }

    private func filesBeside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/dev").filter { $0.contains("null") }.sorted()
    }

    @Test("It serves several contexts, keeps relationships, and leaves no file")
    func contexts() throws {
        let before = try filesBeside()
        let coordinator = try coordinator()
        try coordinator.inContext { context in
            let doctor = context.make("Doctor", ["name": "Ada"])
            for name in ["x", "y"] {
                context.make("Patient", ["name": name]).setValue(Set([doctor]), forKey: "doctors")
            }
            try context.save()
        }
        try coordinator.inContext { context in
            let request = NSFetchRequest<NSManagedObject>("Patient", "ANY doctors.name == 'Ada'")
            #expect(try context.count(for: request) == 2)
            let doctor = try #require(try context.all("Doctor").first)
            #expect((doctor.value(forKey: "patients") as? NSSet)?.count == 2)
        }
        #expect(try filesBeside() == before)
        #expect(try isDevice())
    }

    @Test("Two of them are two stores, and each is empty when it is opened anew")
    func separate() throws {
        let (first, second) = (try coordinator(), try coordinator())
        try first.inContext { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        #expect(try first.count("Doctor") == 1)
        #expect(try second.count("Doctor") == 0)
        try first.close()
        #expect(try coordinator().count("Doctor") == 0)
        #expect(code { _ = try first.count("Doctor") } == 134070)
    }

    @Test("A description with that URL opens it; destroying it leaves the device alone")
    func description() async throws {
        let container = NSPersistentContainer(name: "Clinic", managedObjectModel: Clinic.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: place)]
        try await container.loadPersistentStores()
        let coordinator = container.persistentStoreCoordinator
        try coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        #expect(try coordinator.count("Doctor") == 1)
        try coordinator.destroyPersistentStore(at: place, ofType: NSSQLiteStoreType)
        try container.close()
        #expect(try isDevice())
    }

    @Test("Eight threads read and write it at once and nothing is lost")
    func threads() throws {
        let coordinator = try coordinator()
        let workers = (0..<8).map { number in
            Worker {
                for index in 0..<25 {
                    try coordinator.inContext { context in
                        _ = context.make("Doctor", ["name": "\(number) \(index)"])
                        try context.save()
                        let count = try context.all("Doctor").count
                        #expect(count > index)
                    }
                }
            }
        }
        for worker in workers { try worker.join() }
        #expect(try coordinator.count("Doctor") == 200)
    }

    @Test("Sets of rows are changed inside a read and after it")
    func sets() throws {
        let coordinator = try coordinator()
        try coordinator.inContext { context in
            for number in 0..<3000 { _ = context.make("Patient", ["name": "\(number)"]) }
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        let store = coordinator.persistentStores[0]
        let (doctor, patient) = (
            try #require(store.rows.schema.entity(named: "Doctor")),
            try #require(store.rows.schema.entity(named: "Patient"))
        )
        func rename(_ name: String) throws -> Int {
            try store.rows.apply(
                SetChange(.update(FetchPlan(entity: doctor.index), [.init("name", .constant(.text(name)))]))
            ).count
        }
        var renamed = 0
        try store.rows.fetch(FetchPlan(entity: patient.index), .latest) { _ in
            renamed += try rename("Bo")
            return .more
        }
        #expect(renamed > 1)
        #expect(try rename("Cy") == 1)
        #expect(try store.rows.apply(SetChange(.delete(FetchPlan(entity: doctor.index)))).count == 1)
        #expect(try store.rows.apply(SetChange(.delete(FetchPlan(entity: patient.index)))).count == 3000)
    }

    @Test("A read and a save inside a read answer as with a file")
    func nested() throws {
        let coordinator = try coordinator()
        try coordinator.inContext { context in
            for index in 0..<600 { _ = context.make("Doctor", ["name": "\(index)"]) }
            try context.save()
        }
        let rows = coordinator.persistentStores[0].rows
        let plan = FetchPlan(entity: try #require(rows.schema.entity(named: "Doctor")).index)
        var (seen, inner, batches) = (0, 0, 0)
        try rows.fetch(plan, .latest) { batch in
            seen += batch.keys(inStore: 0).count
            batches += 1
            try rows.fetch(plan, .latest) {
                inner += $0.keys(inStore: 0).count
                return .more
            }
            if batches == 1 {
                try coordinator.inContext { context in
                    _ = context.make("Badge", ["code": "new"])
                    try context.save()
                }
            }
            return .more
        }
        #expect(batches > 1 && seen == 600 && inner == 600 * batches)
        #expect(try coordinator.count("Badge") == 1)
    }

    @Test("Its backup is a store with a file")
    func backup() throws {
        let (coordinator, folder) = (try coordinator(), Folder())
        try coordinator.inContext { context in
            _ = context.make("Doctor", ["name": "Ada"])
            try context.save()
        }
        try coordinator.backup(to: folder.file("copy.sqlite"))
        let copy = try NSPersistentStoreCoordinator(Clinic.model(), at: folder.file("copy.sqlite"))
        #expect(try copy.count("Doctor") == 1)
    }
}
