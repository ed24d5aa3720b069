// `coredata migrate --matrix`.

import CoreData
import Foundation
import Testing

@Suite("coredata migrate --matrix")
struct MatrixTests {
    private let program: CommandProgram
    private var model: URL { program.folder.appendingPathComponent("Yard.xcdatamodeld") }

    /// The second version renames and requires with a default, the third changes a type.
    init() throws {
        program = try CommandProgram()
        let owner = """
            <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Owner" inverseName="boats" inverseEntity="Boat"/></entity>
            <entity name="Owner"><attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="boats" optional="YES" toMany="YES" ordered="YES" destinationEntity="Boat" inverseName="owner" inverseEntity="Owner"/>
            """
        let boats = [
            #"<attribute name="length" optional="YES" attributeType="Integer 16"/>"#,
            #"<attribute name="size" attributeType="Integer 16" defaultValueString="3" elementID="length"/>"#,
            #"<attribute name="size" attributeType="Double" defaultValueString="3" elementID="length"/>"#,
        ]
        for (number, boat) in boats.enumerated() {
            let version = model.appendingPathComponent("Yard \(number + 1).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try Data("<model><entity name=\"Boat\">\(boat)\(owner)</entity></model>".utf8).write(
                to: version.appendingPathComponent("contents"))
        }
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let plist = ["_XCCurrentVersionName": "Yard 3.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0).write(
            to: model.appendingPathComponent(".xccurrentversion"))
    }

    @Test("Every version is tried against the next and the current one, and a refusal is printed with its rule")
    func table() throws {
        let answer = try program.run(["migrate", "--matrix", model.path])
        #expect(answer.status == 0, "\(answer)")
        let lines = answer.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "Yard 1 → Yard 2  migrated, objects: 6")
        for line in lines.dropFirst() {
            #expect(line.contains("refused: ") && line.contains("Boat.size was Integer 16 and is Double"))
        }
    }

    @Test(
        "A version that cannot be read is a failure, told by the file that was given; a version alone has no pair and is none"
    )
    func broken() throws {
        let alone = model.appendingPathComponent("Yard 1.xcdatamodel")
        #expect(try program.run(["migrate", "--matrix", alone.path]).status == 0)
        let broken = model.appendingPathComponent("Yard 2.xcdatamodel/contents")
        try Data("<model><entity".utf8).write(to: broken)
        let answer = try program.run(["migrate", "--matrix", model.path])
        #expect(answer.status == 1 && answer.output.contains("Yard 2   has no store: \(broken.path)"), "\(answer)")
    }

    @Test(
        "The stores stay where they were asked for, with the lowest and the highest values and full relationships; a refusal changes no byte"
    )
    func stores() throws {
        let folder = program.folder.appendingPathComponent("stores")
        let answer = try program.run(["migrate", "--matrix", model.path, "--stores", folder.path, "--json"])
        #expect(answer.status == 0, "\(answer)")
        let report = try #require(JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
        let pairs = try #require(report["pairs"] as? [[String: Any]])
        #expect(pairs.compactMap { $0["outcome"] as? String } == ["migrated", "refused", "refused"])
        for pair in pairs where pair["outcome"] as? String == "refused" {
            #expect(pair["code"] as? Int == 134190 && pair["isTouched"] as? Bool == false)
            let files = try ["before", "after"].map {
                try Data(contentsOf: URL(fileURLWithPath: #require(pair[$0] as? String)))
            }
            #expect(files[0] == files[1])
        }
        let after = try #require(pairs[0]["after"] as? String)
        let second = try NSManagedObjectModel(loading: model.appendingPathComponent("Yard 2.xcdatamodel"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: second)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: after))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let boats = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Boat"))
            #expect(Set(boats.compactMap { $0.value(forKey: "size") as? Int }) == [Int(Int16.min), Int(Int16.max), 3])
            #expect(boats.allSatisfy { $0.value(forKey: "owner") != nil })
        }
        try coordinator.close()
    }

    @Test("A model that is not there is a failure in words, and --matrix goes with no store")
    func wrong() throws {
        let missing = try program.run([
            "migrate", "--matrix", program.folder.appendingPathComponent("No.xcdatamodeld").path,
        ])
        #expect(missing.status == 1 && missing.errors.contains("there is no model here"))
        #expect(try program.run(["migrate", "store.sqlite", "--matrix", model.path]).status == 2)
        #expect(try program.run(["migrate", "store.sqlite"]).status == 2)
    }
}
