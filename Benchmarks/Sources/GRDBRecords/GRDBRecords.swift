// Each task with GRDB's record API.

import Foundation
import GRDB
import Yardstick

struct GRDBRecords<Patient: PatientRecord>: Contender {
    private let rows: Int
    init(rows: Int) { self.rows = rows }

    func run(_ task: Task, path: String, region: Region) throws -> Checksum {
        switch task {
        case .insert, .seed: try insert(path, region, Patients.all(rows))
        case .fetchRead: try fetchRead(open(path), region)
        case .filter: try filter(open(path), region)
        case .lookup: try lookup(open(path), region)
        case .update: try update(open(path), region)
        case .delete: try delete(open(path), region)
        case .toOne: try toOne(open(path), region)
        case .toMany: try toMany(open(path), region)
        case .commit: try commit(open(path), region)
        case .open: try openAndAsk(path, region)
        case .free: try free(open(path), region)
        case .memory: try memory(open(path), region)
        case .filterSort, .lookupIndexed, .aggregate, .dictionary, .swiftDictionary, .columns, .inList, .parse:
            try Queries<Patient>(rows: rows, queue: open(path), region: region).run(task)
        case .join: try Joins(rows: rows).run(queue(path, isNew: true), region)
        case .batchInsert: try insert(path, region, Patients.withoutInjuries(rows))
        case .fetch, .lookupRegistered, .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode,
            .typedRead, .typedWrite, .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping, .copyObjects,
            .request, .request1, .request32, .request1000, .sharedNothing, .sharedOwners, .sharedOrder:
            throw Failure.noCounterpart(task)
        }
    }

    private func queue(_ path: String, isNew: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            if isNew { try database.execute(sql: Settings.creation) }
            try database.execute(sql: Settings.connection)
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Opens the file and brings the table's pages into SQLite's cache.
    private func open(_ path: String) throws -> DatabaseQueue {
        let queue = try queue(path)
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM patient WHERE weight > 0") }
        return queue
    }

    private func insert(_ path: String, _ region: Region, _ rowsToInsert: [PatientRow]) throws -> Checksum {
        let patients = rowsToInsert.map(Patient.init)
        let queue = try queue(path, isNew: true)
        try queue.write { database in
            try database.execute(sql: Settings.tables)
            for id in 1...Patients.injuries(of: rows) {
                try InjuryRecord(id: Int64(id), name: Patients.injuryName(id)).insert(database)
            }
        }
        try region.measure {
            try queue.write { database in
                for patient in patients { try patient.insert(database) }
            }
        }
        return Checksum(whole: Int64(rows))
    }

    private func fetchRead(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let result = try region.measure {
            let result = try queue.read { try Patient.fetchAll($0) }
            for patient in result { checksum.add(patient) }
            return result
        }
        return withExtendedLifetime(result) { checksum }
    }

    private func filter(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let result = try region.measure {
            let request = Patient.filter(Column("age") >= 40 && Column("age") <= 60 && Column("weight") > 70)
                .order(Column("admitted").desc).limit(100)
            let result = try queue.read { try request.fetchAll($0) }
            for patient in result { checksum.add(patient) }
            return result
        }
        return withExtendedLifetime(result) { checksum }
    }

    private func lookup(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        let keys = Patients.shuffledKeys(rows)
        func lookUp(_ keys: [Int64]) throws -> Checksum {
            try queue.read { database in
                var checksum = Checksum()
                for key in keys {
                    if let patient = try Patient.fetchOne(database, key: key) { checksum.add(patient) }
                }
                return checksum
            }
        }
        _ = try lookUp(keys.warming)
        return try region.measure { try lookUp(keys.measured) }
    }

    /// The tenth of the rows that update and delete change.
    private func tenth(_ queue: DatabaseQueue) throws -> [Patient] {
        try queue.read { try Patient.filter(sql: "id % 10 = 3").fetchAll($0) }
    }

    private func update(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var tenth = try tenth(queue)
        try region.measure {
            try queue.write { database in
                for index in tenth.indices {
                    tenth[index].weight += 1
                    try tenth[index].update(database, columns: ["weight"])
                }
            }
        }
        return Checksum(whole: Int64(tenth.count))
    }

    private func delete(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        let tenth = try tenth(queue)
        try region.measure {
            try queue.write { database in
                for patient in tenth { _ = try patient.delete(database) }
            }
        }
        return Checksum(whole: Int64(tenth.count))
    }

    private func toOne(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        let result = try region.measure {
            let (patients, injuries) = try queue.read { database in
                (try Patient.fetchAll(database), try InjuryRecord.fetchAll(database))
            }
            let byID = Dictionary(uniqueKeysWithValues: injuries.map { ($0.id, $0) })
            for patient in patients { checksum.add(Int64(byID[patient.injury]?.name.utf8.count ?? 0)) }
            return patients
        }
        return withExtendedLifetime(result) { checksum }
    }

    private func toMany(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var checksum = Checksum()
        try region.measure {
            try queue.read { database in
                for id in 1...Int64(Patients.injuries(of: rows)) {
                    for patient in try Patient.filter(Column("injury") == id).fetchAll(database) {
                        checksum.add(patient)
                    }
                }
            }
        }
        return checksum
    }

    private func commit(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var patient = Patient(Patients.row(1, of: rows))
        try region.measure {
            for index in 1...commitCount {
                patient.id = Int64(rows + index)
                try queue.write { database in try patient.insert(database) }
            }
        }
        return Checksum(whole: Int64(commitCount))
    }

    private func openAndAsk(_ path: String, _ region: Region) throws -> Checksum {
        let (queue, patient): (DatabaseQueue, Patient?) = try region.measure {
            let opened = try self.queue(path)
            return (opened, try opened.read { try Patient.limit(1).fetchOne($0) })
        }
        return try withExtendedLifetime(queue) {
            guard let patient else { throw Failure("\(path) has no patients") }
            var checksum = Checksum()
            checksum.add(patient)
            return checksum
        }
    }

    private func free(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        var result = try queue.read { try Patient.fetchAll($0) }
        let count = result.count
        region.measure { result = [] }
        return Checksum(whole: Int64(count))
    }

    private func memory(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        let result = try region.measureHeap { try queue.read { try Patient.fetchAll($0) } }
        return Checksum(whole: Int64(result.count))
    }
}
