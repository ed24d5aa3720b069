// Chains of versions: planned, rehearsed and run.

import CoreDataSQLite
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Planned migrations") struct PlanTests {
    private typealias V = Versions

    private static let first =
        V.entity("Item", "", V.attribute("title"), V.attribute("age", "Integer 64"), V.toMany("tags", "Tag", "items"))
        + V.entity("Tag", "", V.attribute("name"), V.toMany("items", "Item", "tags"))
        + V.entity("Old", "", V.attribute("text"))
    private static let second =
        V.entity(
            "Item", "", V.attribute("title"), V.attribute("count", "Integer 64", "defaultValueString=\"4\""),
            V.toMany("tags", "Tag", "items"))
        + V.entity("Tag", "", V.attribute("name"), V.toMany("items", "Item", "tags"))
    private static let third =
        V.entity(
            "Piece", "elementID=\"Item\"", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\""),
            V.attribute("count", "Integer 64", "defaultValueString=\"4\""), V.toMany("tags", "Tag", "items"))
        + V.entity("Tag", "", V.attribute("name"), V.toMany("items", "Piece", "tags"))

    private func filled(_ versions: V) throws {
        try versions.open(1) { context in
            let tag = context.make("Tag", ["name": "t"])
            for number in 1...3 {
                context.make(
                    "Item",
                    ["title": "i\(number)", "age": number == 3 ? nil : number, "tags": NSSet(object: tag)]
                        .compactMapValues { $0 })
            }
            context.make("Old", ["text": "x"])
            try context.save()
        }
    }

    private var coordinator: NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    }

    @Test(
        "A plan names each step, what changes, the SQL, the objects that are written anew, and what is lost; the store stays as it is"
    )
    func plan() throws {
        let versions = try V(Self.first, Self.second, Self.third)
        try filled(versions)
        let before = try Data(contentsOf: versions.store)
        let plan = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url)
        #expect(try Data(contentsOf: versions.store) == before)
        #expect(
            plan.steps.map { "\($0.from) \($0.to) \($0.kind.rawValue) \($0.rows)" } == [
                "Shop 1 Shop 2 inferred 4", "Shop 2 Shop 3 inferred 0",
            ])
        #expect(
            plan.steps[0].changes.filter(\.isDifference).map { "\($0.entity).\($0.property ?? "") \($0.change)" } == [
                "Item.age was removed (optional Integer 64)", "Item.count was added (required Integer 64)",
                "Old. was removed",
            ])
        let stays = plan.steps[0].changes.filter { !$0.isDifference }.map { "\($0.entity).\($0.property ?? "")" }
        #expect(stays == ["Item.", "Item.tags", "Item.title", "Tag.", "Tag.items", "Tag.name"])
        #expect(
            plan.steps[1].changes.contains {
                $0.entity == "Piece" && $0.property == nil && $0.change.hasPrefix("was called Item")
            })
        #expect(
            plan.steps[1].changes.contains {
                $0.entity == "Piece" && $0.property == "name" && $0.change.hasPrefix("was called title")
            })
        #expect(plan.steps[1].sql.contains { $0.contains("RENAME") } && plan.steps.allSatisfy { !$0.sql.isEmpty })
        #expect(
            plan.lost == [
                .init(entity: "Item", property: "age", rows: 2), .init(entity: "Old", property: nil, rows: 1),
            ])
        #expect(plan.findings.isEmpty)
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        for key in [
            "steps", "from", "to", "kind", "changes", "entity", "property", "change", "sql", "rows", "lost", "findings",
        ] {
            #expect(text.contains("\"\(key)\":"), "\(key)")
        }
    }

    /// The copies that are being migrated now.
    private func rehearsals() throws -> Set<String> {
        let folder = FileManager.default.temporaryDirectory.path
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("CoreDataRehearsal") })
    }

    @Test(
        "A rehearsal finds nothing where nothing is wrong, leaves the store and no copy; the run does what the plan said and keeps a backup"
    )
    func run() throws {
        let versions = try V(Self.first, Self.second, Self.third)
        try filled(versions)
        let plan = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url)
        let others = try rehearsals()
        #expect(try plan.rehearse() == [])
        #expect(try versions.sql("SELECT COUNT(*) FROM ZITEM") == ["3"])
        // Other tests rehearse beside this one; theirs go when they are through.
        for _ in 0..<600 where try !rehearsals().isSubset(of: others) { usleep(100_000) }
        #expect(try rehearsals().isSubset(of: others))
        let backup = versions.folder.file("backup.sqlite")
        var seen: [Double] = []
        try plan.run(backup: backup) { seen.append($0) }
        #expect(seen == [0, 1, 2])
        try versions.open(3, NSSQLiteStoreType, [:]) { context in
            let (names, counts) = try (context.values("Piece", "name"), context.values("Piece", "count"))
            #expect(names == ["i1", "i2", "i3"] && counts == ["4", "4", "4"])
            let tagged = try context.all("Tag").map { ($0.value(forKey: "items") as? NSSet)?.count }
            #expect(tagged == [3])
        }
        _ = try NSPersistentStoreCoordinator(versions.model(1), at: backup)
        let taken = caught { try plan.run(backup: backup) }
        #expect(taken?.number == 134030)
        let done = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url)
        #expect(done.steps.isEmpty && done.lost.isEmpty)
        #expect(try done.rehearse() == [])
    }

    @Test("A rehearsal names each object that would not fit, with its ID and the property")
    func findings() throws {
        let later = V.entity("Item", "", V.attribute("title", "String", "optional=\"YES\" maxValueString=\"2\""))
        let versions = try V(V.entity("Item", "", V.attribute("title"), V.attribute("age", "Integer 64")), later)
        try versions.open(1) { context in
            context.make("Item", ["title": "ok"])
            context.make("Item", ["title": "too long"])
            try context.save()
        }
        let plan = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url)
        let findings = try plan.rehearse()
        #expect(findings.count == 1)
        #expect(
            findings.first?.entity == "Item" && findings.first?.property == "title"
                && findings.first?.id?.hasSuffix("/Item/p2") == true)
        #expect(try versions.sql("SELECT ZAGE IS NULL FROM ZITEM").count == 2, "the store has the first version still")
    }

    @Test("A step that the models do not tell is refused with its name; so is a store whose version is not on the way")
    func refusals() throws {
        let versions = try V(Self.first, Self.second, V.entity("Item", "", V.attribute("title", "Date")))
        try filled(versions)
        let open = caught { _ = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url) }
        #expect(open?.number == 134190)
        #expect(
            open?.sentence.hasPrefix("The step from Shop 2 to Shop 3 failed") == true
                && open?.sentence.contains("Item.title") == true)
        #expect(open?.sentence.contains("the store has the version Shop 1.") == true)
        let short = try coordinator.migrationPlan(
            at: versions.store, toVersionsOf: versions.url, versions: ["Shop 1", "Shop 2"])
        #expect(short.steps.map(\.to) == ["Shop 2"])
        let missing = caught {
            _ = try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url, versions: ["Shop 2"])
        }
        #expect(missing?.number == 134130 && missing?.sentence.contains("Shop 1") == true)
        let unknown = caught {
            _ = try coordinator.migrationPlan(
                at: versions.store, toVersionsOf: versions.url, versions: ["Shop 1", "Shop 9"])
        }
        #expect(unknown?.number == 134020 && unknown?.sentence.contains("Shop 9") == true)
        // A chain that fails midway leaves the last whole version.
        let failed = caught { try coordinator.migrateStore(at: versions.store, toVersionsOf: versions.url) }
        #expect(
            failed?.sentence.hasPrefix("The step from Shop 2 to Shop 3 failed, and the store has the version Shop 2.")
                == true)
        try versions.open(2, NSSQLiteStoreType, [:]) { context in
            let counts = try context.values("Item", "count")
            #expect(counts == ["4", "4", "4"])
        }
    }

    @Test("A chain that fails midway for its rows says which version the store has, and not that it is as it was")
    func midway() throws {
        let linked = V.entity("Tag", "", V.attribute("name"))
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag")) + linked,
            V.entity("Item", "", V.attribute("title"), V.attribute("note"), V.toOne("tag", "Tag")) + linked,
            V.entity("Item", "", V.attribute("title"), V.attribute("note"), V.toOne("tag", "Tag", nil, "")) + linked)
        try versions.open(1) { context in
            context.make("Item", ["title": "x"])
            try context.save()
        }
        let error = caught { try coordinator.migrateStore(at: versions.store, toVersionsOf: versions.url) }
        #expect(error?.number == 134110, "\(error?.sentence ?? "none")")
        #expect(error?.sentence.contains("the store has the version Shop 2.") == true)
        #expect(error?.sentence.contains("as it was") == false && error?.sentence.contains("/Item/p1") == true)
        try versions.open(2, NSSQLiteStoreType, [:]) { context in
            let titles = try context.values("Item", "title")
            #expect(titles == ["x"])
        }
    }

    @Test(
        "A plan of a change that the models do not tell is refused for each type",
        arguments: [NSXMLStoreType, NSBinaryStoreType])
    func refused(_ type: String) throws {
        let versions = try V(
            V.entity("Item", "", V.attribute("age", "Integer 64")), V.entity("Item", "", V.attribute("age")))
        try versions.open(1, type) { context in
            context.make("Item", ["age": 1])
            try context.save()
        }
        let error = caught {
            _ = try coordinator.migrationPlan(
                at: versions.store, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        }
        #expect(error?.number == 134190 && error?.sentence.contains("Item.age") == true)
    }

    @Test("Of versions with equal hashes the one on the way counts as the store's") func equals() throws {
        let index = "<fetchIndex name=\"i\"><fetchIndexElement property=\"title\" type=\"Binary\"/></fetchIndex>"
        let plain = V.entity("Item", "", V.attribute("title"))
        let indexed = V.entity("Item", "", V.attribute("title"), index)
        let versions = try V(plain, indexed, V.entity("Item", "", V.attribute("title"), V.attribute("age", "Date")))
        try versions.open(1) { context in
            context.make("Item", ["title": "x"])
            try context.save()
        }
        func steps(_ names: [String]?) throws -> [String] {
            try coordinator.migrationPlan(at: versions.store, toVersionsOf: versions.url, versions: names).steps.map {
                "\($0.from) \($0.to)"
            }
        }
        #expect(try steps(["Shop 1", "Shop 3"]) == ["Shop 1 Shop 3"])
        #expect(try steps(["Shop 1"]) == [])
        #expect(try steps(nil) == ["Shop 2 Shop 3"])
        #expect(caught { _ = try steps(["Shop 3"]) }?.number == 134130)
        // The current version comes before the other with its hashes.
        let current = "<plist><dict><key>_XCCurrentVersionName</key><string>Shop 1.xcdatamodel</string></dict></plist>"
        try Data(current.utf8).write(to: versions.url.appendingPathComponent(".xccurrentversion"))
        #expect(try steps(nil) == [])
    }

    @Test("Versions follow each other by their numbers", arguments: [NSSQLiteStoreType])
    func order(_ type: String) throws {
        let names = (1...11).map {
            V.entity(
                "Item", "", V.attribute("title"), V.attribute("a\($0)", "Integer 64", "defaultValueString=\"\($0)\""))
        }
        let versions = try V(names)
        try versions.open(2, type) { context in
            context.make("Item", ["title": "x"])
            try context.save()
        }
        let plan = try coordinator.migrationPlan(
            at: versions.store, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        #expect(plan.steps.map(\.to) == (3...11).map { "Shop \($0)" })
        try coordinator.migrateStore(
            at: versions.store, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        try versions.open(11, type, [:]) { context in
            let found = try (context.values("Item", "title"), context.values("Item", "a11"))
            #expect(found == (["x"], ["11"]))
        }
    }
}

@Suite("Fingerprints of values") struct FingerprintTests {
    @Test("A value that changes, goes or moves to another row makes another fingerprint; the order of rows does not")
    func fingerprints() throws {
        let versions = try Versions(Versions.entity("Item", "", Versions.attribute("title")))
        func print(_ change: (NSManagedObjectContext) throws -> Void) throws -> ValueFingerprint {
            try versions.open(1) { context in
                try change(context)
                try context.save()
            }
            return try StoreFile(url: versions.store).fingerprint(
                "SELECT Z_PK, ZTITLE FROM ZITEM WHERE ZTITLE IS NOT NULL")
        }
        func titles(_ titles: String?...) throws -> ValueFingerprint {
            try print { for (item, title) in zip(try $0.all("Item"), titles) { item.setValue(title, forKey: "title") } }
        }
        let first = try print { for title in ["a", "b", "c"] { $0.make("Item", ["title": title]) } }
        #expect(first.count == 3)
        let others = try [titles("b", "a", "c"), titles("a", "b", nil), titles("a", "b", "d")]
        for other in others { #expect(other != first) }
        #expect(others[1].count == 2)
        #expect(try titles("a", "b", "c") == first)
    }
}
