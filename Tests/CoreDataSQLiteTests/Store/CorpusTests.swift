// Stores that Apple's Core Data wrote, opened read-only with models made in code.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

@Suite("Stores written by Core Data")
struct CorpusTests {
    let folder = Folder()

    /// Opens a store as it lies there, from a folder of the test's own: SQLite makes files beside it.
    private func open(
        _ path: String, _ entities: [EntityDraft], change: (inout SQLiteOptions) -> Void = { _ in }
    )
        throws -> SQLiteStore?
    {
        guard let stores = Corpus.stores else { return nil }
        try Data(contentsOf: stores.appendingPathComponent(path)).write(to: folder.file)
        var draft = SchemaDraft()
        draft.entities = entities
        return try folder.store(Schema(checking: draft)) {
            $0.isReadOnly = true
            change(&$0)
        }
    }

    /// Every table and index the model asks for is in the file with the same text.
    private func definitionsAgree(_ store: SQLiteStore) throws {
        for sql in try Definitions(StoreMap(schema: store.schema, configuration: nil)).statements() {
            let escaped = sql.replacingOccurrences(of: "'", with: "''")
            let found = try store.scalar("SELECT COUNT(*) FROM sqlite_master WHERE sql = '\(escaped)'")
            #expect(found == "1", "\(sql)")
        }
    }

    @Test("Users: the hash of the specification's vector, values as they are")
    func users() throws {
        var user = EntityDraft(name: "User")
        var name = Attribute(name: "name", type: .string)
        name.isOptional = false
        user.attributes = [name, Triage.attribute("petName", .string)]
        let path = "alemar11+CoreDataPlus/Tests/Resources/SampleModel3/Fixtures/SampleModel3_V1.sqlite"
        guard let store = try open(path, [user]) else { return }
        try definitionsAgree(store)
        let rows = try store.fetch("User")
        #expect(rows.count == 12)
        #expect(rows.allSatisfy { $0.values["name"] != nil && $0.version >= 1 })
        #expect(try store.metadata().type == "SQLite")
    }

    @Test("Events: dates, whole ones among them")
    func events() throws {
        let event = EntityDraft("Event", [Triage.attribute("timeStamp", .date)])
        guard
            let store = try open(
                "yepher+CoreDataUtility/TestFiles/SingleEntitySingleAttribut.sqlite", [event])
        else { return }
        let rows = try store.fetch("Event") { $0.sort = [SortTerm(keyPath: ["timeStamp"])] }
        #expect(rows.count == 40)
        #expect(try store.scalar("SELECT COUNT(*) FROM ZEVENT WHERE ZTIMESTAMP IS NOT NULL") == "40")
        for row in rows {
            guard case .date(let seconds)? = row.values["timeStamp"] else { throw Missing() }
            #expect(seconds > 0 && seconds < 1e9)
        }
    }

    private struct Missing: Error {}

    private var cars: [EntityDraft] {
        var car = EntityDraft(name: "Car")
        var plate = Attribute(name: "numberPlate", type: .string)
        plate.isOptional = false
        car.attributes = [
            Triage.attribute("maker", .string), Triage.attribute("markedForDeletionAsOf", .date),
            Triage.attribute("model", .string), plate,
        ]
        car.relationships = [Triage.toOne("owner", "Person", "cars")]
        car.indexes = [
            FetchIndex(
                name: "byMakerAndNumberPlate",
                elements: [.init(property: "maker"), .init(property: "numberPlate")])
        ]
        car.uniquenessConstraints = [["numberPlate"]]
        let sport = EntityDraft("SportCar", parent: "Car")
        let luxury = EntityDraft("LuxuryCar", [Triage.attribute("isLimitedEdition", .boolean)], parent: "SportCar")
        var person = EntityDraft(name: "Person")
        person.attributes = [
            Triage.attribute("firstName", .string), Triage.attribute("lastName", .string),
            Attribute(name: "updatedAt", type: .date),
        ]
        person.relationships = [Triage.toMany("cars", "Car", "owner")]
        person.uniquenessConstraints = [["firstName", "lastName"]]
        return [car, sport, luxury, person]
    }

    private let carsPath = "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel_V2.sqlite"

    @Test("Cars: three generations in one table, owners, and the same definitions to the letter")
    func hierarchy() throws {
        guard let store = try open(carsPath, cars) else { return }
        try definitionsAgree(store)
        let rows = try store.fetch("Car")
        #expect(rows.count == 125)
        for name in ["Car", "SportCar", "LuxuryCar"] {
            let number = try store.entity(name).index.number
            let count = try store.scalar("SELECT COUNT(*) FROM ZCAR WHERE Z_ENT = \(number)")
            #expect(rows.filter { $0.entity == name }.count == count.flatMap { Int($0) })
        }
        for person in try store.keys("Person") {
            let members = try store.members("Person", "cars", of: person).count
            #expect(
                String(members) == (try store.scalar("SELECT COUNT(*) FROM ZCAR WHERE ZOWNER = \(person)")))
        }
    }

    @Test("A store of another version is refused with what differs")
    func otherVersion() throws {
        var other = cars
        other[0].attributes.removeFirst()
        other[0].indexes = []
        if Corpus.stores == nil { return }
        let error = #expect(throws: StoreError.self) { try open(carsPath, other) }
        #expect(error?.code == 134100)
        #expect(
            error?.sentence.contains("Entities that differ: Car, LuxuryCar, SportCar. Open") == true,
            "\(error?.sentence ?? "")")
        other = cars
        other[0].attributes[3].isOptional = true
        other[3].relationships[0].maxCount = 7
        let second = #expect(throws: StoreError.self) { try open(carsPath, other) }
        #expect(
            second?.sentence.contains(
                "Entities that differ: Car, LuxuryCar, Person, SportCar. Open")
                == true, "\(second?.sentence ?? "")")
    }
}
