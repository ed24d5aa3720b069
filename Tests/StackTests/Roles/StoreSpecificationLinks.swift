// What every store must do: members of relationships, and values to the bit.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreSpecificationLinks {
    @Test("The members of a one-to-many are the rows that point at the owner", arguments: StoreMaker.all)
    func oneToMany(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let people = try subject.insert("Person", [[:], [:]])
        let boss = try subject.insert("Employee", [["name": .text("Eve")]])[0]
        let items = try subject.insert(
            "Item", [["owner": target(people[0])], ["owner": target(boss)], ["owner": target(people[0])], [:]])
        let special = try subject.insert("SpecialItem", [["owner": target(people[0])]])
        #expect(
            Set(try subject.members("Person", "items", of: people[0]))
                == [items[0].number, items[2].number, special[0].number])
        #expect(try subject.members("Person", "items", of: boss) == [items[1].number])
        #expect(try subject.members("Person", "items", of: people[1]).isEmpty)
        var batch = ChangeBatch()
        batch.updates = [try subject.update(items[0], ["owner": target(people[1])], expected: 1)]
        batch.deletes = [DeleteGroup(entity: items[2].entity, numbers: [items[2].number], expected: [1])]
        try subject.commit(batch)
        #expect(try subject.members("Person", "items", of: people[0]) == [special[0].number])
        #expect(try subject.members("Person", "items", of: people[1]) == [items[0].number])
    }

    @Test("An ordered one-to-many keeps the order last given", arguments: StoreMaker.all)
    func ordered(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let folder = try subject.insert("Folder", [[:]])[0]
        let items = try subject.insert("Item", Array(repeating: ["folder": target(folder)], count: 5))
        let relationship = try subject.relationship("Folder", "entries")
        for order in [[4, 0, 2, 1, 3], [0, 1, 2, 3, 4], [3, 2, 4, 1, 0]] {
            var batch = ChangeBatch()
            batch.orders = [
                OrderChange(relationship: relationship, owner: folder, members: order.map { items[$0] })
            ]
            try subject.commit(batch)
            #expect(try subject.members("Folder", "entries", of: folder) == order.map { items[$0].number })
        }
    }

    @Test("An order that names rows which are no members gives them no place", arguments: StoreMaker.all)
    func strangers(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let folders = try subject.insert("Folder", [[:], [:]])
        let items = try subject.insert("Item", [0, 0, 1, 1].map { ["folder": target(folders[$0])] })
        let relationship = try subject.relationship("Folder", "entries")
        for (folder, order) in [(1, [3, 2]), (0, [2, 1, 3, 0])] {
            var batch = ChangeBatch()
            batch.orders = [
                OrderChange(relationship: relationship, owner: folders[folder], members: order.map { items[$0] })
            ]
            try subject.commit(batch)
        }
        #expect(try subject.members("Folder", "entries", of: folders[0]) == [items[1].number, items[0].number])
        #expect(try subject.members("Folder", "entries", of: folders[1]) == [items[3].number, items[2].number])
    }

    @Test("Members that are named as the last come behind all others, in their order", arguments: StoreMaker.all)
    func tail(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let folder = try subject.insert("Folder", [[:]])[0]
        var items = try subject.insert("Item", Array(repeating: ["folder": target(folder)], count: 3))
        let relationship = try subject.relationship("Folder", "entries")
        var batch = ChangeBatch()
        batch.orders = [
            OrderChange(relationship: relationship, owner: folder, members: [items[2], items[0], items[1]])
        ]
        try subject.commit(batch)
        items += try subject.insert("Item", Array(repeating: ["folder": target(folder)], count: 2))
        batch.orders = [
            OrderChange(
                relationship: relationship, owner: folder, members: [items[4], items[3], items[2]], isTail: true)
        ]
        try subject.commit(batch)
        #expect(try subject.members("Folder", "entries", of: folder) == [0, 1, 4, 3, 2].map { items[$0].number })
    }

    @Test("A many-to-many is seen from both sides, and loses removed and deleted members", arguments: StoreMaker.all)
    func manyToMany(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let items = try subject.insert("Item", [[:], [:]])
        let labels = try subject.insert("Label", [[:], [:], [:]])
        let (forth, back) = (try subject.relationship("Item", "labels"), try subject.relationship("Label", "items"))
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(relationship: forth, owner: items[0], added: [labels[0], labels[1]], removed: []),
            LinkChange(relationship: back, owner: labels[1], added: [items[1]], removed: []),
        ]
        try subject.commit(batch)
        #expect(Set(try subject.members("Item", "labels", of: items[0])) == Set(labels[0...1].map(\.number)))
        #expect(Set(try subject.members("Label", "items", of: labels[1])) == Set(items.map(\.number)))
        batch.links = [LinkChange(relationship: forth, owner: items[0], added: [labels[2]], removed: [labels[0]])]
        batch.deletes = [DeleteGroup(entity: labels[1].entity, numbers: [labels[1].number], expected: [1])]
        try subject.commit(batch)
        #expect(try subject.members("Item", "labels", of: items[0]) == [labels[2].number])
        #expect(try subject.members("Label", "items", of: labels[0]).isEmpty)
        #expect(try subject.members("Item", "labels", of: items[1]).isEmpty)
    }

    @Test("An ordered many-to-many keeps an order for each owner", arguments: StoreMaker.all)
    func orderedManyToMany(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let folders = try subject.insert("Folder", [[:], [:]])
        let items = try subject.insert("Item", [[:], [:], [:]])
        let relationship = try subject.relationship("Folder", "favourites")
        let orders = [[2, 0, 1], [1, 2, 0]].map { $0.map { items[$0] } }
        var batch = ChangeBatch()
        for (folder, order) in zip(folders, orders) {
            batch.links.append(LinkChange(relationship: relationship, owner: folder, added: items, removed: []))
            batch.orders.append(OrderChange(relationship: relationship, owner: folder, members: order))
        }
        try subject.commit(batch)
        for (folder, order) in zip(folders, orders) {
            #expect(try subject.members("Folder", "favourites", of: folder) == order.map(\.number))
        }
        #expect(Set(try subject.members("Item", "favouredIn", of: items[0])) == Set(folders.map(\.number)))
    }

    @Test("A relationship that is its own inverse is seen from both ends", arguments: StoreMaker.all)
    func friends(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let people = try subject.insert("Person", [[:], [:], [:]])
        let relationship = try subject.relationship("Person", "friends")
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(relationship: relationship, owner: people[0], added: [people[1], people[2]], removed: [])
        ]
        try subject.commit(batch)
        #expect(Set(try subject.members("Person", "friends", of: people[0])) == Set(people[1...].map(\.number)))
        #expect(try subject.members("Person", "friends", of: people[2]) == [people[0].number])
        batch.links = [LinkChange(relationship: relationship, owner: people[1], added: [], removed: [people[0]])]
        try subject.commit(batch)
        #expect(try subject.members("Person", "friends", of: people[0]) == [people[2].number])
    }

    @Test("A to-many without inverse adopts members and lets them go", arguments: StoreMaker.all)
    func adoption(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let people = try subject.insert("Person", [[:], [:]])
        let notes = try subject.insert("Note", [[:], [:], [:]])
        let relationship = try subject.relationship("Person", "notes")
        var batch = ChangeBatch()
        batch.adoptions = [AdoptionChange(relationship: relationship, owner: people[0], added: notes, removed: [])]
        try subject.commit(batch)
        batch.adoptions = [
            AdoptionChange(relationship: relationship, owner: people[0], added: [], removed: [notes[0]]),
            AdoptionChange(relationship: relationship, owner: people[1], added: [notes[1]], removed: []),
        ]
        try subject.commit(batch)
        #expect(try subject.members("Person", "notes", of: people[0]) == [notes[2].number])
        #expect(try subject.members("Person", "notes", of: people[1]) == [notes[1].number])
    }

    /// A slot and a value at the edge of what its kind holds.
    static let extremes: [(slot: String, value: Value)] = {
        let doubles = [0, -0.5, 3, 1e300, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        let texts = ["", "a\u{0}b", "\u{0}", "e\u{301}", "\u{1f468}\u{200d}\u{1f469}", "'\"%_\\", "\u{10ffff}"]
        let bytes = Data((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var all: [(String, Value)] = []
        all += [Int64.min, -1, 0, 1, 1 << 53 + 1, .max].map { ("serial", .int($0)) }
        all += [true, false].map { ("flag", .bool($0)) }
        all += doubles.flatMap { [("number", .double($0)), ("day", .date($0))] }
        all += [0, 0.5, -3, Double(Float.greatestFiniteMagnitude)].map { ("ratio", .double($0)) }
        all += [-63_114_076_800, 252_423_993_600, 700_000_000].map { ("day", .date($0)) }
        all += (texts + [String(repeating: "x", count: 1025), String(repeating: "\u{e9}", count: 70_000)])
            .map { ("label", .text($0)) }
        all += ["file:///a%20b", "https://example.org/?q=1"].map { ("link", .uri($0)) }
        all += [Data(), Data([0]), Data(repeating: 7, count: 1024), bytes].flatMap {
            // The first byte of an attribute with external storage tells that the value lies in the row.
            [("blob", .data($0)), ("big", .data(Data([1]) + $0.prefix(100_000)))]
        }
        let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        all += [zero, UUID(uuid: (255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))].map { ("tag", .uuid($0)) }
        all += ["0", "3", "-12.5", "0.1", "123456789012345"].compactMap { Decimal(string: $0) }
            .map { ("price", .decimal($0)) }
        return all
    }()

    @Test("Values come back to the bit, whatever their kind holds", arguments: StoreMaker.all)
    func values(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let keys = try subject.insert("Item", Self.extremes.map { [$0: $1] })
        for ((slot, value), key) in zip(Self.extremes, keys) {
            let found = try subject.row(key)?.values ?? [:]
            let same = found.count == 1 && found[slot]?.isIdentical(to: value) == true
            #expect(same, "\(slot): \(String("\(value)".prefix(80))) → \(String("\(found)".prefix(80)))")
        }
    }

    @Test("URIs that no URL spells come back as well", arguments: StoreMaker.all(for: .uriTexts))
    func uris(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        for text in ["", "https://example.org/?q=\u{e9}"] {
            let key = try subject.insert("Item", [["link": .uri(text)]])[0]
            #expect(try subject.row(key)?.values["link"]?.isIdentical(to: .uri(text)) == true)
        }
    }
}
