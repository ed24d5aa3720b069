// What every store must do: rows, keys, conflicts, sorting.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreSpecificationTests {
    @Test("Every class that takes a role of a store is in the list of this suite")
    func complete() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var text = ""
        for case let file as URL in files where file.pathExtension == "swift" {
            text += try String(contentsOf: file, encoding: .utf8) + "\n"
        }
        let classes = try conformers(in: text)
        #expect(try conformers(in: Self.unusual) == ["One", "Two", "Three", "Four", "Five", "Six"])
        #expect(classes.contains("MemoryStore"))
        // Readers alone: a store with a batch laid over it while that is written, a parent context as its children see it, and a store
        // as pinned contexts see it. SampleStoreTests, ChildContextTests and QueryGenerationTests are about them.
        #expect(classes == Set(StoreMaker.all.map(\.rowsClass)).union(["PendingRows", "ParentRows", "PinnedRows"]))
    }

    /// Each way in which a type may take a role, and two words that are none.
    private static let unusual = """
        final class One: NSObject, StoreReader, Sendable {
        struct Two<T>: Foundation.Cloneable,
            CoreDataValues.StoreWriter where T: Sendable {
        protocol Further: AnyObject, StoreKeeper {}
        typealias Both = Further & Sendable
        extension CoreData.Three: @unchecked Both {
        actor Four: StoreRole {
        class Five: One { final class Six: @retroactive RowStore { func write(_: any StoreReader) {} } }
        class Seven: NSObject { let reader: StoreReader }
        """

    /// The types that take a role themselves, by a protocol or a name that stands for one, or from their class.
    private func conformers(in text: String) throws -> Set<String> {
        var roles: Set = ["RowStore", "StoreReader", "StoreWriter", "StoreKeeper", "StoreRole"]
        var found: Set<String> = []
        while true {
            let known = roles.union(found).joined(separator: "|")
            let further = try names(in: text, "(?:protocol|typealias)\\s+(\\w+)\\s*[:=][^{\\n]*\\b(?:\(known))\\b")
            let types = try names(
                in: text,
                "(?:class|actor|struct|enum|extension)\\s+(?:\\w+\\.)*(\\w+)\\s*(?:<[^>{]*>)?\\s*:[^{]*\\b(?:\(known))\\b"
            )
            let count = roles.count + found.count
            roles.formUnion(further)
            found.formUnion(types.subtracting(roles))
            if roles.count + found.count == count { return found }
        }
    }

    private func names(in text: String, _ pattern: String) throws -> Set<String> {
        let expression = try NSRegularExpression(pattern: pattern)
        let whole = NSRange(text.startIndex..., in: text)
        return Set(
            expression.matches(in: text, range: whole).compactMap {
                Range($0.range(at: 1), in: text).map { String(text[$0]) }
            })
    }

    @Test("Every store type that the library registers is in the list, and both sample stores are")
    func types() throws {
        let own = StoreClasses.all.filter { $0.value is any OwnStore.Type || $0.value == NSPersistentStore.self }
        #expect(Set(own.keys).union([BoxStore.type, ShelfStore.type]) == Set(StoreMaker.all.map(\.type)))
        #expect(own.count == 5 && StoreMaker.all.count == 7)
    }

    @Test("At most ten cases are left out, each with its reason")
    func leftOut() {
        #expect(SpecificationCase.leftOut.count <= 10)
        #expect(SpecificationCase.leftOut.allSatisfy { !$0.reason.isEmpty })
        #expect(SpecificationCase.leftOut.count == 7, "one that is not used any more must go")
    }

    @Test("What is inserted is found, by fetch, by key and by count", arguments: StoreMaker.all)
    func insert(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Item", [["serial": .int(1)], ["serial": .int(2)]])
        let special = try subject.insert("SpecialItem", [["serial": .int(3), "extra": .text("x")]])
        let found = try subject.fetch("Item") { $0.sort = [SortTerm(keyPath: ["serial"])] }
        #expect(found.map(\.key) == keys + special)
        #expect(found.map(\.version) == [1, 1, 1])
        #expect(found.last?.values == ["serial": .int(3), "extra": .text("x")])
        #expect(try subject.fetch("Item") { $0.includesSubentities = false }.map(\.key) == keys)
        #expect(try subject.fetch("SpecialItem").map(\.key) == special)
        #expect(try subject.row(special[0])?.key == special[0])
        #expect(try subject.row(RowKey(entity: keys[0].entity, number: special[0].number))?.key == special[0])
        #expect(try subject.store.count(FetchPlan(entity: keys[0].entity), .latest) == 3)
    }

    @Test("Rows that are not there are left out", arguments: StoreMaker.all)
    func absent(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Note", [["text": .text("a")], ["text": .text("b")]])
        var found: [Found] = []
        try subject.store.rows(for: [keys[1].number, 99, keys[0].number, -1], in: keys[0].entity, .latest) { batch in
            found += subject.found(batch)
            return .more
        }
        #expect(Set(found.map(\.key)) == Set(keys) && found.count == 2)
    }

    @Test("Without values a fetch answers keys, versions and entities", arguments: StoreMaker.all)
    func keysOnly(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("SpecialItem", [["serial": .int(1)]])
        let found = try subject.fetch("Item") { $0.includesValues = false }
        #expect(found == [Found(key: keys[0], version: 1, values: [:])])
    }

    @Test("An update writes its slots and its version and nothing else", arguments: StoreMaker.all)
    func update(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let key = try subject.insert("Item", [["serial": .int(1), "label": .text("a"), "flag": .bool(true)]])[0]
        var batch = ChangeBatch()
        batch.updates = [try subject.update(key, ["label": .text("b"), "flag": .null], expected: 1)]
        try subject.commit(batch)
        #expect(
            try subject.row(key) == Found(key: key, version: 2, values: ["serial": .int(1), "label": .text("b")]))
        batch.updates = [try subject.update(key, [:], expected: 2)]
        try subject.commit(batch)
        #expect(try subject.row(key)?.version == 3)
        #expect(try subject.row(key)?.values["serial"] == .int(1))
    }

    @Test("A deleted row is gone from fetches, counts and keys", arguments: StoreMaker.all)
    func delete(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Note", [[:], [:], [:]])
        var batch = ChangeBatch()
        batch.deletes = [DeleteGroup(entity: keys[0].entity, numbers: [keys[1].number], expected: [1])]
        try subject.commit(batch)
        #expect(try subject.fetch("Note").map(\.key) == [keys[0], keys[2]])
        #expect(try subject.row(keys[1]) == nil)
    }

    @Test("No key is handed out twice, be it used or not", arguments: StoreMaker.all)
    func keys(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        var seen: Set<Int64> = []
        for (entity, count) in [("Item", 3), ("SpecialItem", 70), ("Item", 0), ("Item", 1)] {
            for key in try subject.keys(entity, count) {
                #expect(key.number > 0)
                #expect(seen.insert(key.number).inserted)
            }
        }
        #expect(seen.count == 74)
        let other = try subject.insert("Note", [[:]])[0]
        #expect(try subject.row(other) != nil)
    }

    @Test(
        "A row that must not be there is a conflict with its version if it is, and written if it is not",
        arguments: StoreMaker.all)
    func absence(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Note", [["text": .text("a")], ["text": .text("b")]])
        var again = ChangeBatch()
        again.inserts = [try subject.chunk([(keys[0], ["text": .text("c")])], version: 7)]
        again.absences = [keys[0]]
        let before = try subject.everything()
        let conflicts = try subject.conflicts(again)
        #expect(conflicts.map(\.key) == [keys[0]])
        guard case .changed(version: 1)? = conflicts.first?.kind else { throw Missing() }
        #expect(try subject.everything() == before)
        var batch = ChangeBatch()
        batch.deletes = [DeleteGroup(entity: keys[0].entity, numbers: [keys[0].number], expected: [1])]
        try subject.commit(batch)
        try subject.commit(again)
        #expect(try subject.row(keys[0])?.values == ["text": .text("c")])
    }

    private struct Missing: Error {}

    @Test("A row that another changed or removed is a conflict, and nothing is written", arguments: StoreMaker.all)
    func conflicts(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Note", [["text": .text("a")], ["text": .text("b")], [:]])
        var batch = ChangeBatch()
        batch.updates = [try subject.update(keys[0], ["text": .text("c")], expected: 1)]
        batch.deletes = [DeleteGroup(entity: keys[0].entity, numbers: [keys[1].number], expected: [1])]
        try subject.commit(batch)
        let before = try subject.everything()
        var stale = ChangeBatch()
        stale.inserts = [try subject.chunk([(try subject.keys("Note", 1)[0], ["text": .text("new")])])]
        stale.updates = [
            try subject.update(keys[0], ["text": .text("d")], expected: 1),
            try subject.update(keys[2], ["text": .text("e")], expected: 1),
        ]
        stale.deletes = [DeleteGroup(entity: keys[1].entity, numbers: [keys[1].number], expected: [1])]
        let kinds = Dictionary(
            try subject.conflicts(stale).map { ($0.key, "\($0.kind) \($0.expected)") }, uniquingKeysWith: { $0 + $1 })
        #expect(kinds == [keys[0]: "changed(version: 2) 1", keys[1]: "deleted 1"])
        #expect(try subject.everything() == before)
    }

    @Test(
        "A constraint refuses a value that is taken, null aside, and says which",
        arguments: StoreMaker.all(for: .constraints))
    func constraints(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Person", [["name": .text("Ann")], [:], [:], ["name": .text("\u{e9}")]])
        let before = try subject.everything()
        var batch = ChangeBatch()
        let clash = try subject.keys("Employee", 1)[0]
        batch.inserts = [try subject.chunk([(clash, ["name": .text("Ann")])])]
        batch.inserts.append(try subject.chunk([(try subject.keys("Person", 1)[0], ["name": .text("Bob")])]))
        let conflict = try #require(try subject.conflicts(batch).first)
        #expect(conflict.key == clash)
        guard case .constraint(["name"]) = conflict.kind else {
            Issue.record("\(conflict.kind)")
            return
        }
        #expect(try subject.everything() == before)
        try subject.insert("Person", [["name": .text("ann")], ["name": .text("e\u{301}")]])
    }

    @Test(
        "Two rows of one batch cannot take one value, and a value given up is free",
        arguments: StoreMaker.all(for: .constraints))
    func constraintsInBatch(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        var twice = ChangeBatch()
        let keys = try subject.keys("Person", 2)
        twice.inserts = [try subject.chunk(keys.map { ($0, ["name": .text("Ann")]) })]
        #expect(try !subject.conflicts(twice).isEmpty)
        #expect(try subject.fetch("Person").isEmpty)
        let ann = try subject.insert("Person", [["name": .text("Ann")]])[0]
        var rename = ChangeBatch()
        rename.updates = [try subject.update(ann, ["name": .text("Eve")], expected: 1)]
        try subject.commit(rename)
        try subject.insert("Person", [["name": .text("Ann")]])
        #expect(try subject.fetch("Person").count == 2)
    }

    @Test(
        "Null sorts first and texts by their scalars, both ways, ties by key", arguments: StoreMaker.all, [true, false])
    func sort(_ maker: StoreMaker, _ ascending: Bool) throws {
        let subject = try Subject(maker)
        let texts = ["b", "B", "\u{e9}", "e\u{301}", "z", "\u{ffff}", "\u{1f600}", "", "a\u{0}b", "a", "10", "9"]
        try subject.insert("Note", texts.map { ["text": .text($0)] } + [[:]])
        let found = try subject.fetch("Note") { $0.sort = [SortTerm(keyPath: ["text"], isAscending: ascending)] }
        let scalars: [String?] =
            [nil] + texts.sorted { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) }
        let order = found.map { found -> [UInt8]? in
            guard case .text(let text)? = found.values["text"] else { return nil }
            return Array(text.utf8)
        }
        #expect(order == (ascending ? scalars : scalars.reversed()).map { $0.map { Array($0.utf8) } })
    }

    @Test("Several terms and paths of to-ones sort, a broken path as null", arguments: StoreMaker.all)
    func sortPaths(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let people = try subject.insert("Person", [["name": .text("Zoe")], ["name": .text("Ann")]])
        try subject.insert(
            "Item",
            [
                ["serial": .int(1), "owner": target(people[0])], ["serial": .int(2)],
                ["serial": .int(3), "owner": target(people[1])], ["serial": .int(4), "owner": target(people[0])],
            ])
        let found = try subject.fetch("Item") {
            $0.sort = [
                SortTerm(keyPath: ["owner", "name"]), SortTerm(keyPath: ["serial"], isAscending: false),
            ]
        }
        #expect(found.map { $0.values["serial"] } == [2, 3, 4, 1].map { Value.int($0) })
    }

    @Test(
        "Limit and offset cut the sorted result", arguments: StoreMaker.all,
        [(0, 0), (3, 0), (3, 2), (0, 4), (9, 3), (2, 99), (300, 1)])
    func limits(_ maker: StoreMaker, _ cut: (limit: Int, offset: Int)) throws {
        let subject = try Subject(maker)
        try subject.insert("Item", (0..<6).map { ["serial": .int($0)] })
        var plan = FetchPlan(entity: try subject.entity("Item").index)
        plan.sort = [SortTerm(keyPath: ["serial"], isAscending: false)]
        plan.limit = cut.limit
        plan.offset = cut.offset
        let rest = (0..<6).reversed().dropFirst(cut.offset)
        let expected = cut.limit == 0 ? Array(rest) : Array(rest.prefix(cut.limit))
        #expect(try subject.fetch(plan).map { $0.values["serial"] } == expected.map { .int(Int64($0)) })
        #expect(try subject.store.count(plan, .latest) == expected.count)
    }

    @Test("A large mixed result keeps its order over batches, and stops when told", arguments: StoreMaker.all)
    func batches(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        for start in stride(from: 0, to: 600, by: 100) {
            let name = start % 200 == 0 ? "Item" : "SpecialItem"
            try subject.insert(name, (0..<100).map { ["serial": .int(Int64(($0 * 7 + start) % 600))] })
        }
        var plan = FetchPlan(entity: try subject.entity("Item").index)
        plan.sort = [SortTerm(keyPath: ["serial"])]
        let found = try subject.fetch(plan)
        let numbers = found.compactMap { found -> Int64? in
            if case .int(let number)? = found.values["serial"] { number } else { nil }
        }
        #expect(numbers.count == 600 && numbers == numbers.sorted())
        var calls = 0
        try subject.store.fetch(plan, .latest) { _ in
            calls += 1
            return .stop
        }
        #expect(calls == 1)
    }

    @Test("Metadata names the store and keeps what the application puts there", arguments: StoreMaker.all)
    func metadata(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        var metadata = try subject.store.metadata()
        #expect(UUID(uuidString: metadata.uuid) != nil && metadata.uuid == metadata.uuid.uppercased())
        #expect(Set(metadata.versionHashes.keys) == Set(subject.schema.entities.map(\.name)))
        let info = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
        metadata.userInfo = info
        try subject.store.setMetadata(metadata)
        try subject.insert("Note", [[:]])
        let kept = try #require(try subject.store.metadata().userInfo)
        let read = try PropertyListSerialization.propertyList(from: kept, format: nil) as? [String: Int]
        #expect(read == ["a": 1])
    }

    @Test("A closed store throws", arguments: StoreMaker.all)
    func close(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let key = try subject.insert("Note", [[:]])[0]
        try subject.store.close()
        #expect(throws: StoreError.self) { try subject.fetch("Note") }
        var batch = ChangeBatch()
        batch.deletes = [DeleteGroup(entity: key.entity, numbers: [key.number], expected: [1])]
        #expect(throws: StoreError.self) { try subject.store.commit(batch) }
    }

    @Test("A fetch by what the entity does not have throws and names it", arguments: StoreMaker.all)
    func unknownKeys(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let error = #expect(throws: StoreError.self) {
            try subject.fetch("Note") { $0.sort = [SortTerm(keyPath: ["colour"])] }
        }
        #expect(error?.sentence.contains("colour") == true)
        #expect(throws: StoreError.self) {
            try subject.fetch("Person") { $0.sort = [SortTerm(keyPath: ["items", "serial"])] }
        }
    }
}
