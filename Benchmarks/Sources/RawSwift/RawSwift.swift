// Each task over SQLite's C API, with rows as an array of structs.

import CYardstickSQLite
import Foundation
import Yardstick

struct RawSwift: Contender {
    private let rows: Int
    init(rows: Int) { self.rows = rows }

    func run(_ task: Task, path: String, region: Region) throws -> Checksum {
        switch task {
        case .insert, .seed: try insert(path, region)
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
        case .filterSort, .lookupIndexed, .aggregate, .dictionary, .swiftDictionary, .columns, .inList:
            try Queries(rows: rows, connection: open(path), region: region).run(task)
        case .batchInsert: try insert(path, region, withInjuries: false)
        case .fetch, .lookupRegistered, .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode,
            .typedRead, .typedWrite, .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping, .copyObjects,
            .request, .request1, .request32, .request1000, .sharedNothing, .sharedOwners, .sharedOrder, .join, .parse:
            throw Failure.noCounterpart(task)
        }
    }

    /// Opens the file and brings the table's pages into SQLite's cache.
    private func open(_ path: String) throws -> Connection {
        let connection = try Connection(path: path)
        try connection.execute(Settings.connection)
        try connection.run(connection.prepare("SELECT count(*) FROM patient WHERE weight > 0"))
        return connection
    }

    private func insert(_ path: String, _ region: Region, withInjuries: Bool = true) throws -> Checksum {
        let patients = withInjuries ? Patients.all(rows) : Patients.withoutInjuries(rows)
        let connection = try Connection(path: path)
        try connection.execute(Settings.creation)
        try connection.execute(Settings.connection)
        try connection.execute(Settings.tables)
        for id in 1...Patients.injuries(of: rows) {
            try connection.execute("INSERT INTO injury(id,name) VALUES(\(id),'\(Patients.injuryName(id))')")
        }
        let statement = try connection.prepare("INSERT INTO patient(\(columns)) VALUES(?,?,?,?,?,?,?,?)")
        try region.measure {
            try connection.execute("BEGIN IMMEDIATE")
            for patient in patients {
                bind(patient, to: statement)
                try connection.run(statement)
            }
            try connection.execute("COMMIT")
        }
        return Checksum(whole: Int64(rows))
    }

    private func readAll(_ statement: OpaquePointer, into result: inout [PatientRow]) {
        while sqlite3_step(statement) == SQLITE_ROW { result.append(read(statement)) }
        sqlite3_reset(statement)
    }

    private func fetchRead(_ connection: Connection, _ region: Region) throws -> Checksum {
        let statement = try connection.prepare("SELECT \(columns) FROM patient")
        var result: [PatientRow] = []
        var checksum = Checksum()
        region.measure {
            while sqlite3_step(statement) == SQLITE_ROW {
                let row = read(statement)
                checksum.add(row)
                result.append(row)
            }
            sqlite3_reset(statement)
        }
        return checksum
    }

    private func filter(_ connection: Connection, _ region: Region) throws -> Checksum {
        let statement = try connection.prepare(
            "SELECT \(columns) FROM patient WHERE age>=?1 AND age<=?2 AND weight>?3 ORDER BY admitted DESC LIMIT 100"
        )
        var result: [PatientRow] = []
        var checksum = Checksum()
        region.measure {
            sqlite3_bind_int64(statement, 1, 40)
            sqlite3_bind_int64(statement, 2, 60)
            sqlite3_bind_double(statement, 3, 70)
            readAll(statement, into: &result)
            for row in result { checksum.add(row) }
        }
        return checksum
    }

    private func lookup(_ connection: Connection, _ region: Region) throws -> Checksum {
        let statement = try connection.prepare("SELECT \(columns) FROM patient WHERE id=?1")
        let keys = Patients.shuffledKeys(rows)
        func lookUp(_ keys: [Int64]) -> Checksum {
            var checksum = Checksum()
            for key in keys {
                sqlite3_bind_int64(statement, 1, key)
                if sqlite3_step(statement) == SQLITE_ROW { checksum.add(read(statement)) }
                sqlite3_reset(statement)
            }
            return checksum
        }
        _ = lookUp(keys.warming)
        return region.measure { lookUp(keys.measured) }
    }

    /// The tenth of the rows that update and delete change.
    private func tenth(_ connection: Connection) throws -> [PatientRow] {
        var result: [PatientRow] = []
        readAll(try connection.prepare("SELECT \(columns) FROM patient WHERE id % 10 = 3"), into: &result)
        return result
    }

