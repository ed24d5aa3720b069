// The tasks that only a graph of objects has: walks, faults, undo, and a save among many clean objects.

import CoreData
import Yardstick

struct GraphTasks {
    let rows: Int
    let stack: Stack
    let region: Region
    private var context: NSManagedObjectContext { stack.context }

    func run(_ task: Task) throws -> Checksum {
        switch task {
        case .toOneWalk: try toOneWalk()
        case .toManyPrefetch: try toManyPrefetch()
        case .faults: try faults()
        case .undo: try undo()
        case .redo: try redo()
        case .saveDirty: try saveDirty()
        case .chain: try chain()
        case .encode: try encode()
        case .typedRead, .typedWrite, .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping,
            .copyObjects,
            .insert, .fetch, .fetchRead, .filter, .lookup, .lookupRegistered, .update, .delete, .toOne, .toMany,
            .commit, .open, .free, .memory, .seed, .request, .request1, .request32, .request1000,
            .sharedNothing, .sharedOwners, .sharedOrder, .filterSort, .lookupIndexed, .aggregate, .dictionary,
            .swiftDictionary, .columns,
            .inList,
            .join, .parse, .batchInsert:
            throw Failure.noCounterpart(task)
        }
    }

    private func everyone() throws -> [Patient] {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    /// A hop from each patient to an injury that is in memory and was reached before.
    private func toOneWalk() throws -> Checksum {
        let patients = try everyone()
        let injuries = try context.fetch(NSFetchRequest<Injury>(entityName: "Injury"))
        func walk() -> Int64 {
            var reached: Int64 = 0
            for patient in patients where patient.injury != nil { reached += 1 }
            return reached
        }
        _ = walk()
        return withExtendedLifetime(injuries) { Checksum(whole: region.measure(walk)) }
    }

    /// All injuries with their patients in two statements; every attribute of every patient.
    private func toManyPrefetch() throws -> Checksum {
        let request = NSFetchRequest<Injury>(entityName: "Injury")
        request.relationshipKeyPathsForPrefetching = ["patients"]
        var checksum = Checksum()
        let injuries = try region.measure {
            let injuries = try context.fetch(request)
            for injury in injuries {
                for patient in injury.patients { checksum.add(patient) }
            }
            return injuries
        }
        return withExtendedLifetime(injuries) { checksum }
    }

    /// The first tenth of the patients, of which only the keys are known; every attribute of each.
    private func faults() throws -> Checksum {
        let request = NSFetchRequest<Patient>(entityName: "Patient")
        request.includesPropertyValues = false
        request.fetchLimit = rows / 10
        let patients = try context.fetch(request)
        var checksum = Checksum()
        region.measure { for patient in patients { checksum.add(patient) } }
        return checksum
    }

    /// Every object, one change each, in one group.
    private func changeEveryone() throws -> [Patient] {
        let patients = try everyone()
        for patient in dirty(patients, of: rows) { patient.weight += 1 }
        context.processPendingChanges()
        return patients
    }

    private func undo() throws -> Checksum {
        let patients = try changeEveryone()
        region.measure { context.undo() }
        return sum(patients)
    }

    private func redo() throws -> Checksum {
        let patients = try changeEveryone()
        context.undo()
        region.measure { context.redo() }
        return sum(patients)
    }

    private func sum(_ patients: [Patient]) -> Checksum {
        Checksum(whole: Int64(patients.count), weight: patients.reduce(0) { $0 + $1.weight })
    }

    /// Saves one object in a hundred, while all are registered.
    private func saveDirty() throws -> Checksum {
        let patients = try everyone()
        let changed = dirty(patients, of: rows / 100)
        for (index, patient) in changed.enumerated() { patient.weight = Double(index * (rows / changed.count)) }
        try region.measure { try context.save() }
        try stack.expectObservedSaves(1)
        return withExtendedLifetime(patients) { Checksum(whole: Int64(changed.count)) }
    }

    /// Three fetches by chains of `YARDSTICK_TERMS` conditions: as a text, as a list, and with two properties in turn.
    private func chain() throws -> Checksum {
        let terms = ProcessInfo.processInfo.environment["YARDSTICK_TERMS"].flatMap { Int($0) } ?? 1_000
        func find(_ predicate: NSPredicate) throws -> Int64 {
            let request = NSFetchRequest<Patient>(entityName: "Patient")
            request.predicate = predicate
            request.fetchLimit = 1
            return Int64(try context.fetch(request).count)
        }
        let lone = (0..<terms).map { NSPredicate(format: "weight == %d", -1 - $0) }
        let found = try region.measure {
            let text = (0..<terms).map { "weight == \(-1 - $0)" }.joined(separator: " OR ")
            let mixed = (0..<terms).map { $0 % 2 == 0 ? "weight == \(-1 - $0)" : "name == 'nobody \($0)'" }.joined(
                separator: " OR ")
            return try find(NSPredicate(format: text)) + find(NSCompoundPredicate(orPredicateWithSubpredicates: lone))
                + find(NSPredicate(format: mixed.replacing("!=", with: "==")))
        }
        return Checksum(whole: found)
    }

    /// As many objects as the task changes, evenly spread; `YARDSTICK_DIRTY` names another number.
    private func dirty(_ patients: [Patient], of usual: Int) -> [Patient] {
        let asked = ProcessInfo.processInfo.environment["YARDSTICK_DIRTY"].flatMap { Int($0) } ?? usual
        return stride(from: 0, to: patients.count, by: max(1, patients.count / max(1, asked))).map { patients[$0] }
    }
}
