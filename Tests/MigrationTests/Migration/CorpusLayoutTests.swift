// Files of Core Data's own, migrated by us and by it.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// What a file of Core Data's has: its definitions in the order in which they were made, its entities, and its metadata.
struct StoreExtract {
    let name: String
    let model: URL
    let definitions: [(type: String, name: String, sql: String)]
    let entities: [(number: Int, name: String, parent: Int, last: Int)]
    let metadata: [String: Any]

    init?(_ file: URL) {
        guard let data = try? Data(contentsOf: file),
            let all = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let source = all["source_model"] as? String, let path = source.range(of: "/corpus/"),
            let definitions = all["ddl"] as? [[Any]], let entities = all["primarykey"] as? [[Any]],
            let metadata = StoreExtract.value(all["metadata"]) as? [String: Any]
        else { return nil }
        name = file.deletingPathExtension().lastPathComponent
        model = Corpus.root.appendingPathComponent(String(source[path.upperBound...])).deletingLastPathComponent()
        self.metadata = metadata
        self.definitions = definitions.compactMap { row in
            guard let sql = row[3] as? String else { return nil }
            return (row[0] as? String ?? "", row[1] as? String ?? "", sql)
        }
        self.entities = entities.map { row in
            ((row[0] as? Int) ?? 0, (row[1] as? String) ?? "", (row[2] as? Int) ?? 0, (row[3] as? Int) ?? 0)
        }
    }

    private static func value(_ json: Any?) -> Any? {
        switch json {
        case let object as [String: Any]:
            if let text = object["$b64"] as? String { return Data(base64Encoded: text) }
            return object.compactMapValues { value($0) }
        case let list as [Any]: return list.compactMap { value($0) }
        default: return json
        }
    }

    /// The file without its rows.
    func make(_ url: URL) throws {
        let file = try SQLiteFile(url, for: .making)
        for definition in definitions { try file.run(definition.sql) }
        for entity in entities {
            try file.run(
                "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.number), '\(entity.name)', \(entity.parent), \(entity.last))"
            )
        }
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let bytes = list.map { String(format: "%02x", $0) }.joined()
        try file.run("INSERT INTO Z_METADATA VALUES (1, '5A0D4A4C-7C4A-4E0B-9C55-2C0B5B1D3A11', x'\(bytes)')")
    }
}

@Suite("Layout of migrated files") struct CorpusLayoutTests {
    private static var extracts: [StoreExtract] {
        let folder = Corpus.root.appendingPathComponent("store-extracts/wireapp+wire-ios-data-model/Tests/Resources")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .compactMap { StoreExtract(folder.appendingPathComponent($0)) }
    }

    @Test(
        "13.3 Files that Core Data has migrated, migrated by us from one to the next, have its tables to the letter, and its numbers",
        .enabled(if: Corpus.isPresent))
    func steps() throws {
        let all = Self.extracts
        // What a chain of migrations has left: only it has renamed tables.
        let migrated = all.filter { extract in extract.definitions.contains { $0.sql.hasPrefix("CREATE TABLE \"Z_") } }
        var (same, lines) = (0, [String]())
        for (former, later) in zip(migrated, migrated.dropFirst()) {
            let versions = try Versions([])
            try former.make(versions.store)
            let coordinator = try NSPersistentStoreCoordinator(
                NSManagedObjectModel(loading: later.model), at: versions.store, options: Versions.automatic)
            try coordinator.close()
            let numbers = try versions.sql(
                "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
            #expect(
                numbers
                    == later.entities.filter { $0.number < 16000 }.sorted { $0.number < $1.number }.map {
                        "\($0.number)|\($0.name)|\($0.parent)"
                    })
            let found = try Self.differences(versions, later, from: former)
            if found.isEmpty { same += 1 }
            // After which side it has named a self-referring pair is not known.
            let strange = found.filter { !$0.contains("TRUSTEDCLIENTS") && !$0.contains("TRUSTEDBYCLIENTS") }
            #expect(strange.isEmpty, "\(former.name) → \(later.name)")
            lines += found.map { "\(former.name) → \(later.name): \($0)" }
        }
        print(
            "\(all.count) files of Core Data's with their models, \(migrated.count) of them migrated by it; of \(migrated.count - 1) steps \(same) the same"
        )
        for line in lines { print(line) }
        #expect(migrated.count > 10 && same > 5)
    }

