// Each task with managed objects, through the public API alone.

import CoreData
import Yardstick

struct OpenCoreDataObjects: Contender {
    private let rows: Int
    init(rows: Int) { self.rows = rows }

    func run(_ task: Task, path: String, region: Region) throws -> Checksum {
        if task == .open { return try openAndAsk(path, region) }
        if task == .history || task == .historyRead { return try HistoryTasks(rows: rows).run(task, path, region) }
        if task.isMigration { return try MigrationTasks(path: path, region: region).run(task) }
        if task == .join { return try Joins(rows: rows).run(path, region) }
        if task.isSharing { return try SharedOwners(task, path, region).run() }
        let stack = try Stack(path: path)
        let checksum =
            try task.isRequest
            ? answer(task, stack, region)
            : stack.context.performAndWait {
                if task != .insert && task != .seed && task != .batchInsert { try stack.warmPages() }
                return try run(task, stack, region)
            }
        try stack.close()
        return checksum
    }

    private func run(_ task: Task, _ stack: Stack, _ region: Region) throws -> Checksum {
        switch task {
        case .insert, .seed: try insert(stack, region)
        case .fetch: try fetch(stack.context, region)
        case .fetchRead: try fetchRead(stack.context, region)
        case .filter: try filter(stack.context, region)
        case .lookup: try lookup(stack, region)
        case .lookupRegistered: try lookupRegistered(stack, region)
        case .update: try update(stack, region)
        case .delete: try delete(stack, region)
        case .toOne: try toOne(stack.context, region)
        case .toMany: try toMany(stack.context, region)
        case .commit: try commit(stack, region)
        case .free: try free(stack.context, region)
        case .memory: try memory(stack.context, region)
        case .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode:
            try GraphTasks(rows: rows, stack: stack, region: region).run(task)
        case .filterSort, .lookupIndexed, .aggregate, .dictionary, .swiftDictionary, .columns, .inList, .parse,
            .batchInsert:
            try Queries(rows: rows, context: stack.context, region: region).run(task)
        case .typedRead, .typedWrite: try TypedAccess(stack: stack, region: region).run(task)
        case .join, .open, .history, .historyRead, .request, .request1, .request32, .request1000, .sharedNothing,
            .sharedOwners, .sharedOrder,
            .migrateAdd, .migrateRename, .migrateMapping, .copyObjects:
            throw Failure("\(task.rawValue) runs elsewhere")
        }
    }

    /// Requests have contexts of their own.
    private func answer(_ task: Task, _ stack: Stack, _ region: Region) throws -> Checksum {
        try stack.context.performAndWait { try stack.warmPages() }
        let requests = Requests(rows: rows, stack: stack, region: region)
        return try task.atOnce.map(requests.beside) ?? requests.inTurn()
    }

    /// All patients with their values read in.
    private func everyone() -> NSFetchRequest<Patient> {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.returnsObjectsAsFaults = false
        return request
    }

