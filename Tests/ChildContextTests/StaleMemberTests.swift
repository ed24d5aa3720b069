// Pairs whose two sides a child has read at different times, with a change of its parent between.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StaleMemberTests {
    struct Reading: Sendable, CustomTestStringConvertible {
        let way: Hub.Way
        let ownerFirst: Bool
        let wasPair: Bool
        let isPair: Bool
        /// Whether the parent had not saved the objects when the child read the first of them.
        let wasUnsaved: Bool
        /// What the side that is written says already: see the tests of conflicts.
        var isNoWrite: Bool {
            switch way.writing {
            case .change: false
            case .replacement: isPair == (ownerFirst == wasPair)
            case .inverse: way.isToOne && !isPair && ownerFirst == wasPair
            }
        }
        var testDescription: String {
            "\(way), \(ownerFirst ? "owner" : "member") read first, \(wasPair ? "paired" : "parted") then, to be "
                + "\(isPair ? "paired" : "parted")\(wasUnsaved ? ", unsaved then" : "")"
        }
    }

    static let readings: [Reading] = Hub.ways.flatMap { way in
        (0..<16).map {
            Reading(way: way, ownerFirst: $0 & 1 != 0, wasPair: $0 & 2 != 0, isPair: $0 & 4 != 0, wasUnsaved: $0 & 8 != 0)
        }
    }.filter { !$0.isNoWrite }

    private func pairs(_ isPair: Bool) -> [Int] { Array(repeating: isPair ? 1 : 0, count: 3) }

    @Test(
        "7.1 Both sides of a pair that a child writes agree, also in parent and store, although it has read them at different times",
        arguments: readings)
    func agreement(_ reading: Reading) throws {
        let stack = try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: Hub.draft()))
        let parent = stack.context
        let (their, other) = (parent.make("Hub", ["name": "owner"]), parent.make("Hub", ["name": "member"]))
        if reading.wasPair { their.write(reading.way, other, isPair: true) }
        if !reading.wasUnsaved { try parent.save() }
        let child = parent.child()
        child.undoManager = UndoManager()
        let owner = try #require(try child.named("owner", "Hub"))
        let member = try #require(try child.named("member", "Hub"))
        let (first, last) = reading.ownerFirst ? (owner, member) : (member, owner)
        #expect(first.hubs(reading.ownerFirst ? reading.way.key : reading.way.inverse).count == (reading.wasPair ? 1 : 0))
        their.write(reading.way, other, isPair: !reading.wasPair)
        try parent.save()
        child.refresh(last, mergeChanges: false)
        #expect(last.hubs(reading.ownerFirst ? reading.way.inverse : reading.way.key).count == (reading.wasPair ? 0 : 1))
        owner.write(reading.way, member, isPair: reading.isPair)
        #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
        child.processPendingChanges()
        owner.write(reading.way, member, isPair: !reading.isPair)
        #expect(owner.pairing(reading.way, member) == pairs(!reading.isPair))
        child.processPendingChanges()
        child.undo()
        #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
        try child.save()
        #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
        #expect(their.pairing(reading.way, other) == pairs(reading.isPair))
        try parent.save()
        let reader = stack.another()
        #expect(reader.same(their).pairing(reading.way, reader.same(other)) == pairs(reading.isPair))
    }
}
