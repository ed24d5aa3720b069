// The tasks of requests over SQLite's C API.

import CYardstickSQLite
import Foundation
import Yardstick

struct Queries {
    let rows: Int
    let connection: Connection
    let region: Region

    func run(_ task: Task) throws -> Checksum {
        switch task {
        case .filterSort: try filterSort()
        case .lookupIndexed: try lookupIndexed()
        case .aggregate: try aggregate()
        case .dictionary, .swiftDictionary: try dictionary()
        case .columns: try columnArrays()
        case .inList: try inList()
        case .insert, .fetch, .fetchRead, .filter, .lookup, .lookupRegistered, .update, .delete, .toOne, .toMany,
            .commit, .open,
            .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode, .typedRead, .typedWrite,
            .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping, .copyObjects, .free, .memory, .seed,
            .request, .request1, .request32, .request1000, .sharedNothing, .sharedOwners, .sharedOrder, .join, .parse,
            .batchInsert:
            throw Failure.noCounterpart(task)
        }
    }

    private func everything(of statement: OpaquePointer) -> [PatientRow] {
        var result: [PatientRow] = []
        while sqlite3_step(statement) == SQLITE_ROW { result.append(read(statement)) }
        sqlite3_reset(statement)
        return result
    }

    private func filterSort() throws -> Checksum {
        let statement = try connection.prepare(
            "SELECT \(columns) FROM patient WHERE name>=?1 AND name<?2 AND weight>?3 ORDER BY age DESC, admitted LIMIT 100"
        )
        var checksum = Checksum()
        region.measure {
            bind("Katarina", to: statement, at: 1)
            bind("Katarinb", to: statement, at: 2)
            sqlite3_bind_double(statement, 3, 50)
            for row in everything(of: statement) { checksum.add(row) }
        }
        return checksum
    }

    private func lookupIndexed() throws -> Checksum {
        let names = (0..<indexedCount).map { Questions.name($0, of: rows) }
        let statement = try connection.prepare("SELECT \(columns) FROM patient WHERE name=?1 LIMIT 1")
        var checksum = Checksum()
        region.measure {
            for name in names {
                bind(name, to: statement, at: 1)
                if let row = everything(of: statement).first { checksum.add(row) }
            }
        }
        return checksum
    }

    private func aggregate() throws -> Checksum {
        let statement = try connection.prepare(
            "SELECT age,count(name),sum(weight),avg(weight) FROM patient GROUP BY age ORDER BY 3 DESC LIMIT 10")
        var checksum = Checksum()
        region.measure {
            while sqlite3_step(statement) == SQLITE_ROW {
                checksum.whole += sqlite3_column_int64(statement, 0) * sqlite3_column_int64(statement, 1)
                checksum.weight += sqlite3_column_double(statement, 2) + sqlite3_column_double(statement, 3)
            }
            sqlite3_reset(statement)
        }
        return checksum
    }

    private func dictionary() throws -> Checksum {
        let statement = try connection.prepare("SELECT name,age,weight FROM patient")
        var found: [(name: String, age: Int64, weight: Double)] = []
        var checksum = Checksum()
        region.measure {
            while sqlite3_step(statement) == SQLITE_ROW {
                found.append(
                    (text(statement, 0) ?? "", sqlite3_column_int64(statement, 1), sqlite3_column_double(statement, 2)))
            }
            sqlite3_reset(statement)
            for row in found {
                checksum.whole += Int64(row.name.utf8.count) + row.age
                checksum.weight += row.weight
            }
        }
        return checksum
    }

    private func columnArrays() throws -> Checksum {
        let statement = try connection.prepare("SELECT id,name,age FROM patient ORDER BY admitted")
        var (ids, names, ages): ([Int64], [String], [Int64]) = ([], [], [])
        var checksum = Checksum()
        region.measure {
            while sqlite3_step(statement) == SQLITE_ROW {
                ids.append(sqlite3_column_int64(statement, 0))
                names.append(text(statement, 1) ?? "")
                ages.append(sqlite3_column_int64(statement, 2))
            }
            sqlite3_reset(statement)
            for name in names { checksum.add(Int64(name.utf8.count)) }
            for age in ages { checksum.add(age) }
            checksum.weight = Double(ids.count)
        }
        return checksum
    }

    private func inList() throws -> Checksum {
        let names = Questions.listedNames
        let statement = try connection.prepare(
            "SELECT \(columns) FROM patient WHERE name IN (SELECT value FROM json_each(?1))")
        var checksum = Checksum()
        try region.measure {
            bind(String(decoding: try JSONEncoder().encode(names), as: UTF8.self), to: statement, at: 1)
            for row in everything(of: statement) { checksum.add(row) }
        }
        return checksum
    }
}
