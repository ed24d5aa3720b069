// The tables a store creates, against texts written by hand from the store format's specification.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL

@Suite("Definitions")
struct DefinitionTests {
    let definitions: Definitions

    init() throws { definitions = Definitions(try StoreMap(schema: Triage.schema, configuration: nil)) }

    @Test("Tables have Core Data's columns, types and order")
    func tables() {
        #expect(
            definitions.map.tables.map(definitions.table) == [
                "CREATE TABLE ZASSESSMENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z4VISITS INTEGER, "
                    + "ZCONFIDENCE FLOAT, ZNOTE VARCHAR )",
                "CREATE TABLE ZCASUALTY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, "
                    + "ZALIVE INTEGER, ZSTATION INTEGER, Z4_STATION INTEGER, ZADMITTEDAT TIMESTAMP, "
                    + "ZWEIGHT DECIMAL, ZNAME VARCHAR, ZLINK VARCHAR, ZTAG BLOB, ZPHOTO BLOB )",
                "CREATE TABLE ZINJURY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSEVERITY INTEGER, "
                    + "ZCASUALTY INTEGER, Z_FOK_CASUALTY INTEGER, ZKIND VARCHAR )",
                "CREATE TABLE ZPLACE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCAPACITY INTEGER, "
                    + "ZNAME VARCHAR, ZNAME1 VARCHAR )",
            ])
    }

    @Test("Join tables are named by the first side in alphabetical order")
    func joins() {
        #expect(
            definitions.map.joins.map(definitions.join) == [
                "CREATE TABLE Z_1CASUALTIES ( Z_1ASSESSMENTS INTEGER, Z_2CASUALTIES INTEGER, "
                    + "PRIMARY KEY (Z_1ASSESSMENTS, Z_2CASUALTIES) )",
                "CREATE TABLE Z_2CONTACTS ( Z_2CONTACTS INTEGER, REFLEXIVE INTEGER, "
                    + "PRIMARY KEY (Z_2CONTACTS, REFLEXIVE) )",
            ])
    }

    @Test("Indexes have the names and forms of Core Data's files")
    func indexes() throws {
        let all = try definitions.statements().filter { $0.contains("INDEX") }
        #expect(
            all == [
                "CREATE INDEX ZASSESSMENT_Z4VISITS_INDEX ON ZASSESSMENT (Z4VISITS)",
                "CREATE INDEX ZCASUALTY_ZSTATION_INDEX ON ZCASUALTY (ZSTATION)",
                "CREATE INDEX ZINJURY_ZCASUALTY_INDEX ON ZINJURY (ZCASUALTY)",
                "CREATE INDEX ZPLACE_Z_ENT_INDEX ON ZPLACE (Z_ENT)",
                "CREATE INDEX Z_1CASUALTIES_Z_2CASUALTIES_INDEX ON Z_1CASUALTIES (Z_2CASUALTIES, Z_1ASSESSMENTS)",
                "CREATE INDEX Z_2CONTACTS_REFLEXIVE_INDEX ON Z_2CONTACTS (REFLEXIVE, Z_2CONTACTS)",
                "CREATE INDEX Z_Casualty_byName ON ZCASUALTY (ZNAME COLLATE BINARY ASC, ZADMITTEDAT COLLATE BINARY DESC)",
                "CREATE UNIQUE INDEX Z_Casualty_UNIQUE_tag ON ZCASUALTY (ZTAG COLLATE BINARY ASC)",
            ])
    }

    @Test("GenericAlbum names the table it shares with AlbumList, because Album comes before AlbumList")
    func namingBySubentity() throws {
        let album = EntityDraft("Album", parent: "GenericAlbum")
        let list = EntityDraft("AlbumList", [], [Triage.toMany("albums", "GenericAlbum", "albumLists", ordered: true)])
        let generic = EntityDraft("GenericAlbum", [], [Triage.toMany("albumLists", "AlbumList", "albums")])
        #expect(
            try joins([album, list, generic]) == [
                "CREATE TABLE Z_2ALBUMLISTS ( Z_2ALBUMS INTEGER, Z_1ALBUMLISTS INTEGER, Z_FOK_2ALBUMS INTEGER, "
                    + "PRIMARY KEY (Z_2ALBUMS, Z_1ALBUMLISTS) )"
            ])
    }

    @Test("An entity related to itself by two relationships, one ordered, has both names in its table")
    func sameEntity() throws {
        var entity = EntityDraft(name: "BookmarkEntity")
        entity.relationships = [
            Triage.toMany("favoriteFolders", "BookmarkEntity", "favorites"),
            Triage.toMany("favorites", "BookmarkEntity", "favoriteFolders", ordered: true),
        ]
        let all = try joins([entity])
        #expect(
            all == [
                "CREATE TABLE Z_1FAVORITES ( Z_1FAVORITEFOLDERS INTEGER, Z_1FAVORITES INTEGER, "
                    + "Z_FOK_1FAVORITES INTEGER, PRIMARY KEY (Z_1FAVORITEFOLDERS, Z_1FAVORITES) )"
            ])
    }

    @Test("A second relationship whose column would have a taken name gets the suffix 1")
    func columnCollision() throws {
        let album = EntityDraft("Album", [], [Triage.toMany("keyAssets", "Asset", "albumsBeingKeyAssets")])
        var asset = EntityDraft(name: "Asset")
        asset.relationships = [
            Triage.toMany("albumsBeingKeyAssets", "Album", "keyAssets"),
            Triage.toMany("suggestionsBeingKeyAssets", "Suggestion", "keyAssets"),
        ]
        var suggestion = EntityDraft(name: "Suggestion")
        suggestion.relationships = [Triage.toMany("keyAssets", "Asset", "suggestionsBeingKeyAssets")]
        #expect(
            try joins([album, asset, suggestion]) == [
                "CREATE TABLE Z_1KEYASSETS ( Z_1ALBUMSBEINGKEYASSETS INTEGER, Z_2KEYASSETS INTEGER, "
                    + "PRIMARY KEY (Z_1ALBUMSBEINGKEYASSETS, Z_2KEYASSETS) )",
                "CREATE TABLE Z_2SUGGESTIONSBEINGKEYASSETS ( Z_2KEYASSETS1 INTEGER, "
                    + "Z_3SUGGESTIONSBEINGKEYASSETS INTEGER, "
                    + "PRIMARY KEY (Z_2KEYASSETS1, Z_3SUGGESTIONSBEINGKEYASSETS) )",
            ])
    }

    private func joins(_ entities: [EntityDraft]) throws -> [String] {
        var draft = SchemaDraft()
        draft.entities = entities
        let definitions = Definitions(try StoreMap(schema: Schema(checking: draft), configuration: nil))
        return definitions.map.joins.map(definitions.join)
    }

    /// A place on a map with one index.
    private func statements(
        _ elements: [FetchIndex.Element], _ condition: String? = nil, withoutSpatial missing: String? = nil
    ) throws -> [String] {
        var pin = EntityDraft(name: "Pin")
        pin.attributes = [
            Triage.attribute("latitude", .double), Triage.attribute("longitude", .double),
            Triage.attribute("title", .string),
            Triage.attribute("kind", .integer16), Triage.attribute("isMine", .boolean), Triage.attribute("at", .date),
        ]
        pin.relationships = [Triage.toMany("parts", "Pin", "whole"), Triage.toOne("whole", "Pin", "parts")]
        pin.indexes = [FetchIndex(name: "i", elements: elements, partialPredicate: condition)]
        let definitions = Definitions(try StoreMap(schema: Schema(checking: SchemaDraft(pin)), configuration: nil))
        return try definitions.statements(withoutSpatial: missing).filter {
            $0.contains("Z_Pin_i") || $0.contains("Z_RT_")
        }
    }

    @Test(
        "The condition of a partial index is spelled as Core Data's files spell it",
        arguments: [
            ("isMine == YES", "ZISMINE = 1"), ("kind != 0", "ZKIND <> 0"), ("whole != nil", "ZWHOLE IS NOT NULL"),
            ("title == nil", "ZTITLE IS NULL"), ("kind > 1", "ZKIND > 1"), ("kind == -1", "ZKIND = -1"),
            ("kind == 2 OR kind == 4", "(ZKIND = 2 OR ZKIND = 4)"),
            (
                "title == nil AND latitude == 0 AND (kind != 0 OR isMine == 0)",
                "(ZTITLE IS NULL AND ZLATITUDE = 0 AND (ZKIND <> 0 OR ZISMINE = 0))"
            ),
            ("latitude < 1.5", "ZLATITUDE < 1.5"), ("title == \"it's\"", "ZTITLE = 'it''s'"),
            ("kind IN {1, 2}", "ZKIND IN (1, 2)"), ("kind BETWEEN {1, 2}", "ZKIND BETWEEN 1 AND 2"),
            ("NOT (kind == 1)", "ZKIND <> 1"),
        ])
    func partialIndex(_ condition: (text: String, sql: String)) throws {
        #expect(
            try statements([.init(property: "title"), .init(property: "kind", isAscending: false)], condition.text) == [
                "CREATE INDEX Z_Pin_i ON ZPIN (ZTITLE COLLATE BINARY ASC, ZKIND COLLATE BINARY DESC) WHERE \(condition.sql)"
            ])
    }

    @Test("The object itself and its entity may be elements, as Core Data's files have them")
    func rowElements() throws {
        let elements: [FetchIndex.Element] = [
            .init(property: nil, expression: "entity"), .init(property: "title"),
            .init(property: nil, expression: "SELF", isAscending: false),
        ]
        #expect(
            try statements(elements, nil) == [
                "CREATE INDEX Z_Pin_i ON ZPIN (Z_ENT COLLATE BINARY ASC, ZTITLE COLLATE BINARY ASC, Z_PK COLLATE BINARY DESC)"
            ])
    }

    @Test("An R-tree is a virtual table with three triggers, as in Core Data's files")
    func tree() throws {
        let elements = ["latitude", "longitude"].map { FetchIndex.Element(property: $0, isRTree: true) }
        let (columns, values) = (
            "(Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX)",
            "(NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE ,NEW.ZLONGITUDE)"
        )
        #expect(
            try statements(elements) == [
                "CREATE VIRTUAL TABLE Z_RT_Pin_i USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
                    + "ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)",
                "CREATE TRIGGER Z_RT_Pin_i_INSERT AFTER INSERT ON ZPIN FOR EACH ROW BEGIN INSERT OR REPLACE INTO "
                    + "Z_RT_Pin_i \(columns) VALUES \(values) ; END",
                "CREATE TRIGGER Z_RT_Pin_i_UPDATE AFTER UPDATE ON ZPIN FOR EACH ROW BEGIN DELETE FROM Z_RT_Pin_i WHERE "
                    + "Z_PK = NEW.Z_PK ; INSERT INTO Z_RT_Pin_i \(columns) VALUES \(values) ; END",
                "CREATE TRIGGER Z_RT_Pin_i_DELETE AFTER DELETE ON ZPIN FOR EACH ROW BEGIN DELETE FROM Z_RT_Pin_i WHERE "
                    + "Z_PK = OLD.Z_PK ; END",
            ])
        let error = #expect(throws: StoreError.self) {
            try statements(elements, withoutSpatial: "there are no R-trees")
        }
        #expect(error?.code == 134060 && error?.sentence.hasPrefix("unsupported: the fetch index i of Pin") == true)
    }

    @Test("To-many elements are left out of a fetch index, and an index that has no other")
    func toManyElements() throws {
        let parts = FetchIndex.Element(property: "parts")
        #expect(try statements([parts]).isEmpty)
        #expect(
            try statements([parts, .init(property: "kind")]) == [
                "CREATE INDEX Z_Pin_i ON ZPIN (ZKIND COLLATE BINARY ASC)"
            ])
    }

    @Test(
        "A fetch index without a form in SQLite is refused by name",
        arguments: [
            ("whole.title == nil", "no column"), ("title BEGINSWITH 'a'", "text other than for equality"),
            ("title ==[c] 'a'", "options"), ("kind == latitude", "constant on its right"),
            ("ANY parts.kind == 1", "ANY"),
            ("kind + 1 == 2", "on its left"),
        ])
    func refusedCondition(_ condition: (text: String, why: String)) throws {
        let error = #expect(throws: StoreError.self) { try statements([.init(property: "kind")], condition.text) }
        #expect(error?.code == 134060 && error?.entity == "Pin")
        #expect(error?.sentence.contains(condition.why) == true, "\(error?.sentence ?? "")")
    }

    @Test("R-trees of texts, of six elements or with a condition, and computed elements are refused by name")
    func refusedElements() throws {
        let number = FetchIndex.Element(property: "kind", isRTree: true)
        let cases: [([FetchIndex.Element], String?, String)] = [
            ([.init(property: "title", isRTree: true)], nil, "no number"),
            (Array(repeating: number, count: 6), nil, "more than five"),
            ([number], "kind == 1", "an R-tree with a condition"),
            ([.init(property: nil, expression: "kind + 1")], nil, "a computed element"),
        ]
        for (elements, condition, why) in cases {
            let error = #expect(throws: StoreError.self) { try statements(elements, condition) }
            #expect(error?.code == 134060 && error?.sentence.contains(why) == true, "\(error?.sentence ?? "")")
        }
    }

    @Test("Attributes that cannot be stored are refused by name", arguments: [true, false])
    func unsupported(_ isDerived: Bool) throws {
        var entity = EntityDraft(name: "Thing")
        var shape = Triage.attribute("shape", isDerived ? .string : .undefined)
        shape.derivationExpression = isDerived ? "now()" : nil
        entity.attributes = [shape]
        let schema = try Schema(checking: SchemaDraft(entity))
        let error = #expect(throws: StoreError.self) { try StoreMap(schema: schema, configuration: nil) }
        #expect(error?.code == 134060)
        #expect(error?.entity == "Thing" && error?.property == "shape")
    }
}
