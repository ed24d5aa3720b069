// The tasks of requests: conditions, sorting, aggregates, values without objects, long lists, batches.

import CoreData
import Yardstick

struct Queries {
    let rows: Int
    let context: NSManagedObjectContext
    let region: Region

    func run(_ task: Task) throws -> Checksum {
        switch task {
        case .filterSort: try filterSort()
        case .lookupIndexed: try lookupIndexed()
        case .aggregate: try aggregate()
        case .dictionary: try dictionary()
        case .swiftDictionary: try swiftDictionary()
        case .columns: try columns()
        case .inList: try inList()
        case .parse: try parse()
        case .batchInsert: try batchInsert()
        case .insert, .fetch, .fetchRead, .filter, .lookup, .lookupRegistered, .update, .delete, .toOne, .toMany,
            .commit, .open,
            .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode, .typedRead, .typedWrite,
            .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping, .copyObjects, .free, .memory, .seed,
            .request, .request1, .request32, .request1000, .sharedNothing, .sharedOwners, .sharedOrder, .join:
            throw Failure.noCounterpart(task)
        }
    }

    private func patients(_ predicate: NSPredicate) -> NSFetchRequest<Patient> {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.returnsObjectsAsFaults = false
        request.predicate = predicate
        return request
    }

    /// Patients of one first name and some weight, the oldest first.
    private func filterSort() throws -> Checksum {
        var checksum = Checksum()
        let found = try region.measure {
            let request = patients(NSPredicate(format: "name BEGINSWITH %@ AND weight > %f", "Katarina", 50.0))
            request.sortDescriptors = [
                NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "admitted", ascending: true),
            ]
            request.fetchLimit = 100
            let found = try context.fetch(request)
            for patient in found { checksum.add(patient) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// One patient by an indexed name, again and again.
    private func lookupIndexed() throws -> Checksum {
        let names = (0..<indexedCount).map { Questions.name($0, of: rows) }
        return try region.measure {
            var checksum = Checksum()
            for name in names {
                let request = patients(NSPredicate(format: "name == %@", name))
                request.fetchLimit = 1
                if let patient = try context.fetch(request).first { checksum.add(patient) }
            }
            return checksum
        }
    }

    /// Number, sum and average by age, of the ten ages with the greatest sum.
    private func aggregate() throws -> Checksum {
        func computed(_ name: String, _ function: String, _ key: String, _ type: NSAttributeType)
            -> NSExpressionDescription
        {
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
            description.expressionResultType = type
            return description
        }
        return try region.measure {
            let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["age"]
            request.propertiesToFetch = [
                "age", computed("number", "count:", "name", .integer64AttributeType),
                computed("sum", "sum:", "weight", .doubleAttributeType),
                computed("average", "average:", "weight", .doubleAttributeType),
            ]
            request.sortDescriptors = [NSSortDescriptor(key: "sum", ascending: false)]
            request.fetchLimit = 10
            var checksum = Checksum()
            for group in try context.fetch(request) {
                guard let age = group["age"] as? Int64, let number = group["number"] as? Int64,
                    let sum = group["sum"] as? Double, let average = group["average"] as? Double
                else { throw Failure("a group without a value: \(group)") }
                checksum.whole += age * number
                checksum.weight += sum + average
            }
            return checksum
        }
    }

    /// Three attributes of each patient, by name.
    private func dictionary() throws -> Checksum {
        let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "age", "weight"]
        var checksum = Checksum()
        let found = try region.measure {
            let found = try context.fetch(request)
            for patient in found {
                guard let name = patient["name"] as? String, let age = patient["age"] as? Int64,
                    let weight = patient["weight"] as? Double
                else { throw Failure("a patient without a value: \(patient)") }
                checksum.whole += Int64(name.utf8.count) + age
                checksum.weight += weight
            }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// The same of Swift's own dictionaries.
    private func swiftDictionary() throws -> Checksum {
        let request = NSFetchRequest<NSDictionary>(entityName: "Patient")
        request.propertiesToFetch = ["name", "age", "weight"]
        var checksum = Checksum()
        let found = try region.measure {
            let found = try context.fetchDictionaries(request)
            for patient in found {
                guard let name = patient["name"] as? String, let age = patient["age"] as? Int64,
                    let weight = patient["weight"] as? Double
                else { throw Failure("a patient without a value: \(patient)") }
                checksum.whole += Int64(name.utf8.count) + age
                checksum.weight += weight
            }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// IDs, names and ages as three arrays, in the order of another attribute.
    private func columns() throws -> Checksum {
        var checksum = Checksum()
        let found = try region.measure {
            let found = try Patient.columns(of: \.name, \.age, sortedBy: [SortDescriptor(\.admitted)], in: context)
            for name in found.values.0 { checksum.add(Int64(name.utf8.count)) }
            for age in found.values.1 { checksum.add(age) }
            checksum.weight = Double(found.ids.count)
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// Patients whose name is in a list of ten thousand.
    private func inList() throws -> Checksum {
        let names = Questions.listedNames
        var checksum = Checksum()
        let found = try region.measure {
            let found = try context.fetch(patients(NSPredicate(format: "name IN %@", names)))
            for patient in found { checksum.add(patient) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// Texts that were not seen before: a number in each differs.
    private func parse() throws -> Checksum {
        let date = Patients.requested(1) as NSDate
        return region.measure {
            var checksum = Checksum()
            for number in 0..<parseCount {
                let predicate =
                    switch number % 5 {
                    case 0: NSPredicate(format: "age >= \(number) AND age <= 60 AND weight > 70.0")
                    case 1: NSPredicate(format: "name == 'Ada Berg' OR age == \(number)")
                    case 2: NSPredicate(format: "age IN {\(number), 1, 2, 3, 5, 8} AND note != nil")
                    case 3: NSPredicate(format: "NOT (age BETWEEN {\(number), 65}) AND admitted >= %@", date)
                    default: NSPredicate(format: "note CONTAINS 'stable' AND (weight + age) / 2 > \(number)")
                    }
                if predicate is NSCompoundPredicate { checksum.add(1) }
            }
            return checksum
        }
    }

    private func batchInsert() throws -> Checksum {
        let values = Patients.withoutInjuries(rows)
        var next = 0
        let request = NSBatchInsertRequest(
            entityName: "Patient",
            managedObjectHandler: { object in
                guard next < values.count, let patient = object as? Patient else { return true }
                patient.fill(values[next])
                next += 1
                return false
            })
        request.resultType = .count
        let result = try region.measure { try context.execute(request) as? NSBatchInsertResult }
        guard result?.result as? Int == rows else { throw Failure("not all rows were inserted") }
        return Checksum(whole: Int64(rows))
    }
}

extension Patient {
    /// The attributes.
    func fill(_ row: PatientRow) {
        name = row.name
        age = row.age
        admitted = row.admitted
        weight = row.weight
        if let note = row.note { self.note = note }
        if let photo = row.photo { self.photo = photo }
    }
}
