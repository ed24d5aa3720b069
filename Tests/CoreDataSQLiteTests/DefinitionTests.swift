// The tables a store creates, against texts written by hand from the store format's specification.

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
        var album = EntityDraft(name: "Album")
        album.parentName = "GenericAlbum"
        var list = EntityDraft(name: "AlbumList")
        list.relationships = [Triage.toMany("albums", "GenericAlbum", "albumLists", ordered: true)]
        var generic = EntityDraft(name: "GenericAlbum")
        generic.relationships = [Triage.toMany("albumLists", "AlbumList", "albums")]
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
        var album = EntityDraft(name: "Album")
        album.relationships = [Triage.toMany("keyAssets", "Asset", "albumsBeingKeyAssets")]
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

    @Test("Attributes that cannot be stored are refused by name", arguments: [true, false])
    func unsupported(_ isDerived: Bool) throws {
        var entity = EntityDraft(name: "Thing")
        var shape = Triage.attribute("shape", isDerived ? .string : .undefined)
        shape.derivationExpression = isDerived ? "now()" : nil
        entity.attributes = [shape]
        var draft = SchemaDraft()
        draft.entities = [entity]
        let schema = try Schema(checking: draft)
        let error = #expect(throws: StoreError.self) { try StoreMap(schema: schema, configuration: nil) }
        #expect(error?.code == 134060)
        #expect(error?.entity == "Thing" && error?.property == "shape")
    }
}
