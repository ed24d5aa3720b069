// A condition over two joins with GRDB's associations.

import Foundation
import GRDB
import Yardstick

private struct HospitalRecord: FetchableRecord, TableRecord {
    static let databaseTableName = "hospital"
    init(row: Row) {}
}

private struct WardRecord: FetchableRecord, TableRecord {
    static let databaseTableName = "ward"
    static var hospital: BelongsToAssociation<WardRecord, HospitalRecord> {
        belongsTo(HospitalRecord.self, using: ForeignKey(["hospital"]))
    }
    init(row: Row) {}
}

private struct VisitRecord: FetchableRecord, TableRecord {
    static let databaseTableName = "visit"
    static var ward: BelongsToAssociation<VisitRecord, WardRecord> {
        belongsTo(WardRecord.self, using: ForeignKey(["ward"]))
    }
    let id: Int64
    let name: String
    let age: Int64
    init(row: Row) {
        id = row[0]
        name = row[1]
        age = row[2]
    }
}

struct Joins {
    let rows: Int

    func run(_ queue: DatabaseQueue, _ region: Region) throws -> Checksum {
        try queue.write(fill)
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM visit WHERE age > 0") }
        var checksum = Checksum()
        let found = try region.measure {
            let ward = VisitRecord.ward.filter(Column("floor") >= 3)
                .joining(required: WardRecord.hospital.filter(Column("city") == "City 2"))
            let found = try queue.read { try VisitRecord.joining(required: ward).fetchAll($0) }
            for visit in found { checksum.add(Int64(visit.name.utf8.count) + visit.age) }
            return found
        }
        return withExtendedLifetime(found) { checksum }
    }

    private func fill(_ database: Database) throws {
        try database.execute(sql: Settings.wardTables)
        for id in 1...Questions.hospitals {
            try database.execute(sql: "INSERT INTO hospital VALUES(?,?)", arguments: [id, Questions.city(id)])
        }
        for id in 1...Questions.wards(of: rows) {
            let ward = Questions.ward(id)
            try database.execute(sql: "INSERT INTO ward VALUES(?,?,?)", arguments: [id, ward.floor, ward.hospital])
        }
        for index in 0..<rows {
            let patient = Patients.row(index, of: rows)
            try database.execute(
                sql: "INSERT INTO visit VALUES(?,?,?,?)",
                arguments: [patient.id, patient.name, patient.age, Questions.wardOfVisit(index, of: rows)])
        }
    }
}
