// What every store must do: insertions of rows from a stream.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StoreSpecificationInsertionTests {
    private func part(_ number: Int64?, _ name: String, _ plant: String? = nil, _ row: Int64? = nil) -> [String: Value]
    {
        var values: [String: Value] = ["name": .text(name), "price": .double(1)]
        if let number { values["number"] = .int(number) }
        if let plant { values["plant"] = .text(plant) }
        if let row { values["row"] = .int(row) }
        return values
    }

    @Test("Rows of a stream are numbered and inserted, chunk by chunk", arguments: SetSample.stores)
    func insert(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let old = try subject.insert("Part", [part(100, "old")])
        let outcome = try subject.stream("Part", (Int64(1)...7).map { part($0, "p\($0)") })
        #expect(outcome.count == 7 && outcome.effects == Array(repeating: .inserted, count: 7))
        #expect(Set(outcome.keys + old).count == 8)
        for (place, key) in outcome.keys.enumerated() {
            #expect(
                try subject.row(key) == Found(key: key, version: 1, values: part(Int64(place + 1), "p\(place + 1)")))
        }
        let next = try subject.insert("Part", [part(101, "next")])
        #expect(!outcome.keys.contains(next[0]))
        #expect(outcome.touched.changed.isEmpty && outcome.touched.deleted.isEmpty)
    }

    @Test("A count, keys, or what was done to each row comes back", arguments: SetSample.stores)
    func answers(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let count = try subject.stream("Screw", [part(1, "a"), part(2, "b"), part(3, "c")], .fail, .count)
        #expect(count.count == 3 && count.keys.isEmpty && count.effects.isEmpty)
        let keys = try subject.stream("Screw", [part(4, "a")], .fail, .keys)
        #expect(keys.count == 1 && keys.effects.isEmpty)
        #expect(try subject.row(keys.keys[0])?.values["number"] == .int(4))
        #expect(try subject.stream("Part", []).count == 0)
        #expect(try subject.fetch("Screw").count == 4)
    }

    @Test("Where unique values are taken nothing is written, if the rule is to fail", arguments: SetSample.constrained)
    func fail(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        try subject.insert("Part", [part(7, "old")])
        let before = try subject.all("Part")
        #expect(code { try subject.stream("Part", (Int64(1)...7).map { part($0, "new") }) } == 133021)
        #expect(code { try subject.stream("Part", [part(1, "a"), part(2, "b"), part(1, "c")]) } == 133021)
        #expect(try subject.all("Part") == before)
    }

    @Test("Stored rows stay, if the rule is to keep them", arguments: SetSample.constrained)
    func keep(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let old = try subject.insert("Part", [part(2, "old"), part(4, "old", "x", 1)])
        let rows = [part(1, "a"), part(2, "b"), part(3, "c", "x", 1), part(1, "d"), part(nil, "e"), part(nil, "f")]
        let outcome = try subject.stream("Part", rows, .keep)
        #expect(outcome.effects == [.inserted, .kept, .kept, .kept, .inserted, .inserted])
        #expect(outcome.count == 3)
        #expect(outcome.keys[1] == old[0] && outcome.keys[2] == old[1] && outcome.keys[3] == outcome.keys[0])
        #expect(try subject.row(old[0])?.version == 1)
        #expect(Set(try subject.each("Part", "name")) == Set(["old", "old", "a", "e", "f"].map { .text($0) }))
        #expect(
            try subject.stream("Part", rows, .keep, .count).count == 2, "rows without unique values are new each time")
    }

    @Test(
        "Stored rows take all values, or those named, if the rule is to update them", arguments: SetSample.constrained)
    func update(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        var first = part(2, "old", "x", 1)
        first["isNew"] = .bool(true)
        let old = try subject.insert("Part", [first, part(4, "old")])
        let outcome = try subject.stream("Part", [part(1, "a"), part(2, "b", "x", 1), part(4, "c")], .update(nil))
        #expect(outcome.effects == [.inserted, .updated, .updated])
        #expect(outcome.count == 3 && Array(outcome.keys[1...]) == old && outcome.touched.changed == old)
        #expect(
            try subject.row(old[0])
                == Found(
                    key: old[0], version: 2,
                    values: [
                        "number": .int(2), "name": .text("b"), "price": .double(1), "plant": .text("x"), "row": .int(1),
                    ]))
        var third = part(2, "d", "x", 9)
        third["price"] = .double(8)
        let named = try subject.stream("Part", [third], .update(["price", "isNew"]))
        #expect(named.effects == [.updated])
        let row = try #require(try subject.row(old[0]))
        #expect(row.values["name"] == .text("b") && row.values["price"] == .double(8) && row.values["row"] == .int(1))
        #expect(row.version == 3)
    }

    @Test("A row meets those of the stream before it as it meets stored ones", arguments: SetSample.constrained)
    func meeting(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let outcome = try subject.stream(
            "Part",
            [
                part(1, "a", "x", 1), part(1, "b", "x", 2), part(3, "c", "x", 1), part(3, "d", "x", 1),
                part(1, "e", "y", 1),
            ],
            .update(nil), rowsOfChunk: 3)
        #expect(outcome.effects == [.inserted, .updated, .inserted, .updated, .updated])
        #expect(
            outcome.keys[0] == outcome.keys[1] && outcome.keys[2] == outcome.keys[3]
                && outcome.keys[4] == outcome.keys[0])
        #expect(try subject.row(outcome.keys[0])?.values["name"] == .text("e"))
        #expect(try subject.row(outcome.keys[0])?.version == 3)
        #expect(try subject.each("Part", "plant") == [.text("y"), .text("x")])
        let before = try subject.all("Part")
        #expect(
            code { try subject.stream("Part", [part(5, "f"), part(1, "g", "x", 1)], .update(nil)) } == 133021,
            "one row would have to be two")
        #expect(try subject.all("Part") == before)
    }

    @Test("A row of another entity is kept, and is not updated", arguments: SetSample.constrained)
    func entities(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let screw = try subject.insert("Screw", [part(1, "old")])
        #expect(try subject.stream("Part", [part(1, "a")], .keep).keys == screw)
        #expect(code { try subject.stream("Part", [part(2, "b"), part(1, "a")], .update(nil)) } == 133021)
        #expect(try subject.fetch("Part").count == 1)
    }

    @Test(
        "What the model does not allow is refused, at the last row too, and nothing is written",
        arguments: SetSample.stores)
    func refusals(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firm = try subject.insert("Firm", [["name": .text("a")]])[0]
        let good = (Int64(1)...5).map { part($0, "p") }
        #expect(code { try subject.stream("Part", good + [["name": .text("no price")]]) } == 1570)
        #expect(code { try subject.stream("Badge", [[:], [:], ["firm": target(firm)]]) } == 134060)
        #expect(code { try subject.stream("Part", good, .update(["nothing"])) } == 134060)
        var chunks = [try subject.chunk([(RowKey(entity: try subject.entity("Part").index, number: 0), part(1, "a"))])]
        let broken = SetChange(
            .insert {
                guard let next = chunks.popLast() else { throw CocoaError(.fileReadCorruptFile) }
                return next
            })
        #expect(throws: CocoaError.self) { _ = try subject.store.apply(broken) }
        #expect(try subject.fetch("Part").isEmpty && subject.fetch("Badge").isEmpty)
        try subject.stream("Part", good)
        #expect(try subject.fetch("Part").count == 5)
    }

    @Test(
        "Large values go where the store keeps them, and leave no file behind when the change fails",
        arguments: SetSample.stores)
    func files(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var row = part(1, "a", "x", 1)
        row["plan"] = .data([1] + large)
        let keys = try subject.stream("Part", [row]).keys
        #expect(try subject.external(keys[0], "plan") == large)
        let files = subject.files
        var other = row
        (other["number"], other["row"]) = (.int(2), .int(2))
        #expect(code { try subject.stream("Part", [other, ["name": .text("no price")]], rowsOfChunk: 1) } == 1570)
        #expect(subject.files == files)
        guard maker.keepsConstraints else { return }
        // A row that is kept, and a value that is not among those to be updated, go nowhere.
        try subject.stream("Part", [row, row], .keep)
        try subject.stream("Part", [row], .update(["name"]))
        #expect(subject.files == files)
        row["plan"] = .data(Data([1, 5]))
        try subject.stream("Part", [row], .update(nil))
        #expect(try subject.external(keys[0], "plan") == Data([5]))
        #expect(subject.files.isEmpty)
    }

    @Test(
        "A row of a stream gets a value that an update before it gave up",
        arguments: SetSample.stores.filter(\.keepsConstraints))
    func freed(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        try subject.stream("Part", [part(1, "a", "x", 1)])
        let outcome = try subject.stream(
            "Part", [part(1, "b", "x", 2), part(2, "a", "x", 1), part(3, "c"), part(4, "d")], .update(nil),
            rowsOfChunk: 8)
        #expect(outcome.effects == [.updated, .inserted, .inserted, .inserted])
        #expect(try subject.fetch("Part").count == 4)
    }
}
