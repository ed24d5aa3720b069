// What a child's changes are compared with: the row that the child has read, whatever its parent has done since.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct BaseTests {
    /// What the first context does with the row between the child's read and its own save.
    enum Way: String, CaseIterable, Sendable {
        case nothing, holding, fetching, keepingFetched, refetching, refreshing, refreshingAll, merging
    }

    /// Where the child's object comes from.
    enum Origin: CaseIterable { case fetched, inserted, insertedWithID }

    /// One row, a line of contexts, and another writer of it. Nothing is held but the contexts.
    private final class Ward {
        let stack: Stack
        let line: Line
        let other: NSManagedObjectContext
        let id: NSManagedObjectID
        var kept: [NSManagedObject] = []

        init(_ kind: Line.Kind, _ origin: Origin = .fetched, draft: SchemaDraft = Clinic.draft()) throws {
            stack = try Stack(kind.type, model: NSManagedObjectModel(draft: draft), undo: false)
            line = Line(stack.context, generations: kind.generations)
            other = stack.another()
            var id: NSManagedObjectID?
            switch origin {
            case .fetched:
                let maker = stack.another()
                let patient = maker.make("Patient", ["name": "Ada", "age": 1000])
                try maker.save()
                id = patient.objectID
            case .inserted, .insertedWithID:
                // The child's object lives on, as the one that was inserted.
                let patient = line.last.make("Patient", ["name": "Ada", "age": 1000])
                kept.append(patient)
                if origin == .insertedWithID { try line.last.obtainPermanentIDs(for: [patient]) }
                try line.save()
                _ = try line.last.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient"))
                id = patient.objectID
            }
            self.id = try #require(id)
        }

        func mine() throws -> NSManagedObject { try line.last.existingObject(with: id) }

        /// Another writer's save, and the notification of it.
        func write(_ age: Int) throws -> Notification {
            other.refreshAllObjects()
            let theirs = try other.existingObject(with: id)
            theirs.age = age
            try other.save()
            return Notification(
                name: .NSManagedObjectContextDidSave, object: other, userInfo: [NSUpdatedObjectsKey: Set([theirs])])
        }

        func take(_ way: Way, _ told: Notification) throws {
            let first = line.first
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            switch way {
            case .nothing, .holding: break
            case .fetching: _ = try first.fetch(request).map(\.age)
            case .keepingFetched: kept += try first.fetch(request)
            case .refetching:
                request.shouldRefreshRefetchedObjects = true
                kept += try first.fetch(request)
            case .refreshing: first.refresh(first.object(with: id), mergeChanges: true)
            case .refreshingAll: first.refreshAllObjects()
            case .merging: first.mergeChanges(fromContextDidSave: told)
            }
        }

        func stored() throws -> Int? { try stack.another().existingObject(with: id).age }
    }

    @Test(
        "6.1 What a child has changed is compared with the row that it has read, also when the parent has read it again",
        arguments: Line.kinds, Way.allCases)
    func changes(_ kind: Line.Kind, _ way: Way) throws {
        // Also where both have written the same: each of them has counted one up.
        for (origin, isPushedFirst, age) in Origin.allCases.flatMap({ origin in
            [(origin, false, 1010), (origin, true, 1010), (origin, false, 1001), (origin, true, 1001)]
        }) {
            let ward = try Ward(kind, origin)
            let (first, last) = (ward.line.first, ward.line.last)
            if way == .holding { ward.kept += try first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Patient")) }
            let mine = try ward.mine()
            #expect(mine.age == 1000)
            mine.age = age
            let told = try ward.write(1001)
            if isPushedFirst { try ward.line.push() }
            try ward.take(way, told)
            if !isPushedFirst { try ward.line.push() }
            let conflict = try #require(self.conflict(of: first), "\(origin), \(isPushedFirst), \(age)")
            #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
            #expect((conflict.objectSnapshot ?? conflict.cachedSnapshot)?["age"] as? Int == 1000)
            #expect(try ward.stored() == 1001)
            ward.line.startAnew()
            let again = try ward.mine()
            #expect(again.age == 1001)
            again.age = 1011
            try ward.line.save()
            #expect(try ward.stored() == 1011)
            #expect(last.registeredObjects.allSatisfy { !$0.hasChanges })
        }
    }

    private func conflict(of context: NSManagedObjectContext) -> NSMergeConflict? {
        guard let error = context.saveError(), error.code.rawValue == 133020 else { return nil }
        return (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
    }

    @Test("6.1 The snapshots of a conflict are those of the row that the child has read", arguments: Line.kinds)
    func snapshots(_ kind: Line.Kind) throws {
        let ward = try Ward(kind)
        try ward.mine().age = 1010
        _ = try ward.write(1001)
        try ward.line.push()
        _ = try ward.line.first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Patient")).map(\.age)
        let conflict = try #require(self.conflict(of: ward.line.first))
        // The coordinator knows of the other writer's row.
        #expect(conflict.objectSnapshot?["age"] as? Int == 1000)
        #expect(conflict.cachedSnapshot?["age"] as? Int == 1001)
        #expect(conflict.persistedSnapshot == nil)
    }

    @Test(
        "6.1 A pushed deletion of a row that another writer has changed is a conflict", arguments: Line.kinds,
        Way.allCases)
    func deletion(_ kind: Line.Kind, _ way: Way) throws {
        for (origin, isPushedFirst) in Origin.allCases.flatMap({ [($0, false), ($0, true)] }) {
            let ward = try Ward(kind, origin)
            if way == .holding {
                ward.kept += try ward.line.first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Patient"))
            }
            ward.line.last.delete(try ward.mine())
            let told = try ward.write(1001)
            if isPushedFirst { try ward.line.push() }
            try ward.take(way, told)
            if !isPushedFirst { try ward.line.push() }
            #expect(conflict(of: ward.line.first)?.oldVersionNumber == 1, "\(origin), \(isPushedFirst)")
            #expect(try ward.stored() == 1001)
        }
    }

    @Test(
        "6.1 A pushed order is compared, an owner whose members merely came is not", arguments: Line.kinds,
        [false, true])
    func order(_ kind: Line.Kind, _ isRearranged: Bool) throws {
        let ward = try Ward(kind)
        let maker = ward.stack.another()
        let owner = try maker.existingObject(with: ward.id)
        for note in ["1", "2", "3"] { maker.make("Visit", ["note": note]).setValue(owner, forKey: "patient") }
        try maker.save()
        do {
            let mine = try ward.mine()
            #expect(mine.notes() == ["1", "2", "3"])
            let visits = mine.mutableOrderedSetValue(forKey: "visits")
            if isRearranged {
                visits.moveObjects(at: IndexSet(integer: 2), to: 0)
            } else {
                visits.add(ward.line.last.make("Visit", ["note": "4"]))
            }
        }
        _ = try ward.write(1001)
        try ward.line.push()
        let found = conflict(of: ward.line.first)
        #expect((found != nil) == isRearranged)
        let reader = ward.stack.another()
        let notes = try reader.existingObject(with: ward.id).notes()
        #expect(notes == (isRearranged ? ["1", "2", "3"] : ["1", "2", "3", "4"]))
    }

    @Test(
        "7.1 An object that a child edits a thousand times, each time saved into the store, meets no conflict",
        arguments: Line.kinds)
    func longLived(_ kind: Line.Kind) throws {
        for origin in Origin.allCases {
            for isSavedBetween in [false, true] {
                let ward = try Ward(kind, origin)
                let mine = try ward.mine()
                for round in 1...(origin == .fetched ? 1000 : 100) {
                    mine.age = 1000 + round
                    // Most of the time nobody holds the row above.
                    if isSavedBetween, round % 7 == 0 {
                        let above = try ward.line.first.existingObject(with: ward.id)
                        above.setValue("name \(round)", forKey: "name")
                        try ward.line.first.save()
                    }
                    try ward.line.save()
                }
                let age = mine.age
                #expect(try ward.stored() == age)
            }
        }
    }

    @Test(
        "7.1 An object that members came to or left in a child stands where the save has left its row",
        arguments: Line.kinds)
    func members(_ kind: Line.Kind) throws {
        let ward = try Ward(kind)
        let mine = try ward.mine()
        for round in 1...10 {
            let doctor = ward.line.last.make("Doctor", ["name": "\(round)"])
            mine.mutableSetValue(forKey: "doctors").add(doctor)
            try ward.line.save()
            mine.age = round
            doctor.setValue(round, forKey: "code")
            try ward.line.save()
            if round % 2 == 0 {
                ward.line.last.delete(doctor)
            } else {
                mine.mutableSetValue(forKey: "doctors").remove(doctor)
            }
            try ward.line.save()
            mine.setValue("name \(round)", forKey: "name")
            try ward.line.save()
        }
        #expect(try ward.stored() == 10)
    }

    @Test(
        "6.4 Between siblings, and against the parent's own changes, a child's values win without conflict",
        arguments: Line.kinds)
    func siblings(_ kind: Line.Kind) throws {
        let ward = try Ward(kind)
        let sibling = Line(ward.line.first, generations: kind.generations)
        let (mine, theirs) = (try ward.mine(), try sibling.last.existingObject(with: ward.id))
        #expect(mine.age == theirs.age)
        mine.age = 1
        try ward.line.save()
        theirs.age = 2
        try sibling.save()
        #expect(try ward.stored() == 2)
        mine.age = 3
        try ward.line.first.existingObject(with: ward.id).age = 4
        try ward.line.push()
        try ward.line.first.save()
        #expect(try ward.stored() == 3)
        // Another writer's save ends that for all of them.
        theirs.age = 5
        _ = try ward.write(6)
        try sibling.push()
        #expect(conflict(of: ward.line.first) != nil)
    }

    @Test(
        "5.2 A base goes with the changes: by rollback, by undo and by a refresh that drops them",
        arguments: Line.kinds, [0, 1, 2])
    func dropped(_ kind: Line.Kind, _ way: Int) throws {
        let ward = try Ward(kind)
        let first = ward.line.first
        first.undoManager = UndoManager()
        try ward.mine().age = 1010
        try ward.line.push()
        _ = try ward.write(1001)
        switch way {
        case 0: first.rollback()
        case 1: first.undo()
        default: first.refresh(first.object(with: ward.id), mergeChanges: false)
        }
        #expect(!first.hasChanges)
        first.refreshAllObjects()
        let above = try first.existingObject(with: ward.id)
        #expect(above.age == 1001)
        above.age = 1002
        try first.save()
        #expect(try ward.stored() == 1002)
    }

    @Test(
        "5.6 A refresh of the child's object, not one of the parent's, takes the row that is there now",
        arguments: Line.kinds)
    func refreshed(_ kind: Line.Kind) throws {
        let ward = try Ward(kind)
        let mine = try ward.mine()
        mine.age = 1010
        _ = try ward.write(1001)
        ward.line.last.refresh(mine, mergeChanges: true)
        #expect(mine.age == 1010)
        try ward.line.save()
        #expect(try ward.stored() == 1010)
    }

    @Test(
        "6.3 Policies settle the conflict by what the child had read", arguments: Line.kinds,
        [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .rollbackMergePolicyType, .overwriteMergePolicyType,
        ])
    func policies(_ kind: Line.Kind, _ type: NSMergePolicyType) throws {
        let ward = try Ward(kind)
        ward.line.first.mergePolicy = NSMergePolicy(merge: type)
        do {
            let mine = try ward.mine()
            mine.age = 1010
            mine.setValue(7, forKey: "code")
        }
        _ = try ward.write(1001)
        try ward.line.push()
        ward.kept += try ward.line.first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Patient"))
        ward.line.first.refreshAllObjects()
        try ward.line.first.save()
        let stored = try ward.stack.another().existingObject(with: ward.id)
        let drops = type == .rollbackMergePolicyType
        #expect(stored.value(forKey: "code") as? Int == (drops ? nil : 7))
        #expect(stored.age == (drops || type == .mergeByPropertyStoreTrumpMergePolicyType ? 1001 : 1010))
    }
}