    private func update(_ connection: Connection, _ region: Region) throws -> Checksum {
        let tenth = try tenth(connection)
        let statement = try connection.prepare("UPDATE patient SET weight=?1 WHERE id=?2")
        try region.measure {
            try connection.execute("BEGIN IMMEDIATE")
            for row in tenth {
                sqlite3_bind_double(statement, 1, row.weight + 1)
                sqlite3_bind_int64(statement, 2, row.id)
                try connection.run(statement)
            }
            try connection.execute("COMMIT")
        }
        return Checksum(whole: Int64(tenth.count))
    }

    private func delete(_ connection: Connection, _ region: Region) throws -> Checksum {
        let tenth = try tenth(connection)
        let statement = try connection.prepare("DELETE FROM patient WHERE id=?1")
        try region.measure {
            try connection.execute("BEGIN IMMEDIATE")
            for row in tenth {
                sqlite3_bind_int64(statement, 1, row.id)
                try connection.run(statement)
            }
            try connection.execute("COMMIT")
        }
        return Checksum(whole: Int64(tenth.count))
    }

    private func toOne(_ connection: Connection, _ region: Region) throws -> Checksum {
        let patients = try connection.prepare("SELECT \(columns) FROM patient")
        let injuries = try connection.prepare("SELECT id,name FROM injury")
        var result: [PatientRow] = []
        var names: [Int64: String] = [:]
        var checksum = Checksum()
        region.measure {
            readAll(patients, into: &result)
            while sqlite3_step(injuries) == SQLITE_ROW {
                names[sqlite3_column_int64(injuries, 0)] = text(injuries, 1)
            }
            sqlite3_reset(injuries)
            for row in result { checksum.add(Int64(names[row.injury]?.utf8.count ?? 0)) }
        }
        return checksum
    }

    private func toMany(_ connection: Connection, _ region: Region) throws -> Checksum {
        let statement = try connection.prepare("SELECT \(columns) FROM patient WHERE injury=?1")
        var checksum = Checksum()
        region.measure {
            for id in 1...Int64(Patients.injuries(of: rows)) {
                var result: [PatientRow] = []
                sqlite3_bind_int64(statement, 1, id)
                readAll(statement, into: &result)
                for row in result { checksum.add(row) }
            }
        }
        return checksum
    }

    private func commit(_ connection: Connection, _ region: Region) throws -> Checksum {
        var row = Patients.row(1, of: rows)
        let insert = try connection.prepare("INSERT INTO patient(\(columns)) VALUES(?,?,?,?,?,?,?,?)")
        let begin = try connection.prepare("BEGIN IMMEDIATE")
        let commit = try connection.prepare("COMMIT")
        try region.measure {
            for index in 1...commitCount {
                row.id = Int64(rows + index)
                try connection.run(begin)
                bind(row, to: insert)
                try connection.run(insert)
                try connection.run(commit)
            }
        }
        return Checksum(whole: Int64(commitCount))
    }

    private func openAndAsk(_ path: String, _ region: Region) throws -> Checksum {
        let (connection, row) = try region.measure {
            let connection = try Connection(path: path)
            try connection.execute(Settings.connection)
            let statement = try connection.prepare("SELECT \(columns) FROM patient LIMIT 1")
            guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure("\(path) has no patients") }
            defer { sqlite3_reset(statement) }
            return (connection, read(statement))
        }
        return withExtendedLifetime(connection) {
            var checksum = Checksum()
            checksum.add(row)
            return checksum
        }
    }

    private func free(_ connection: Connection, _ region: Region) throws -> Checksum {
        var result: [PatientRow] = []
        readAll(try connection.prepare("SELECT \(columns) FROM patient"), into: &result)
        let count = result.count
        region.measure { result = [] }
        return Checksum(whole: Int64(count))
    }

    private func memory(_ connection: Connection, _ region: Region) throws -> Checksum {
        let statement = try connection.prepare("SELECT \(columns) FROM patient")
        let result = region.measureHeap {
            var result: [PatientRow] = []
            readAll(statement, into: &result)
            return result
        }
        return Checksum(whole: Int64(result.count))
    }
}

extension Checksum {
    @inline(__always)
    mutating func add(_ row: PatientRow) {
        add(
            name: row.name, age: row.age, admitted: row.admitted, weight: row.weight, note: row.note,
            photo: row.photo)
    }
}
