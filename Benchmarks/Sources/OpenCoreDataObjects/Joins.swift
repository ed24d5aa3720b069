// A condition over two joins: visits by the floor of their ward and the city of its hospital. Its entities have a file of their own.

import CoreData
import Yardstick

struct Joins: Sendable {
    /// Made once a process: a model is frozen by its first coordinator.
    nonisolated(unsafe) private static let model = Result { try Models.load("Wards") }
    let rows: Int

    func run(_ path: String, _ region: Region) throws -> Checksum {
        let writing = try context(path)
        try writing.performAndWait { try fill(writing) }
        try close(writing)
        // Opened anew: what was just written is in no memory of ours.
        let reading = try context(path)
        let checksum = try reading.performAndWait {
            let everyVisit = NSFetchRequest<Visit>(entityName: "Visit")
            everyVisit.predicate = NSPredicate(format: "age > 0")
            _ = try reading.count(for: everyVisit)
            return try join(reading, region)
        }
        try close(reading)
        return checksum
    }

    private func join(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let found = try region.measure {
            let request = NSFetchRequest<Visit>(entityName: "Visit")
            request.returnsObjectsAsFaults = false
            request.predicate = NSPredicate(format: "ward.hospital.city == %@ AND ward.floor >= %d", "City 2", 3)
            let found = try context.fetch(request)
            for visit in found { checksum.add(Int64(visit.name.utf8.count) + visit.age) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    private func context(_ path: String) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model.get())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        let hospitals = (1...Questions.hospitals).map { id in
            let hospital = Hospital(context: context)
            hospital.city = Questions.city(id)
            return hospital
        }
        let wards = (1...Questions.wards(of: rows)).map { id in
            let (ward, values) = (Ward(context: context), Questions.ward(id))
            ward.floor = values.floor
            ward.hospital = hospitals[values.hospital - 1]
            return ward
        }
        for index in 0..<rows {
            let (visit, patient) = (Visit(context: context), Patients.row(index, of: rows))
            visit.name = patient.name
            visit.age = patient.age
            visit.ward = wards[Questions.wardOfVisit(index, of: rows) - 1]
        }
        try context.save()
    }
}
