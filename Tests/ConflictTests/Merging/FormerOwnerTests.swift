// The owner that a member had here, when others have given it to another one without knowing of the first.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct FormerOwnerTests {
    /// How the context that gave the member to the former owner hears of the present one.
    enum Hearing: CaseIterable {
        case merge, mergeBelowChanges, refresh, refreshBelowChanges, fetch
    }

    /// Saves a visit of no patient, gives it to a new patient there, and here, with a policy that wins, to another one.
    private func moved(_ rivals: Rivals, _ type: NSMergePolicyType) throws -> (
        visit: NSManagedObject, same: NSManagedObject, owner: NSManagedObject, former: NSManagedObject,
        saved: Notification
    ) {
        rivals.mine.mergePolicy = NSMergePolicy(merge: type)
        let owner = rivals.mine.make("Patient", ["name": "owner"]), visit = rivals.mine.make("Visit", ["note": "v"])
        try rivals.mine.save()
        let former = rivals.theirs.make("Patient", ["name": "former"])
        let kept = rivals.theirs.make("Visit", ["note": "kept"])
        let set = former.mutableOrderedSetValue(forKey: "visits")
        let same = try rivals.their(visit)
        set.add(same)
        set.insert(kept, at: 0)
        try rivals.theirs.save()
        visit.set("patient", owner)
        let log = NotificationLog(rivals.mine)
        try rivals.mine.save()
        let info = try #require(log.entries.last { $0.name == "didSave:" }?.info)
        return (
            visit, same, owner, former,
            Notification(name: .NSManagedObjectContextDidSave, object: rivals.mine, userInfo: info)
        )
    }

    @Test(
        "10.4 A member that was given to another owner leaves the one it had here, and a deletion of that one leaves it alone",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType],
        Hearing.allCases)
    func leaves(_ type: NSMergePolicyType, _ hearing: Hearing) throws {
        let rivals = try Rivals(.sqlite)
        let (visit, same, owner, former, saved) = try moved(rivals, type)
        switch hearing {
        case .merge: rivals.theirs.mergeChanges(fromContextDidSave: saved)
        case .mergeBelowChanges:
            same.set("note", "w")
            former.mutableOrderedSetValue(forKey: "visits").insert(rivals.theirs.make("Visit", ["note": "new"]), at: 0)
            rivals.theirs.mergeChanges(fromContextDidSave: saved)
        case .refresh: rivals.theirs.refresh(same, mergeChanges: false)
        case .refreshBelowChanges:
            same.set("note", "w")
            rivals.theirs.refresh(same, mergeChanges: true)
        case .fetch:
            let request = NSFetchRequest<NSManagedObject>(entityName: "Visit")
            request.shouldRefreshRefetchedObjects = true
            _ = try rivals.theirs.fetch(request)
        }
        #expect(same.one("patient") === (try rivals.their(owner)))
        #expect(
            former.ordered("visits").compactMap { $0.text("note") }
                == (hearing == .mergeBelowChanges ? ["new", "kept"] : ["kept"]))
        rivals.theirs.delete(former)
        try rivals.theirs.save()
        #expect(rivals.stored(visit)?.one("patient")?.text("name") == "owner")
        #expect(try rivals.reader().all("Visit").count == 1)
    }
    @Test(
        "4.5 Cascade leaves a member alone that has another owner in the store, though its former owner was not told",
        arguments: Rivalry.allCases)
    func untold(_ rivalry: Rivalry) throws {
        let rivals = try Rivals(rivalry)
        rivals.theirs.stalenessInterval = 0
        let former = rivals.theirs.make("Patient", ["name": "former"]),
            owner = rivals.theirs.make("Patient", ["name": "owner"])
        former.set("visits", NSOrderedSet(array: [rivals.theirs.make("Visit", ["note": "v"])]))
        try rivals.theirs.save()
        #expect(rivals.theirs.registeredObjects == [former, owner])
        let reader = rivals.reader()
        let visit = try #require(try reader.all("Visit").first)
        let raw = try #require(visit.one("patient"))
        // Moved by a writer that leaves the row of the former owner as it is.
        visit.set("patient", try reader.all("Patient").first { $0.text("name") == "owner" })
        #expect(raw.text("name") == "former")
        reader.refresh(raw, mergeChanges: false)
        try reader.save()
        let same = try #require(try rivals.theirs.all("Visit").first)
        #expect(same.one("patient") === owner)
        rivals.theirs.delete(former)
        let code = caught { try rivals.theirs.save() }?.code.rawValue
        #expect(!same.isDeleted && (code == nil || code == 133020))
        #expect(rivals.stored(owner)?.ordered("visits").count == 1)
    }
}
