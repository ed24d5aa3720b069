// What every store must do: deletions of all rows that a query finds, with their delete rules.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StoreSpecificationDeletionTests {
    private let name = path("name")

    @Test(
        "The rows of the query go, with order and window; a count, keys or effects come back",
        arguments: SetSample.stores)
    func delete(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let keys = try subject.insert("Memo", (0..<6).map { ["text": .text("\($0)")] })
        let window = try subject.delete("Memo") { plan in
            plan.sort = [SortTerm(keyPath: ["text"], isAscending: false)]
            plan.limit = 2
        }
        #expect(window.keys == Array(keys[4...]) && window.effects == [.deleted, .deleted] && window.count == 2)
        #expect(Set(window.touched.deleted) == Set(keys[4...]) && window.touched.changed.isEmpty)
        let named = try subject.delete("Memo", compare(path("text"), .equal, text("0")), .keys)
        #expect(named.keys == [keys[0]] && named.effects.isEmpty)
        let count = try subject.delete("Memo", nil, .count)
        #expect(count.count == 3 && count.keys.isEmpty && count.touched.entities == [keys[0].entity])
        #expect(try subject.delete("Memo").count == 0)
        #expect(try subject.fetch("Memo").isEmpty)
        #expect(try subject.insert("Memo", [[:]])[0].number > 6 || maker.rowsClass == "IncrementalRows")
    }

    @Test(
        "Cascades go to the end, through subentities and through rows that lead to themselves",
        arguments: SetSample.stores)
    func cascade(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        let top = try subject.insert("Department", [["firm": target(firms[0])], ["firm": target(firms[1])]])
        var row = top[0]
        for level in 0..<6 {
            row = try subject.insert(
                level % 2 == 0 ? "Unit" : "Department", [["above": target(row), "name": .text("\(level)")]])[0]
        }
        let circle = try subject.keys("Department", 2)
        var batch = ChangeBatch()
        batch.inserts = [
            try subject.chunk([
                (circle[0], ["above": target(circle[1]), "firm": target(firms[0])]),
                (circle[1], ["above": target(circle[0])]),
            ])
        ]
        try subject.commit(batch)
        let outcome = try subject.delete("Firm", compare(name, .equal, text("a")))
        #expect(outcome.keys == [firms[0]] && outcome.count == 1)
        #expect(outcome.touched.deleted.count == 10 && outcome.touched.changed.isEmpty)
        #expect(try subject.all("Firm", "Department").map(\.key) == [firms[1], top[1]])
    }

    @Test("Rows that stay lose their to-one, and their version rises once", arguments: SetSample.stores)
    func nullify(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        let badges = try subject.insert(
            "Badge", (0..<4).map { ["number": .int($0), "firm": target(firms[Int($0) % 2])] })
        let boss = try subject.insert("Boss", [["name": .text("x"), "firm": target(firms[0])]])[0]
        var batch = ChangeBatch()
        batch.updates = [try subject.update(firms[0], ["boss": target(boss)], expected: 1)]
        batch.orders = [
            OrderChange(
                relationship: try subject.relationship("Firm", "badges"), owner: firms[1],
                members: [badges[3], badges[1]])
        ]
        try subject.commit(batch)
        let outcome = try subject.delete("Firm", compare(name, .equal, text("a")))
        #expect(Set(outcome.touched.changed) == [badges[0], badges[2], boss])
        #expect(try subject.row(badges[0]) == Found(key: badges[0], version: 2, values: ["number": .int(0)]))
        #expect(try subject.row(badges[1])?.version == 1)
        #expect(try subject.row(boss) == Found(key: boss, version: 2, values: ["name": .text("x")]))
        #expect(try subject.members("Firm", "badges", of: firms[1]) == [badges[3].number, badges[1].number])
        let departments = try subject.insert("Unit", [["name": .text("u")]])
        let below = try subject.insert("Department", [["above": target(departments[0])]])
        try subject.delete("Department", compare(path("above"), .notEqual, .constant(.null)))
        #expect(try subject.all("Department").map(\.key) == departments && !below.isEmpty)
    }

    @Test("A to-one that must have a target keeps its rows from being nullified", arguments: SetSample.stores)
    func required(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        try subject.insert("Ticket", [["firm": target(firms[1])]])
        try subject.insert("Badge", [["firm": target(firms[0])], ["firm": target(firms[1])]])
        let before = try subject.all("Firm", "Ticket", "Badge")
        #expect(code { try subject.delete("Firm") } == 1570)
        #expect(try subject.all("Firm", "Ticket", "Badge") == before)
        #expect(try subject.delete("Firm", compare(name, .equal, text("a"))).count == 1)
    }

    @Test("A denied deletion does nothing, unless the rows that deny it go as well", arguments: SetSample.stores)
    func deny(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        try subject.insert("Department", [["firm": target(firms[0])]])
        try subject.insert("Contract", [["firm": target(firms[0])]])
        let before = try subject.all("Firm", "Department", "Contract")
        #expect(code { try subject.delete("Firm") } == 1600)
        #expect(try subject.all("Firm", "Department", "Contract") == before)
        #expect(try subject.delete("Contract").count == 1)
        #expect(try subject.delete("Firm").count == 2)
        #expect(try subject.all("Firm", "Department", "Contract").isEmpty)
    }

    @Test("Rows that deny the deletion of others go with them in one deletion", arguments: SetSample.stores)
    func denyAmong(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let lowest = try subject.insert("Rung", [["number": .int(1)]])[0]
        let middle = try subject.insert("Rung", [["number": .int(2), "below": target(lowest)]])[0]
        try subject.insert("Rung", [["number": .int(3), "below": target(middle)]])
        let number = Expression.keyPath(["number"])
        #expect(code { try subject.delete("Rung", compare(number, .lessOrEqual, int(2))) } == 1600)
        #expect(try subject.all("Rung").count == 3)
        #expect(try subject.delete("Rung").count == 3)
        #expect(try subject.all("Rung").isEmpty)
    }

    @Test("Where nothing is to be done, rows go on naming what is gone", arguments: SetSample.stores)
    func noAction(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firm = try subject.insert("Firm", [["name": .text("a")]])[0]
        let trace = try subject.insert("Trace", [["firm": target(firm)]])[0]
        try subject.delete("Firm")
        #expect(try subject.row(trace)?.version == 1)
        #expect(try subject.row(trace)?.values["firm"] == .int(firm.number) || maker.rowsClass == "IncrementalRows")
    }

    @Test("Pairs of many-to-many relationships go, and the orders of the others stay", arguments: SetSample.stores)
    func pairs(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", (0..<3).map { ["name": .text("\($0)")] })
        let advisers = try subject.insert("Adviser", (0..<3).map { ["name": .text("\($0)")] })
        var batch = ChangeBatch()
        let relationship = try subject.relationship("Firm", "advisers")
        let partners = try subject.relationship("Firm", "partners")
        batch.links = firms.map { LinkChange(relationship: relationship, owner: $0, added: advisers, removed: []) }
        batch.links.append(
            LinkChange(relationship: partners, owner: firms[0], added: [firms[1], firms[2]], removed: []))
        batch.orders = firms.map {
            OrderChange(relationship: relationship, owner: $0, members: [advisers[2], advisers[0], advisers[1]])
        }
        try subject.commit(batch)
        try subject.delete("Firm", compare(name, .equal, text("0")))
        #expect(
            try subject.members("Adviser", "firms", of: advisers[0]).sorted() == [firms[1].number, firms[2].number])
        #expect(try subject.members("Firm", "partners", of: firms[1]).isEmpty)
        try subject.delete("Adviser", compare(name, .equal, text("0")))
        #expect(try subject.members("Firm", "advisers", of: firms[1]) == [advisers[2].number, advisers[1].number])
        #expect(try subject.all("Firm", "Adviser").map(\.version) == [1, 1, 1, 1])
    }

    @Test("Members of a to-many without inverse are let go, or go with their owner", arguments: SetSample.stores)
    func withoutInverse(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let firms = try subject.insert("Firm", [["name": .text("a")], ["name": .text("b")]])
        let memos = try subject.insert("Memo", (0..<4).map { ["text": .text("\($0)")] })
        let (kept, gone) = (try subject.relationship("Firm", "memos"), try subject.relationship("Firm", "papers"))
        var batch = ChangeBatch()
        batch.adoptions = [
            AdoptionChange(relationship: kept, owner: firms[0], added: [memos[0]], removed: []),
            AdoptionChange(relationship: gone, owner: firms[0], added: [memos[1]], removed: []),
            AdoptionChange(relationship: kept, owner: firms[1], added: [memos[2]], removed: []),
            AdoptionChange(relationship: gone, owner: firms[1], added: [memos[3]], removed: []),
        ]
        try subject.commit(batch)
        try subject.delete("Firm", compare(name, .equal, text("a")))
        #expect(try subject.fetch("Memo").map(\.key.number).sorted() == [memos[0], memos[2], memos[3]].map(\.number))
        #expect(try subject.members("Firm", "memos", of: firms[0]).isEmpty)
        #expect(try subject.members("Firm", "memos", of: firms[1]) == [memos[2].number])
    }

    @Test("Files of rows that are gone are gone", arguments: SetSample.stores)
    func files(_ maker: StoreMaker) throws {
        let subject = try Subject.sets(maker)
        let large = Data(repeating: 3, count: 150_000)
        let rows = (1...3).map { number -> [String: Value] in
            ["number": .int(Int64(number)), "price": .double(1), "plan": .data([1] + large)]
        }
        let keys = try subject.stream("Part", rows).keys
        try subject.delete("Part", compare(path("number"), .less, int(3)))
        #expect(try subject.external(keys[2], "plan") == large)
        #expect(subject.files.count <= 1)
        try subject.delete("Part")
        #expect(subject.files.isEmpty)
    }
}
