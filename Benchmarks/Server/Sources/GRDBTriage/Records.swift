// The tables, and the records that read and write them.

import Foundation
import GRDB

struct Station: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var code: String
    var name: String
    var beds: Int

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Injury: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
}

struct Casualty: Codable, FetchableRecord, PersistableRecord {
    var id: UUID
    var name: String
    var age: Int
    var arrivedAt: Date
    var priority: Int
    var stationId: Int64?
    /// Counted up by each change, for entity tags.
    var version = 1

    static let station = belongsTo(Station.self)
    static let casualtyInjuries = hasMany(CasualtyInjury.self)
    static let injuries = hasMany(Injury.self, through: casualtyInjuries, using: CasualtyInjury.injury)
}

struct CasualtyInjury: Codable, FetchableRecord, PersistableRecord {
    var casualtyId: UUID
    var injuryId: Int64

    static let injury = belongsTo(Injury.self)
}

/// A casualty with its station and injuries, read in two statements.
struct CasualtyInfo: Decodable, FetchableRecord {
    var casualty: Casualty
    var station: Station?
    var injuries: [Injury]
}

extension DatabaseMigrator {
    static var tables: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.create(table: "station") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("code", .text).notNull().unique()
                table.column("name", .text).notNull()
                table.column("beds", .integer).notNull()
            }
            try db.create(table: "injury") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull().unique()
            }
            try db.create(table: "casualty") { table in
                table.primaryKey("id", .blob)
                table.column("name", .text).notNull()
                table.column("age", .integer).notNull()
                table.column("arrivedAt", .datetime).notNull().indexed()
                table.column("priority", .integer).notNull()
                table.column("version", .integer).notNull()
                table.belongsTo("station", onDelete: .restrict)
            }
            try db.create(table: "casualtyInjury") { table in
                table.primaryKey {
                    table.belongsTo("casualty", onDelete: .cascade)
                    table.belongsTo("injury", onDelete: .restrict)
                }
            }
        }
        migrator.registerMigration("injuries") { db in
            let names = "Blunt Trauma%Burn%C-Spine%Cardiac%Crushing%Fracture%Laceration%Penetration"
            for (id, name) in names.split(separator: "%").enumerated() {
                try Injury(id: Int64(id), name: String(name)).insert(db)
            }
        }
        return migrator
    }
}
