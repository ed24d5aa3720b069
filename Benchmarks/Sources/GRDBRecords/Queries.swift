// The tasks of requests with GRDB's query interface.

import Foundation
import GRDB
import Yardstick

struct Queries<Patient: PatientRecord> {
    let rows: Int
    let queue: DatabaseQueue
    let region: Region

    func run(_ task: Task) throws -> Checksum {
        switch task {
        case .filterSort: try filterSort()
        case .lookupIndexed: try lookupIndexed()
        case .aggregate: try aggregate()
        case .dictionary, .swiftDictionary: try dictionary()
        case .columns: try columns()
        case .inList: try inList()
        case .parse: try parse()
        case .insert, .fetch, .fetchRead, .filter, .lookup, .lookupRegistered, .update, .delete, .toOne, .toMany,
            .commit, .open,
            .toOneWalk, .toManyPrefetch, .faults, .undo, .redo, .saveDirty, .chain, .encode, .typedRead, .typedWrite,
            .history, .historyRead, .migrateAdd, .migrateRename, .migrateMapping, .copyObjects, .free, .memory, .seed,
            .request, .request1, .request32, .request1000, .sharedNothing, .sharedOwners, .sharedOrder, .join,
            .batchInsert:
            throw Failure.noCounterpart(task)
        }
    }

    private func filterSort() throws -> Checksum {
        var checksum = Checksum()
        let found = try region.measure {
            let (name, age) = (Column("name"), Column("age"))
            let request = Patient.filter(name >= "Katarina" && name < "Katarinb" && Column("weight") > 50.0)
                .order(age.desc, Column("admitted")).limit(100)
            let found = try queue.read { try request.fetchAll($0) }
            for patient in found { checksum.add(patient) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    private func lookupIndexed() throws -> Checksum {
        let names = (0..<indexedCount).map { Questions.name($0, of: rows) }
        return try region.measure {
            try queue.read { database in
                var checksum = Checksum()
                for name in names {
                    if let patient = try Patient.filter(Column("name") == name).fetchOne(database) {
                        checksum.add(patient)
                    }
                }
                return checksum
            }
        }
    }

    private func aggregate() throws -> Checksum {
        try region.measure {
            let (age, weight) = (Column("age"), Column("weight"))
            let request = Patient.select(age, count(Column("name")), sum(weight), average(weight)).group(age)
                .order(sum(weight).desc).limit(10).asRequest(of: Row.self)
            var checksum = Checksum()
            for group in try queue.read({ try request.fetchAll($0) }) {
                checksum.whole += (group[0] as Int64) * (group[1] as Int64)
                checksum.weight += (group[2] as Double) + (group[3] as Double)
            }
            return checksum
        }
    }

    /// Rows, which are read by the names of columns.
    private func dictionary() throws -> Checksum {
        var checksum = Checksum()
        let found = try region.measure {
            let request = Patient.select(Column("name"), Column("age"), Column("weight")).asRequest(of: Row.self)
            let found = try queue.read { try request.fetchAll($0) }
            for row in found {
                checksum.whole += Int64((row["name"] as String).utf8.count) + (row["age"] as Int64)
                checksum.weight += row["weight"] as Double
            }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    private func columns() throws -> Checksum {
        var checksum = Checksum()
        var (ids, names, ages): ([Int64], [String], [Int64]) = ([], [], [])
        try region.measure {
            let request = Patient.select(Column("id"), Column("name"), Column("age")).order(Column("admitted"))
                .asRequest(of: Row.self)
            try queue.read { database in
                let rows = try request.fetchCursor(database)
                while let row = try rows.next() {
                    ids.append(row[0])
                    names.append(row[1])
                    ages.append(row[2])
                }
            }
            for name in names { checksum.add(Int64(name.utf8.count)) }
            for age in ages { checksum.add(age) }
            checksum.weight = Double(ids.count)
        }
        return checksum
    }

    private func inList() throws -> Checksum {
        let names = Questions.listedNames
        var checksum = Checksum()
        let found = try region.measure {
            let found = try queue.read { try Patient.filter(names.contains(Column("name"))).fetchAll($0) }
            for patient in found { checksum.add(patient) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    /// GRDB has no texts to parse: the same conditions built and made statements.
    private func parse() throws -> Checksum {
        let (name, age, weight) = (Column("name"), Column("age"), Column("weight"))
        let (note, admitted) = (Column("note"), Column("admitted"))
        let date = Patients.requested(1).timeIntervalSinceReferenceDate
        return try queue.read { database in
            try region.measure {
                var checksum = Checksum()
                for number in 0..<parseCount {
                    let request =
                        switch number % 5 {
                        case 0: Patient.filter(age >= number && age <= 60 && weight > 70.0)
                        case 1: Patient.filter(name == "Ada Berg" || age == number)
                        case 2: Patient.filter([number, 1, 2, 3, 5, 8].contains(age) && note != nil)
                        case 3: Patient.filter(!(number...max(number, 65)).contains(age) && admitted >= date)
                        default: Patient.filter(note.like("%stable%") && (weight + age) / 2 > number)
                        }
                    _ = try request.makePreparedRequest(database)
                    checksum.add(1)
                }
                return checksum
            }
        }
    }
}
