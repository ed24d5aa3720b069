// A condition over two joins: visits by the floor of their ward and the city of its hospital. Its entities have a file of their own.

import CoreData
import Yardstick

final class Visit: NSManagedObject {
    override class var _managedKeys: [String]? { ["age", "name", "ward"] }

    var age: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }
    var name: String {
        get { _text(1) ?? "" }
        set { _setText(1, newValue) }
    }
    var ward: Ward? {
        get { _toOne(2) as? Ward }
        set { _setToOne(2, newValue) }
    }
}

final class Ward: NSManagedObject {
    override class var _managedKeys: [String]? { ["floor", "hospital"] }

    var floor: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }
    var hospital: Hospital? {
        get { _toOne(1) as? Hospital }
        set { _setToOne(1, newValue) }
    }
}

final class Hospital: NSManagedObject {
    override class var _managedKeys: [String]? { ["city"] }

    var city: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }
}

struct Joins: Sendable {
    /// Made once a process: a model is frozen by its first coordinator.
    nonisolated(unsafe) private static let model = madeModel()
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
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
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

    private static func madeModel() -> NSManagedObjectModel {
        let visit = Clinic.entity(
            "Visit", [Clinic.attribute("age", .integer64AttributeType), Clinic.attribute("name", .stringAttributeType)])
        let ward = Clinic.entity("Ward", [Clinic.attribute("floor", .integer64AttributeType)])
        let hospital = Clinic.entity("Hospital", [Clinic.attribute("city", .stringAttributeType)])
        for (owner, key, back, destination) in [(visit, "ward", "visits", ward), (ward, "hospital", "wards", hospital)] {
            let there = Clinic.relationship(key, to: destination, maxCount: 1)
            let here = Clinic.relationship(back, to: owner, maxCount: 0)
            there.inverseRelationship = here
            here.inverseRelationship = there
            owner.properties.append(there)
            destination.properties.append(here)
        }
        let model = NSManagedObjectModel()
        model.entities = [visit, ward, hospital]
        return model
    }
}