    private func injuries(_ context: NSManagedObjectContext) throws -> [Injury] {
        let request = NSFetchRequest<Injury>(entityName: "Injury")
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    private func insert(_ stack: Stack, _ region: Region) throws -> Checksum {
        let context = stack.context
        let values = Patients.all(rows)
        let injuries = (1...Patients.injuries(of: rows)).map { id in
            let injury = Injury(context: context)
            injury.name = Patients.injuryName(id)
            return injury
        }
        try context.save()
        let patients = try region.measure {
            let patients = values.map { Patient($0, injuries, context) }
            try context.save()
            return patients
        }
        try stack.expectObservedSaves(2)
        return Checksum(whole: Int64(patients.count))
    }

    private func fetch(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        let patients = try region.measure { try context.fetch(request) }
        return Checksum(whole: Int64(patients.count))
    }

    private func fetchRead(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        let request = everyone()
        var checksum = Checksum()
        let patients = try region.measure {
            let patients = try context.fetch(request)
            for patient in patients { checksum.add(patient) }
            return patients
        }
        return withExtendedLifetime(patients) { checksum }
    }

    private func filter(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let patients = try region.measure {
            let request = everyone()
            request.predicate = NSPredicate(format: "age >= %d AND age <= %d AND weight > %f", 40, 60, 70.0)
            request.sortDescriptors = [NSSortDescriptor(key: "admitted", ascending: false)]
            request.fetchLimit = 100
            let patients = try context.fetch(request)
            for patient in patients { checksum.add(patient) }
            return patients
        }
        return withExtendedLifetime(patients) { checksum }
    }

    private func lookup(_ stack: Stack, _ region: Region) throws -> Checksum {
        let keys = Patients.shuffledKeys(rows)
        let warming = try keys.warming.map(stack.patientID)
        let measured = try keys.measured.map(stack.patientID)
        func lookUp(_ ids: [NSManagedObjectID]) throws -> Checksum {
            var checksum = Checksum()
            for id in ids {
                if let patient = try stack.context.existingObject(with: id) as? Patient {
                    checksum.add(patient)
                }
            }
            return checksum
        }
        _ = try lookUp(warming)
        return try region.measure { try lookUp(measured) }
    }

    private func lookupRegistered(_ stack: Stack, _ region: Region) throws -> Checksum {
        let everyone = try stack.context.fetch(everyone())
        let ids = try Patients.shuffledKeys(rows).measured.map(stack.patientID)
        return withExtendedLifetime(everyone) {
            region.measure {
                var checksum = Checksum()
                for id in ids {
                    if let patient = stack.context.object(with: id) as? Patient { checksum.add(patient.age) }
                }
                return checksum
            }
        }
    }

    /// The tenth of the rows that update and delete change: the generator's notes tell them.
    private func tenth(_ context: NSManagedObjectContext) throws -> [Patient] {
        let request = everyone()
        request.predicate = NSPredicate(format: "note CONTAINS '2: stable'")
        return try context.fetch(request)
    }

    private func update(_ stack: Stack, _ region: Region) throws -> Checksum {
        let tenth = try tenth(stack.context)
        try region.measure {
            for patient in tenth { patient.weight += 1 }
            try stack.context.save()
        }
        try stack.expectObservedSaves(1)
        return Checksum(whole: Int64(tenth.count))
    }

    private func delete(_ stack: Stack, _ region: Region) throws -> Checksum {
        let tenth = try tenth(stack.context)
        try region.measure {
            for patient in tenth { stack.context.delete(patient) }
            try stack.context.save()
        }
        try stack.expectObservedSaves(1)
        return Checksum(whole: Int64(tenth.count))
    }

    private func toOne(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let kept = try region.measure {
            let patients = try context.fetch(everyone())
            let injuries = try injuries(context)
            for patient in patients { checksum.add(Int64(patient.injury?.name.utf8.count ?? 0)) }
            return (patients, injuries)
        }
        return withExtendedLifetime(kept) { checksum }
    }

    private func toMany(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        let injuries = try injuries(context)
        var checksum = Checksum()
        region.measure {
            for injury in injuries {
                for patient in injury.patients { checksum.add(patient) }
            }
        }
        return checksum
    }

    private func commit(_ stack: Stack, _ region: Region) throws -> Checksum {
        let values = Patients.row(1, of: rows)
        let injuries = try injuries(stack.context)
        try region.measure {
            for _ in 1...commitCount {
                _ = Patient(values, injuries, stack.context)
                try stack.context.save()
            }
        }
        try stack.expectObservedSaves(commitCount)
        return Checksum(whole: Int64(commitCount))
    }

    /// Store, context, observer and one object, from a model in memory.
    private func openAndAsk(_ path: String, _ region: Region) throws -> Checksum {
        let (stack, checksum) = try region.measure {
            let stack = try Stack(path: path)
            let checksum = try stack.context.performAndWait {
                let request = everyone()
                request.fetchLimit = 1
                guard let patient = try stack.context.fetch(request).first else {
                    throw Failure("\(path) has no patients")
                }
                var checksum = Checksum()
                checksum.add(patient)
                return checksum
            }
            return (stack, checksum)
        }
        try stack.close()
        return checksum
    }

    private func free(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        var patients = try context.fetch(everyone())
        let count = patients.count
        region.measure { patients = [] }
        return Checksum(whole: Int64(count))
    }

    private func memory(_ context: NSManagedObjectContext, _ region: Region) throws -> Checksum {
        let request = everyone()
        let patients = try region.measureHeap { try context.fetch(request) }
        return Checksum(whole: Int64(patients.count))
    }
}

extension Patient {
    convenience init(_ row: PatientRow, _ injuries: [Injury], _ context: NSManagedObjectContext) {
        self.init(context: context)
        name = row.name
        age = row.age
        admitted = row.admitted
        weight = row.weight
        if let note = row.note { self.note = note }
        if let photo = row.photo { self.photo = photo }
        injury = injuries[Int(row.injury) - 1]
    }
}

extension Checksum {
    @inline(__always)
    mutating func add(_ patient: Patient) {
        add(
            name: patient.name, age: patient.age, admitted: patient.admitted, weight: patient.weight,
            note: patient.note, photo: patient.photo)
    }
}
