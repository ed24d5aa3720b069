// The tables and indexes of the sample model, written by hand from the description of the file format.

import CoreData
import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

/// The expected text was worked out from the model's XML by the rules of the format, not taken from a store: entity
/// numbers (case-insensitive, each root followed by its own), column order (integers and keys, real numbers and dates,
/// text, UUID, bytes), the side that names a join table, and the indexes that every key, constraint and hierarchy has.
@Suite("The schema of FooTriage") struct FooTriageSchemaTests {
    private let folder = Folder()

    private static let tables = [
        "table ZASSESSMENT CREATE TABLE ZASSESSMENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZCATEGORY INTEGER, ZCASUALTY INTEGER, Z_FOK_CASUALTY INTEGER, ZAT TIMESTAMP, ZNOTE VARCHAR )",
        "table ZCASUALTY CREATE TABLE ZCASUALTY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZAGE INTEGER, ZSTATION INTEGER, ZARRIVEDAT TIMESTAMP, ZWEIGHT FLOAT, ZNAME VARCHAR, "
            + "ZNOTES VARCHAR, ZTAG BLOB, ZPHOTO BLOB )",
        "table ZINJURY CREATE TABLE ZINJURY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZID INTEGER, ZNAME VARCHAR )",
        "table ZPLACE CREATE TABLE ZPLACE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZNAME VARCHAR )",
        "table Z_2INJURIES CREATE TABLE Z_2INJURIES ( Z_2CASUALTIES INTEGER, Z_3INJURIES INTEGER, "
            + "PRIMARY KEY (Z_2CASUALTIES, Z_3INJURIES) )",
        "table Z_PRIMARYKEY CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, "
            + "Z_SUPER INTEGER, Z_MAX INTEGER)",
        "table Z_METADATA CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), "
            + "Z_PLIST BLOB)",
        "table Z_MODELCACHE CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    private static let indexes = [
        "index ZASSESSMENT_ZCASUALTY_INDEX CREATE INDEX ZASSESSMENT_ZCASUALTY_INDEX ON ZASSESSMENT (ZCASUALTY)",
        "index ZCASUALTY_ZSTATION_INDEX CREATE INDEX ZCASUALTY_ZSTATION_INDEX ON ZCASUALTY (ZSTATION)",
        "index ZPLACE_Z_ENT_INDEX CREATE INDEX ZPLACE_Z_ENT_INDEX ON ZPLACE (Z_ENT)",
        "index Z_2INJURIES_Z_3INJURIES_INDEX CREATE INDEX Z_2INJURIES_Z_3INJURIES_INDEX ON Z_2INJURIES "
            + "(Z_3INJURIES, Z_2CASUALTIES)",
        "index Z_Casualty_byArrival CREATE INDEX Z_Casualty_byArrival ON ZCASUALTY "
            + "(ZARRIVEDAT COLLATE BINARY DESC)",
        "index Z_Injury_UNIQUE_name CREATE UNIQUE INDEX Z_Injury_UNIQUE_name ON ZINJURY "
            + "(ZNAME COLLATE BINARY ASC)",
        // SQLite's own, for the primary key of two columns.
        "index sqlite_autoindex_Z_2INJURIES_1 NULL",
    ]

    /// A new store of the current version of the model, closed.
    private func created() throws -> SQLiteFile {
        let package = Corpus.package.appendingPathComponent("Models/FooTriage.xcdatamodeld")
        let model = try #require(NSManagedObjectModel(contentsOf: package), "\(package.path) cannot be read")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let file = folder.file("FooTriage.sqlite")
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        try coordinator.remove(store)
        return try SQLiteFile(file)
    }

    @Test("A new store has exactly the tables and indexes that the format asks for, letter by letter")
    func schema() throws {
        let raw = try created()
        for (type, expected) in [("table", Self.tables), ("index", Self.indexes)] {
            let found = try raw.rows(
                "SELECT type || ' ' || name || ' ' || ifnull(sql, 'NULL') FROM sqlite_master WHERE type = '\(type)'")
            #expect(found.sorted() == expected.sorted())
        }
        #expect(
            try raw.rows("SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index')").isEmpty)
    }

    @Test("A new store numbers the entities in the format's order, with no key handed out")
    func entityNumbers() throws {
        let rows = try created().rows(
            "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER || ' ' || Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        #expect(
            rows == ["1 Assessment 0 0", "2 Casualty 0 0", "3 Injury 0 0", "4 Place 0 0", "5 Station 4 0"])
    }
}
