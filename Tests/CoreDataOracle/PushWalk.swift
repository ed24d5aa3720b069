// Two threads that push through children into the same few rows, and hold no object between two steps.

import CoreData
import CoreDataSeeds
import CoreDataTestSupport
import Synchronization

/// Random steps of two threads over two parents, which save, fetch, refresh and merge as they like.
///
/// Each step reads what it changes and writes down in the same save what must then hold: how many patients a ward has, how many visits a
/// patient. At the end the store must say so, and the sum of all that was counted up.
package final class PushWalk: @unchecked Sendable {
    /// Stores that several threads may save into.
    package static let types: Set<String> = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType]

    private enum Kind: String, CaseIterable {
        case count, transfer, move, admit, discharge, visit, cancel, pair
    }

    private let stack: Stack
    private let parents: [Parent]
    private let ledger = Mutex(Ledger())

    /// What was saved, and what happened on the way.
    private struct Ledger {
        var counted = 0
        var patients = 0
        var events: [String: Int] = [:]
        var failure: String?
    }

    /// A context into which both threads push.
    private final class Parent: @unchecked Sendable {
        let context: NSManagedObjectContext
        /// What was pushed since the last save. Only while the context is held.
        var pushed: [Step] = []
        /// What the other parent has saved and this one has not merged.
        let inbox = Mutex<[[String: [NSManagedObjectID]]]>([])

        init(_ context: NSManagedObjectContext) { self.context = context }
    }

    /// One thread's dice, and what its last step was about.
    private final class Walker: @unchecked Sendable {
        private var random: SplitMix
        var touched: [NSManagedObjectID] = []

        init(_ seed: UInt64) { random = SplitMix(seed) }

        func below(_ limit: Int) -> Int { random.below(limit) }
    }

    private struct Step {
        let kind: Kind
        let counted: Int
        let patients: Int
    }

    /// - Returns: how often what happened, and what went wrong.
    package static func search(_ type: String, seeds: ClosedRange<UInt64>, steps: Int) throws -> SearchReport {
        let events = Kind.allCases.map(\.rawValue) + ["refused"]
        var report = SearchReport(counts: Dictionary(uniqueKeysWithValues: events.map { ($0, 0) }))
        for seed in seeds {
            let walk = try PushWalk(type)
            let ledger = try walk.run(seed, steps)
            report.counts.merge(ledger.events) { $0 + $1 }
            guard let failure = ledger.failure else { continue }
            report.failure = "seed \(seed) on \(type), pushed from two threads: \(failure)"
            break
        }
        return report
    }

    private init(_ type: String) throws {
        // What parent and child leave of a new visit whose patient is deleted elsewhere must not be saved.
        var draft = Clinic.draft()
        for entity in draft.entities.indices where draft.entities[entity].name == "Visit" {
            draft.entities[entity].relationships[0].isOptional = false
        }
        stack = try Stack(
            type, model: NSManagedObjectModel(draft: draft), undo: false,
            options: ["NSSQLitePragmasOption": ["synchronous": "OFF"]])
        let maker = stack.context
        for number in 0..<3 { _ = maker.make("Ward", ["name": "ward \(number)", "beds": 0]) }
        for number in 0..<2 { _ = maker.make("Doctor", ["name": "doctor \(number)", "code": 0]) }
        try maker.save()
        let stack = stack
        parents = (0..<2).map { _ in Parent(stack.another()) }
    }

    private func run(_ seed: UInt64, _ steps: Int) throws -> Ledger {
        let group = DispatchGroup()
        for thread in 0..<2 {
            group.enter()
            Thread.detachNewThread {
                self.walk(Walker(seed &* 2 &+ UInt64(thread)), steps)
                group.leave()
            }
        }
        group.wait()
        for parent in parents { parent.context.performAndWait { save(parent) } }
        try check()
        return ledger.withLock { $0 }
    }

    private func walk(_ walker: Walker, _ steps: Int) {
        let children = parents.map { [$0.context.child(), $0.context.child().child()] }
        for _ in 0..<steps where ledger.withLock({ $0.failure == nil }) {
            let place = walker.below(parents.count)
            // Half of the children live for one step.
            let kept = walker.below(4)
            turn(parents[place], kept < 2 ? children[place][kept] : parents[place].context.child(), walker)
        }
    }

    private func fail(_ sentence: String) { ledger.withLock { $0.failure = $0.failure ?? sentence } }
    private func note(_ event: String) { ledger.withLock { $0.events[event, default: 0] += 1 } }

    // MARK: Turns

    private func turn(_ parent: Parent, _ child: NSManagedObjectContext, _ walker: Walker) {
        parent.context.performAndWait {
            meddle(parent, walker)
            let kind = Kind.allCases[walker.below(Kind.allCases.count)]
            do {
                let step = try child.performAndWait { try edit(child, kind, walker) }
                meddle(parent, walker)
                for context in sequence(first: child, next: { $0.parent }) where context !== parent.context {
                    try context.performAndWait { try context.save() }
                }
                if let step { parent.pushed.append(step) }
            } catch {
                judge(error, walker.touched)
                for context in sequence(first: child, next: { $0.parent }) where context !== parent.context {
                    context.performAndWait { context.rollback() }
                }
            }
            meddle(parent, walker)
            if walker.below(3) > 0 { save(parent) }
        }
    }

    /// Whatever a parent does between the steps of its children.
    private func meddle(_ parent: Parent, _ walker: Walker) {
        let context = parent.context
        do {
            switch walker.below(8) {
            case 0:
                for entity in ["Patient", "Ward", "Doctor"] {
                    for object in try context.all(entity) { _ = object.value(forKey: "name") }
                }
            case 1: context.refreshAllObjects()
            case 2:
                for saved in parent.inbox.withLock({ inbox in
                    defer { inbox = [] }
                    return inbox
                }) { NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context]) }
            case 3: for ward in try context.all("Ward") { context.refresh(ward, mergeChanges: true) }
            default: break
            }
        } catch { fail("a parent could not read: \(error)") }
    }

    private func save(_ parent: Parent) {
        let context = parent.context
        // Insertions get their IDs by the save.
        let changes = [
            (NSInsertedObjectIDsKey, context.insertedObjects), (NSUpdatedObjectIDsKey, context.updatedObjects),
            (NSDeletedObjectIDsKey, context.deletedObjects),
        ]
        defer { parent.pushed = [] }
        do {
            try context.save()
            let told = Dictionary(uniqueKeysWithValues: changes.map { ($0, $1.map(\.objectID)) })
            for other in parents where other !== parent { other.inbox.withLock { $0.append(told) } }
            ledger.withLock { ledger in
                for step in parent.pushed {
                    ledger.counted += step.counted
                    ledger.patients += step.patients
                    ledger.events[step.kind.rawValue, default: 0] += 1
                }
            }
        } catch {
            switch (error as? CocoaError)?.code.rawValue {
            case 133020: note("refused")
            case 1560, 1570: note("invalid")
            default: fail("a parent could not save: \(error)")
            }
            context.rollback()
        }
    }

    /// Only a row that is gone may be missing in a parent.
    private func judge(_ error: any Error, _ touched: [NSManagedObjectID]) {
        guard (error as? CocoaError)?.code.rawValue == 133000 else { return fail("a child could not save: \(error)") }
        note("gone")
        let reader = stack.another()
        // The cache may still have what a commit on its way has deleted.
        let there = ["Patient", "Visit"].flatMap { (try? reader.all($0)) ?? [] }.map(\.objectID)
        let areAllThere = touched.allSatisfy(there.contains)
        if areAllThere { fail("nothing was deleted, but: \(error)") }
    }

    // MARK: Steps

    private func edit(_ context: NSManagedObjectContext, _ kind: Kind, _ walker: Walker) throws -> Step? {
        let doctors = try context.all("Doctor"), wards = try context.all("Ward"), patients = try context.all("Patient")
        let (doctor, ward) = (doctors[walker.below(doctors.count)], wards[walker.below(wards.count)])
        let patient = patients.isEmpty ? nil : patients[walker.below(patients.count)]
        walker.touched = patient.map { [$0.objectID] } ?? []
        // A merge drops what is pending of a patient that is gone elsewhere. Its ward changes with it each time, so that the rest is
        // refused.
        let former = patient?.value(forKey: "ward") as? NSManagedObject
        if let patient, kind == .discharge || kind == .cancel {
            walker.touched += PushWalk.visits(patient).map(\.objectID)
        }
        if let former, [.move, .discharge, .visit, .cancel, .pair].contains(kind) { add(1, to: former, "code") }
        var (counted, change) = (0, 0)
        switch kind {
        case .count:
            counted = 1 + walker.below(9)
            add(counted, to: doctor, "code")
        case .transfer:
            for (place, doctor) in doctors.enumerated() { add(place == 0 ? -5 : 5, to: doctor, "code") }
        case .move:
            guard let patient, let former, former !== ward else { return nil }
            patient.setValue(ward, forKey: "ward")
            add(-1, to: former, "beds")
            add(1, to: ward, "beds")
        case .admit:
            guard patients.count < 6 else { return nil }
            _ = context.make("Patient", ["name": "patient", "age": 0, "ward": ward])
            add(1, to: ward, "beds")
            change = 1
        case .discharge:
            guard let patient, let former else { return nil }
            context.delete(patient)
            add(-1, to: former, "beds")
            change = -1
        case .visit:
            guard let patient else { return nil }
            let last = PushWalk.visits(patient).last?.value(forKey: "code") as? Int ?? 0
            _ = context.make("Visit", ["code": last + 1, "patient": patient])
            add(1, to: patient, "age")
        case .cancel:
            guard let patient, let visit = PushWalk.visits(patient).first else { return nil }
            context.delete(visit)
            add(-1, to: patient, "age")
        case .pair:
            guard let patient else { return nil }
            let known = patient.mutableSetValue(forKey: "doctors")
            if known.contains(doctor) { known.remove(doctor) } else { known.add(doctor) }
        }
        return Step(kind: kind, counted: counted, patients: change)
    }

    private func add(_ amount: Int, to object: NSManagedObject, _ key: String) {
        object.setValue((object.value(forKey: key) as? Int ?? 0) + amount, forKey: key)
    }

    private static func visits(_ patient: NSManagedObject) -> [NSManagedObject] {
        (patient.value(forKey: "visits") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
    }

    // MARK: The end

    /// Whether the store says what every save has left it with, and the parents say what it says.
    private func check() throws {
        for context in [stack.another()] + parents.map(\.context) {
            context.refreshAllObjects()
            let found = ledger.withLock { $0 }
            let (doctors, patients) = (try context.all("Doctor"), try context.all("Patient"))
            let sum = doctors.map { $0.value(forKey: "code") as? Int ?? 0 }.reduce(0, +)
            if sum != found.counted { fail("\(found.counted) were counted, the store has \(sum)") }
            if patients.count != found.patients {
                fail("\(found.patients) patients were left, the store has \(patients.count)")
            }
            for ward in try context.all("Ward") {
                let members = ward.value(forKey: "patients") as? Set<NSManagedObject> ?? []
                let beds = ward.value(forKey: "beds") as? Int ?? 0
                let pointing = patients.filter { $0.value(forKey: "ward") as? NSManagedObject === ward }
                if beds != members.count || members != Set(pointing) {
                    fail("a ward of \(beds) has \(members.count) members, and \(pointing.count) name it")
                }
            }
            for patient in patients {
                let codes = PushWalk.visits(patient).map { $0.value(forKey: "code") as? Int ?? 0 }
                let age = patient.value(forKey: "age") as? Int ?? 0
                if codes.count != age || codes != codes.sorted() { fail("a patient of \(age) visits has \(codes)") }
                for doctor in doctors
                where doctor.mutableSetValue(forKey: "patients").contains(patient)
                    != patient.mutableSetValue(forKey: "doctors").contains(doctor)
                { fail("a pair is there on one side only") }
            }
            let strays = try context.all("Visit").filter { $0.value(forKey: "patient") == nil }
            if !strays.isEmpty { fail("\(strays.count) visits belong to nobody") }
        }
    }
}
