// The patient as GRDB's documentation suggests: a record with hand-written coding, and a Codable one.

import Foundation
import GRDB
import Yardstick

/// What both records have in common.
protocol PatientRecord: FetchableRecord, PersistableRecord, Sendable {
    init(_ row: PatientRow)
    var id: Int64 { get set }
    var name: String { get }
    var age: Int64 { get }
    var admitted: Date { get }
    var weight: Double { get set }
    var note: String? { get }
    var photo: Data? { get }
    var injury: Int64 { get }
}

/// Reads by position, writes by name.
struct HandWrittenPatient: PatientRecord {
    static let databaseTableName = "patient"
    /// Made once: nobody writes to it.
    nonisolated(unsafe) static let databaseSelection: [any SQLSelectable] =
        ["id", "name", "age", "admitted", "weight", "note", "photo", "injury"].map { Column($0) }

    var id: Int64
    var name: String
    var age: Int64
    var admitted: Date
    var weight: Double
    var note: String?
    var photo: Data?
    var injury: Int64

    init(_ row: PatientRow) {
        id = row.id
        name = row.name
        age = row.age
        admitted = row.admitted
        weight = row.weight
        note = row.note
        photo = row.photo
        injury = row.injury
    }

    init(row: Row) {
        id = row[0]
        name = row[1]
        age = row[2]
        admitted = Date(timeIntervalSinceReferenceDate: row[3])
        weight = row[4]
        note = row[5]
        photo = row[6]
        injury = row[7]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["age"] = age
        container["admitted"] = admitted.timeIntervalSinceReferenceDate
        container["weight"] = weight
        container["note"] = note
        container["photo"] = photo
        container["injury"] = injury > 0 ? injury : nil
    }
}

/// Everything by `Codable`.
struct CodablePatient: PatientRecord, Codable {
    static let databaseTableName = "patient"
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    var id: Int64
    var name: String
    var age: Int64
    var admitted: Date
    var weight: Double
    var note: String?
    var photo: Data?
    var injury: Int64

    init(_ row: PatientRow) {
        id = row.id
        name = row.name
        age = row.age
        admitted = row.admitted
        weight = row.weight
        note = row.note
        photo = row.photo
        injury = row.injury
    }
}

struct InjuryRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "injury"
    var id: Int64
    var name: String
}

extension Checksum {
    @inline(__always)
    mutating func add<Record: PatientRecord>(_ record: Record) {
        add(
            name: record.name, age: record.age, admitted: record.admitted, weight: record.weight,
            note: record.note, photo: record.photo)
    }
}
