// What every store must do: updates of all rows that a query finds.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StoreSpecificationUpdateTests {
    private func parts(_ subject: Subject, _ count: Int = 5) throws -> [RowKey] {
        try subject.insert(
            "Part",
            (1...count).map { ["number": .int(Int64($0)), "name": .text("p\($0)"), "price": .double(Double($0))] })
    }

    @Test(
        "All rows of the query get constants and what is computed of their values before; the others stay",
        arguments: SetSample.stores)
    func values(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let keys = try parts(subject)
        let outcome = try subject.set(
            "Part", compare(path("number"), .greaterOrEqual, int(4)),
            [
                ("name", text("x")), ("price", call("multiply:by:", path("price"), real(1.5))),
                ("number", call("add:to:", path("number"), int(10))), ("row", path("number")),
                ("made", .constant(.date(5))),
            ])
        #expect(outcome.count == 2)
        #expect(outcome.keys == Array(keys[3...]))
        #expect(outcome.effects == [.updated, .updated])
        #expect(Set(outcome.touched.changed) == Set(keys[3...]))
        #expect(
            try subject.row(keys[4])
                == Found(
                    key: keys[4], version: 2,
                    values: [
                        "number": .int(15), "name": .text("x"), "price": .double(7.5), "row": .int(5), "made": .date(5),
                    ]))
        #expect(try subject.row(keys[2])?.version == 1)
        #expect(try subject.row(keys[2])?.values["name"] == .text("p3"))
    }

    @Test("A count, keys, or what was done to each row comes back", arguments: SetSample.stores)
    func answers(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let keys = try parts(subject)
        let count = try subject.set("Part", nil, [("name", text("a"))], .count)
        #expect(count.count == 5 && count.keys.isEmpty && count.effects.isEmpty)
        #expect(count.touched.entities.contains(keys[0].entity))
        let named = try subject.set("Part", nil, [("name", text("b"))], .keys)
        #expect(named.count == 5 && named.keys == keys && named.effects.isEmpty)
        #expect(named.touched.entities.isEmpty || maker.rowsClass == "SQLiteStore")
        let none = try subject.set("Part", compare(path("name"), .equal, text("?")), [("name", text("c"))])
        #expect(none.count == 0 && none.keys.isEmpty && none.effects.isEmpty)
        #expect(try subject.row(keys[0])?.version == 3)
    }

    @Test("Order, limit and offset choose the rows", arguments: SetSample.stores)
    func window(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let keys = try parts(subject)
        let outcome = try subject.set("Part", nil, [("name", text("last"))]) { plan in
            plan.sort = [SortTerm(keyPath: ["number"], isAscending: false)]
            (plan.limit, plan.offset) = (2, 1)
        }
        #expect(outcome.keys == [keys[2], keys[3]])
        #expect(try subject.each("Part", "name").filter { $0 == .text("last") }.count == 2)
    }

    @Test("Subentities are in it, or are left out", arguments: SetSample.stores)
    func subentities(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        _ = try parts(subject, 2)
        let screws = try subject.insert("Screw", [["number": .int(9), "price": .double(1), "pitch": .double(2)]])
        #expect(try subject.set("Part", nil, [("name", text("a"))]) { $0.includesSubentities = false }.count == 2)
        #expect(try subject.row(screws[0])?.values["name"] == nil)
        #expect(try subject.set("Part", nil, [("name", text("b"))]).count == 3)
        #expect(try subject.row(screws[0])?.values["name"] == .text("b"))
        #expect(try subject.set("Screw", nil, [("price", path("pitch")), ("name", text("c"))]).keys == screws)
        #expect(try subject.row(screws[0])?.values["price"] == .double(2))
        #expect(try subject.each("Part", "name").filter { $0 == .text("b") }.count == 2)
    }

    @Test("Numbers take the form of their attribute", arguments: SetSample.stores)
    func numbers(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let key = try parts(subject, 1)[0]
        try subject.set(
            "Part", nil,
            [
                ("number", real(7)), ("price", int(3)), ("weight", real(0.1)), ("cost", real(2.5)), ("isNew", int(1)),
                ("row", call("multiply:by:", path("number"), real(2.75))),
            ])
        let row = try #require(try subject.row(key))
        #expect(row.values["number"] == .int(7) && row.values["row"] == .int(2))
        #expect(row.values["price"] == .double(3) && row.values["isNew"] == .bool(true))
        #expect(row.values["weight"] == .double(Double(Float(0.1))))
        #expect(row.values["cost"] == .decimal(2.5))
        try subject.set(
            "Part", nil,
            [
                ("weight", call("divide:by:", path("price"), real(7))),
                ("cost", call("divide:by:", path("price"), real(4))),
                ("price", path("row")),
            ])
        let next = try #require(try subject.row(key))
        #expect(next.values["weight"] == .double(Double(Float(3.0 / 7))))
        #expect(next.values["cost"] == .decimal(0.75) && next.values["price"] == .double(2))
    }

    @Test("What is computed as nothing is nil, and what does not fit is refused", arguments: SetSample.stores)
    func edges(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let key = try parts(subject, 1)[0]
        try subject.set("Part", nil, [("row", call("divide:by:", path("number"), int(0)))])
        #expect(try subject.row(key)?.values["row"] == nil)
        #expect(code { try subject.set("Part", nil, [("price", call("add:to:", path("row"), int(1)))]) } == 1570)
        #expect(
            code {
                try subject.set(
                    "Part", nil, [("number", call("multiply:by:", path("number"), int(.max))), ("name", text("?"))])
            } == nil)
        #expect(
            code { try subject.set("Part", nil, [("number", call("multiply:by:", path("number"), int(3)))]) }
                == 134060)
        #expect(try subject.row(key)?.values["number"] == .int(.max))
        // Of fewer bits than were calculated with.
        #expect(
            code { try subject.set("Part", nil, [("row", call("from:subtract:", path("number"), int(1)))]) }
                == 134060)
        #expect(code { try subject.set("Part", nil, [("row", path("number"))]) } == 134060)
        #expect(try subject.row(key)?.version == 3)
    }

    @Test("Values in files of their own are written, read and replaced", arguments: SetSample.stores)
    func files(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let keys = try parts(subject, 2)
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try subject.set("Part", nil, [("plan", .constant(.data(large)))])
        for key in keys { #expect(try subject.external(key, "plan") == large) }
        try subject.set("Part", nil, [("plan", .constant(.data(Data([1, 2, 3]))))])
        for key in keys { #expect(try subject.external(key, "plan") == Data([1, 2, 3])) }
        try subject.set("Part", nil, [("plan", .constant(.null))])
        #expect(try subject.row(keys[0])?.values["plan"] == nil)
        #expect(subject.files.isEmpty, "\(subject.files)")
    }

    @Test("Rows can exchange unique values, and two cannot have one", arguments: SetSample.constrained)
    func unique(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        _ = try parts(subject)
        try subject.set("Part", nil, [("number", call("add:to:", path("number"), int(1)))])
        #expect(try subject.each("Part", "number") == (2...6).map { .int($0) })
        let before = try subject.all("Part")
        #expect(code { try subject.set("Part", nil, [("number", int(7))]) } == 133021)
        #expect(
            code { try subject.set("Part", compare(path("number"), .equal, int(2)), [("number", int(3))]) }
                == 133021)
        #expect(
            code { try subject.set("Part", nil, [("number", call("modulus:by:", path("number"), int(2)))]) }
                == 133021)
        #expect(try subject.all("Part") == before)
    }

    @Test(
        "A to-one is assigned an object or nil; new members of an order stand behind the others",
        arguments: SetSample.stores)
    func toOnes(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        let badges = try subject.insert(
            "Badge", (0..<4).map { ["number": .int($0), "firm": target(firms[$0 == 3 ? 1 : 0])] })
        var batch = ChangeBatch()
        batch.orders = [
            OrderChange(
                relationship: try subject.relationship("Firm", "badges"), owner: firms[0],
                members: [badges[2], badges[0], badges[1]])
        ]
        try subject.commit(batch)
        try subject.set(
            "Badge", compare(path("number"), .greaterOrEqual, int(1)), [("firm", .constant(target(firms[0])))])
        #expect(
            try subject.members("Firm", "badges", of: firms[0])
                == [badges[2], badges[0], badges[1], badges[3]].map(\.number))
        #expect(try subject.members("Firm", "badges", of: firms[1]).isEmpty)
        try subject.set("Badge", compare(path("number"), .equal, int(0)), [("firm", .constant(.null))])
        #expect(try subject.members("Firm", "badges", of: firms[0]) == [badges[2], badges[1], badges[3]].map(\.number))
        let units = try subject.insert("Unit", [["size": .int(1)]])
        let departments = try subject.insert("Department", [[:], [:]])
        try subject.set("Department", nil, [("above", .constant(target(units[0])))]) { $0.includesSubentities = false }
        #expect(Set(try subject.members("Department", "below", of: units[0])) == Set(departments.map(\.number)))
        #expect(try subject.row(departments[0])?.version == 2)
    }

    @Test("A one-to-one that ends, ends on both sides", arguments: SetSample.stores)
    func oneToOnes(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let (firms, bosses) = (try subject.keys("Firm", 2), try subject.keys("Boss", 2))
        var batch = ChangeBatch()
        batch.inserts = [
            try subject.chunk(zip(firms, bosses).map { ($0, ["boss": target($1)]) }),
            try subject.chunk(zip(firms, bosses).map { ($1, ["firm": target($0)]) }),
        ]
        try subject.commit(batch)
        let outcome = try subject.set("Firm", nil, [("boss", .constant(.null))])
        #expect(try subject.all("Firm", "Boss").map(\.values) == [[:], [:], [:], [:]])
        #expect(try subject.all("Firm", "Boss").map(\.version) == [2, 2, 2, 2])
        #expect(Set(outcome.touched.changed) == Set(firms + bosses) && outcome.count == 2)
    }

    @Test("What cannot be assigned is refused alike, and nothing is written", arguments: SetSample.stores)
    func refusals(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        _ = try parts(subject, 2)
        let firm = try subject.insert("Firm", [["name": .text("a")]])[0]
        let before = try subject.all("Part", "Firm")
        let wrong: [(String, [(String, Expression)], Int)] = [
            ("Part", [], 134060),
            ("Part", [("nothing", int(1))], 134060),
            ("Part", [("number", int(1)), ("number", int(2))], 134060),
            ("Part", [("number", text("1"))], 134060),
            ("Part", [("number", real(1.5))], 134060),
            ("Part", [("row", int(1 << 40))], 134060),
            ("Part", [("name", int(1))], 134060),
            ("Part", [("name", path("number"))], 134060),
            ("Part", [("made", path("number"))], 134060),
            ("Part", [("price", path("made"))], 134060),
            ("Part", [("isNew", path("number"))], 134060),
            ("Part", [("name", path("plan"))], 134060),
            ("Part", [("price", .constant(.null))], 1570),
            ("Part", [("name", path("missing"))], 134060),
            ("Firm", [("badges", .constant(.null))], 134060),
            ("Firm", [("boss", .constant(target(firm)))], 134060),
            (
                "Firm", [("boss", .constant(target(RowKey(entity: try subject.entity("Boss").index, number: 1))))],
                134060
            ),
            ("Badge", [("firm", path("firm"))], 134060),
            ("Badge", [("firm", .constant(target(RowKey(entity: firm.entity, number: 999))))], 133000),
            ("Ticket", [("firm", .constant(.null))], 1570),
        ]
        for (entity, values, expected) in wrong {
            #expect(code { try subject.set(entity, nil, values) } == expected, "\(entity) \(values)")
        }
        #expect(
            code { try subject.set("Part", compare(path("nothing"), .equal, int(1)), [("name", text("x"))]) }
                == 134060)
        #expect(try subject.all("Part", "Firm") == before)
    }

    @Test(
        "Derived values follow insertions, updates and deletions of sets", arguments: StoreMaker.all(for: .derivation))
    func derived(_ maker: StoreMaker) throws {
        let subject = try Subject(maker, draft: StoreSpecificationDerivedTests.draft)
        let albums = try subject.stream("Album", [["title": .text("ÉTÉ")], ["title": .text("B")]]).keys
        #expect(try subject.each("Album", "key") == [.text("ete"), .text("b")])
        #expect(try subject.each("Album", "songCount") == [.int(0), .int(0)])
        let songs = try subject.stream("Song", (1...3).map { ["length": .double(Double($0))] }).keys
        let outcome = try subject.set(
            "Song", compare(path("length"), .less, real(3)), [("album", .constant(target(albums[0])))])
        #expect(outcome.touched.changed.contains(albums[0]) && outcome.keys == Array(songs[..<2]))
        #expect(try subject.each("Album", "songCount") == [.int(2), .int(0)])
        #expect(try subject.each("Album", "length") == [.double(3), .double(0)])
        #expect(try subject.each("Song", "albumTitle") == [.text("ÉTÉ"), .text("ÉTÉ"), nil])
        let renamed = try subject.set("Album", nil, [("title", call("uppercase:", path("key")))], .count)
        #expect(renamed.touched.entities.contains(albums[0].entity))
        #expect(try subject.each("Album", "key") == [.text("ete"), .text("b")])
        #expect(try subject.each("Album", "title") == [.text("ETE"), .text("B")])
        #expect(try subject.each("Song", "albumTitle") == [.text("ETE"), .text("ETE"), nil])
        let gone = try subject.delete("Song", compare(path("length"), .equal, real(2)))
        #expect(gone.touched.changed.contains(albums[0]))
        #expect(try subject.each("Album", "songCount") == [.int(1), .int(0)])
        #expect(try subject.each("Album", "length") == [.double(1), .double(0)])
        for derived in ["key", "songCount", "changed"] {
            #expect(code { try subject.set("Album", nil, [(derived, .constant(.null))]) } == 134060)
        }
    }
}
