// Pairs whose two sides a child has read at different times, with a change of its parent between.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StaleMemberTests {
    private func pairs(_ isPair: Bool) -> [Int] { Array(repeating: isPair ? 1 : 0, count: 3) }

    @Test(
        "7.1 Both sides of a pair that a child writes agree, also in parent and store, although it has read them at different times",
        arguments: Hub.readings, [false, true])
    func agreement(_ reading: Hub.Reading, _ wasUnsaved: Bool) throws {
        let stack = try Stack(NSInMemoryStoreType, model: NSManagedObjectModel(draft: Hub.draft()))
        let parent = stack.context
        let (their, other) = (parent.make("Hub", ["name": "owner"]), parent.make("Hub", ["name": "member"]))
        if reading.wasPair { their.write(reading.way, other, isPair: true) }
        if !wasUnsaved { try parent.save() }
        let child = parent.child()
        child.undoManager = UndoManager()
        let owner = try #require(try child.named("owner", "Hub"))
        let member = try #require(try child.named("member", "Hub"))
        let (first, last) = reading.ownerFirst ? (owner, member) : (member, owner)
        #expect(
            first.hubs(reading.ownerFirst ? reading.way.key : reading.way.inverse).count == (reading.wasPair ? 1 : 0))
        their.write(reading.way, other, isPair: !reading.wasPair)
        try parent.save()
        child.refresh(last, mergeChanges: false)
        #expect(
            last.hubs(reading.ownerFirst ? reading.way.inverse : reading.way.key).count == (reading.wasPair ? 0 : 1))
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