    @Test(
        "Files of Core Data's are opened with the models beside their rows, also with those that were made in code",
        .enabled(if: Corpus.isPresent))
    func cachedModels() throws {
        var (opened, refused) = (0, [String]())
        for place in try Corpus.files(below: "stores", { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }) {
            guard let head = try? FileHandle(forReadingFrom: place).read(upToCount: 6), head == Data("SQLite".utf8),
                place.lastPathComponent.contains("SampleModel2") || place.lastPathComponent == "DataUsage.sqlite"
            else { continue }
            do {
                let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: place)
                let coordinator = try NSPersistentStoreCoordinator(
                    model, at: place, options: [NSReadOnlyPersistentStoreOption: true])
                try coordinator.close()
                opened += 1
            } catch { refused.append("\(place.path): \(error)") }
        }
        #expect(opened >= 2 && refused == [])
    }

    /// Of all projects, in the order of their paths.
    private static var everything: [StoreExtract] {
        let folder = Corpus.root.appendingPathComponent("store-extracts")
        let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (walk?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "json" }.sorted {
            $0.path < $1.path
        }
        .compactMap { StoreExtract($0) }
    }

    /// The version before the one of a file, by name; nil for the first one, or for a model that is not there.
    private static func previous(_ extract: StoreExtract) -> URL? {
        let package = extract.model.deletingLastPathComponent()
        guard package.pathExtension == "xcdatamodeld" else { return nil }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: package.path)) ?? []).filter {
            $0.hasSuffix(".xcdatamodel")
        }
        .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        guard let place = names.firstIndex(of: extract.model.lastPathComponent), place > 0 else { return nil }
        return package.appendingPathComponent(names[place - 1])
    }

    private func open(_ versions: Versions, _ model: URL) throws {
        let coordinator = try NSPersistentStoreCoordinator(
            NSManagedObjectModel(loading: model), at: versions.store, options: Versions.automatic)
        try coordinator.close()
    }

    /// What differs by the age of the file, not by its migration: these were written before indexes had names of their own.
    private static let legacy = [
        "DefaultData.sqlite (Model 6.xcdatamodel)", "SampleModelV1.sqlite (SampleModel2.xcdatamodel)",
    ]

    @Test(
        "13.3 Files of other projects whose model and the one before it are there: a store of the one before becomes what they are",
        .enabled(if: Corpus.isPresent))
    func projects() throws {
        var (same, new, refused, renamed, strange) = ([String](), [String](), [String](), [String](), [String]())
        for extract in Self.everything where !extract.name.hasSuffix(".wiredatabase") {
            let hashes = extract.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
            guard let previous = Self.previous(extract), (try? NSManagedObjectModel(loading: previous)) != nil,
                try NSManagedObjectModel(loading: extract.model).schema().fits(hashes)
            else { continue }
            let title = "\(extract.name) (\(extract.model.lastPathComponent))"
            let (fresh, migrated) = (try Versions([]), try Versions([]))
            try open(fresh, extract.model)
            try open(migrated, previous)
            guard (try? open(migrated, extract.model)) != nil else {
                refused.append(title)
                continue
            }
            let numbers = try migrated.sql("SELECT Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
            let entities = extract.entities.filter { $0.number < 16000 }.sorted { $0.number < $1.number }
            #expect(numbers == entities.map { "\($0.number)|\($0.parent)" })
            // Of an entity that another version renames, these files have the former name beside its number.
            let names = try migrated.sql("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
            renamed += zip(names, entities).filter { $0 != $1.name }.map { "\(title) → \($1.name) is \($0)" }
            let found = try Self.differences(migrated, extract, from: extract)
            // A file that was never migrated has the columns in the order of a new one.
            if found.isEmpty {
                same.append(title)
            } else if try Self.differences(fresh, extract, from: extract).isEmpty {
                new.append(title)
            } else {
                if !Self.legacy.contains(title) { strange += found.map { "\(title): \($0)" } }
                for difference in found { print("\(title) → \(difference)") }
            }
        }
        print(
            "of other files of Core Data's with two versions \(same.count) are as a migrated store, \(new.count) as a new one, \(refused.count) not inferred"
        )
        for difference in renamed { print(difference) }
        #expect(strange == [] && same.count + new.count == 11 && same.count >= 9)
        #expect(renamed.count == 3 && renamed.allSatisfy { $0.hasSuffix("ExpensiveSportCar is LuxuryCar") })
        #expect(refused == ["BeamExport.sqlite (Beam2.xcdatamodel)"])
    }

    private static func differences(_ versions: Versions, _ later: StoreExtract, from former: StoreExtract) throws
        -> [String]
    {
        let rows = try versions.sql("SELECT name, replace(sql, char(10), ' ') FROM sqlite_master WHERE sql IS NOT NULL")
        let ours = Dictionary(
            rows.map { row in
                let parts = row.split(separator: "|", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { first, _ in first })
        let theirs = Dictionary(later.definitions.map { ($0.name, $0.sql) }, uniquingKeysWith: { first, _ in first })
        let before = Set(former.definitions.map(\.name))
        return Set(ours.keys).union(theirs.keys).sorted().compactMap { name in
            switch (ours[name], theirs[name]) {
            case (let own?, let their?): own == their ? nil : "\(name): ours \(own) · theirs \(their)"
            case (_?, nil): "only ours: \(name)\(before.contains(name) ? ", as before" : "")"
            case (nil, let their?): "only theirs: \(their)\(before.contains(name) ? ", as before" : "")"
            case (nil, nil): nil
            }
        }
    }
}
