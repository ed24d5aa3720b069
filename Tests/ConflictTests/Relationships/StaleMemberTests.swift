// Pairs whose two sides were read at different times, with a save of another writer between: what a write makes of them.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct StaleMemberTests {
    /// A pair of which the one side was read before, the other after a save of the other writer.
    private func stale(_ reading: Hub.Reading, _ rivalry: Rivalry = .memory) throws -> (
        Rivals, NSManagedObject, NSManagedObject
    ) {
        let rivals = try Rivals(rivalry, draft: Hub.draft(), undo: true)
        rivals.mine.stalenessInterval = 0
        let their = (rivals.theirs.make("Hub", ["name": "owner"]), rivals.theirs.make("Hub", ["name": "member"]))
        if reading.wasPair { their.0.write(reading.way, their.1, isPair: true) }
        try rivals.theirs.save()
        let owner = try #require(Rivals.same(their.0, in: rivals.mine))
        let member = try #require(Rivals.same(their.1, in: rivals.mine))
        let (first, last) = reading.ownerFirst ? (owner, member) : (member, owner)
        let keys = reading.ownerFirst ? (reading.way.key, reading.way.inverse) : (reading.way.inverse, reading.way.key)
        rivals.mine.refreshAllObjects()
        #expect(first.hubs(keys.0).count == (reading.wasPair ? 1 : 0))
        their.0.write(reading.way, their.1, isPair: !reading.wasPair)
        try rivals.theirs.save()
        rivals.mine.refresh(last, mergeChanges: false)
        #expect(last.hubs(keys.1).count == (reading.wasPair ? 0 : 1))
        return (rivals, owner, member)
    }

    private func pairs(_ isPair: Bool) -> [Int] { Array(repeating: isPair ? 1 : 0, count: 3) }

    @Test(
        "4.1 Both sides of a pair agree once it is written, although they were read at different times",
        arguments: Hub.readings)
    func agreement(_ reading: Hub.Reading) throws {
        let (rivals, owner, member) = try stale(reading)
        owner.write(reading.way, member, isPair: reading.isPair)
        #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
        rivals.mine.processPendingChanges()
        owner.write(reading.way, member, isPair: !reading.isPair)
        #expect(owner.pairing(reading.way, member) == pairs(!reading.isPair))
        rivals.mine.processPendingChanges()
        rivals.mine.undo()
        #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
        rivals.mine.redo()
        #expect(owner.pairing(reading.way, member) == pairs(!reading.isPair))
    }

    @Test(
        "6.2 A pair that was written although its sides were read at different times is saved or refused",
        arguments: Hub.readings)
    func isNotLost(_ reading: Hub.Reading) throws {
        let (rivals, owner, member) = try stale(reading)
        owner.write(reading.way, member, isPair: reading.isPair)
        let refused = caught { try rivals.mine.save() }
        #expect(refused == nil || refused?.code.rawValue == 133020)
        if refused != nil {
            #expect(owner.pairing(reading.way, member) == pairs(reading.isPair))
            rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try rivals.mine.save()
        }
        let stored = try #require(rivals.stored(owner))
        let other = try #require(stored.managedObjectContext.flatMap { Rivals.same(member, in: $0) })
        let present = stored.pairing(reading.way, other)
        #expect(present == pairs(present[0] == 1) && owner.pairing(reading.way, member) == present)
        if refused == nil || !reading.way.isToOne { #expect(present == pairs(reading.isPair)) }
        #expect(!rivals.mine.hasChanges)
    }
}

extension StaleMemberTests {
    @Test(
        "4.1 Both sides of a one-to-one agree once it is written as it was, although they were read at different times",
        arguments: [true, false])
    func oneToOne(_ isUndone: Bool) throws {
        let rivals = try Rivals(.memory, draft: Hub.draft(), undo: true)
        rivals.mine.stalenessInterval = 0
        let their = (rivals.theirs.make("Hub"), rivals.theirs.make("Hub"))
        try rivals.theirs.save()
        let end = try #require(Rivals.same(their.1, in: rivals.mine))
        #expect(end.one("matched") == nil)
        their.0.set("mate", their.1)
        try rivals.theirs.save()
        let start = try #require(Rivals.same(their.0, in: rivals.mine))
        #expect(start.one("mate") === end && end.one("matched") == nil)
        start.set("mate", end)
        #expect(start.one("mate") === end && end.one("matched") === start)
        rivals.mine.processPendingChanges()
        if isUndone {
            rivals.mine.undo()
            #expect((start.one("mate") === end) == (end.one("matched") === start))
            rivals.mine.redo()
            #expect(start.one("mate") === end && end.one("matched") === start)
        }
        #expect(caught { try rivals.mine.save() }?.code.rawValue == 133020)
        rivals.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try rivals.mine.save()
        #expect(start.one("mate") === end && end.one("matched") === start && rivals.stored(start)?.one("mate") != nil)
    }
}
