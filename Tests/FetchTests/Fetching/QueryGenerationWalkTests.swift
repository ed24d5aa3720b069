// Pinned contexts under threads that write, over several stores, and in random order.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct QueryGenerationWalkTests {
    private func ages(_ context: NSManagedObjectContext) throws -> [Int] {
        return try context.fetch(NSFetchRequest<NSManagedObject>("Patient", by: "code")).map {
            ($0.value(forKey: "age") as? Int) ?? -1
        }
    }

    @Test(
        "While threads move years from patient to patient, each pinned context sees a whole state, and the same one again"
    )
    func threads() throws {
        let stack = try Stack(undo: false)
        for code in 0..<6 { _ = stack.context.make("Patient", ["name": "p\(code)", "code": code, "age": 100]) }
        try stack.context.save()
        let ids = try stack.context.all("Patient").map(\.objectID)
        // A second coordinator, as another process has it.
        let other = try NSPersistentStoreCoordinator(
            stack.coordinator.managedObjectModel, at: stack.folder.file("store.sqlite"))
        let isDone = Flag()
        let (saves, wrong) = (Tally(), Tally())
        let errors = Errors()
        let coordinator = stack.coordinator
        inThreads(4) { thread in
            do {
                var random = SplitMix(UInt64(thread))
                if thread < 2 {
                    defer { isDone.raise() }
                    let writer = (thread == 0 ? coordinator : other).context()
                    writer.mergePolicy = NSMergePolicy.error
                    while !isDone.isRaised {
                        do {
                            writer.reset()
                            let found = try writer.all("Patient")
                            let (from, to) = (found[random.below(6)], found[random.below(6)])
                            if from === to { continue }
                            from.setValue((from.value(forKey: "age") as? Int ?? 0) - 1, forKey: "age")
                            to.setValue((to.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
                            try writer.save()
                            saves.add()
                        } catch let error as CocoaError where error.code.rawValue == 133020 { writer.rollback() }
                    }
                    return
                }
                defer { if thread == 2 { isDone.raise() } }
                let reader = coordinator.context()
                try reader.setQueryGenerationFrom(.current)
                for round in 0..<60 {
                    let first = try ages(reader)
                    if first.reduce(0, +) != 600 { wrong.add() }
                    while saves.count < round * 2, !isDone.isRaised { sched_yield() }
                    if try ages(reader) != first { wrong.add() }
                    let single = try ids.map { try reader.existingObject(with: $0).value(forKey: "age") as? Int ?? 0 }
                    if single.reduce(0, +) != 600 || single.sorted() != first.sorted() { wrong.add() }
                    if round % 2 == 0 { reader.reset() } else { try reader.setQueryGenerationFrom(.current) }
                }
            } catch { errors.add(error) }
        }
        #expect(errors.all == [] && wrong.count == 0 && saves.count > 0)
        #expect(stack.coordinator.counters.pinnedViews == 0)
        withExtendedLifetime(stack) {}
    }

    /// Threads of their own: queues start no more at once than there are processors.
    private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(number)
                group.leave()
            }
        }
        group.wait()
    }

    private final class Flag: Sendable {
        private let state = Atomic<Bool>(false)
        var isRaised: Bool { state.load(ordering: .acquiring) }
        func raise() { state.store(true, ordering: .releasing) }
    }

    private final class Errors: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }
        func add(_ error: any Error) { state.withLock { $0.append("\(error)") } }
    }

    private final class Tally: Sendable {
        private let number = Atomic<Int>(0)
        var count: Int { number.load(ordering: .acquiring) }
        func add() { number.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    }

    @Test("A context over several stores sees one state of each; of a store in memory the latest")
    func severalStores() throws {
        let folder = Folder()
        var draft = Clinic.draft()
        draft.configurations = [
            "House": ["Place", "Ward", "Bed"], "People": ["Patient", "Visit", "Badge"], "Memory": ["Doctor"],
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
        for (type, name) in [
            (NSSQLiteStoreType, "House"), (NSSQLiteStoreType, "People"), (NSInMemoryStoreType, "Memory"),
        ] {
            _ = try coordinator.addPersistentStore(ofType: type, configurationName: name, at: folder.file(name))
        }
        func counts(_ context: NSManagedObjectContext) throws -> [Int] {
            try ["Bed", "Visit", "Doctor"].map {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
            }
        }
        func add() throws {
            let writer = coordinator.context()
            for entity in ["Bed", "Visit", "Doctor"] { _ = writer.make(entity) }
            try writer.save()
        }
        try add()
        let pinned = coordinator.context()
        try pinned.setQueryGenerationFrom(.current)
        // The state of all is taken when the first of them is read.
        #expect(try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: "Bed")) == 1)
        try add()
        #expect(try counts(pinned) == [1, 1, 2] && counts(coordinator.context()) == [2, 2, 2])
        _ = pinned.make("Visit")
        try pinned.save()
        #expect(try counts(pinned) == [2, 3, 2])
    }

    @Test(
        "A value in a file is read as it was, replaced or deleted meanwhile, by contexts that are pinned and by their children"
    )
    func valuesInFiles() throws {
        var draft = Clinic.draft()
        let photo = try #require(draft.entities[0].attributes.firstIndex { $0.name == "photo" })
        draft.entities[0].attributes[photo].allowsExternalBinaryDataStorage = true
        let stack = try Stack(model: NSManagedObjectModel(draft: draft), undo: false)
        func large(_ byte: UInt8) -> Data { Data(repeating: byte, count: 200_000) }
        for name in ["a", "b"] { _ = stack.context.make("Patient", ["name": name, "photo": large(1)]) }
        try stack.context.save()
        let ids = try stack.context.all("Patient").map(\.objectID)
        stack.context.reset()
        func photos(_ context: NSManagedObjectContext) -> [UInt8?] {
            ids.map { (context.object(with: $0).value(forKey: "photo") as? Data)?.first }
        }
        let pinned = stack.another()
        try pinned.setQueryGenerationFrom(.current)
        #expect(try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: "Patient")) == 2)
        for byte in [2, 3] as [UInt8] {
            try stack.context.existingObject(with: ids[0]).setValue(large(byte), forKey: "photo")
            try stack.context.save()
        }
        stack.context.delete(try stack.context.existingObject(with: ids[1]))
        try stack.context.save()
        let child = pinned.child()
        #expect(photos(child) == [1, 1] && photos(pinned) == [1, 1])
        pinned.refreshAllObjects()
        #expect(photos(pinned) == [1, 1])
        pinned.reset()
        #expect(photos(pinned) == [3, nil])
    }

    /// What a context shows of everything.
    private func picture(_ context: NSManagedObjectContext) throws -> String {
        var lines: [String] = []
        for entity in ["Patient", "Ward", "Doctor", "Visit", "Bed"] {
            for object in try context.all(entity) {
                var words = [object.objectID.uriRepresentation().lastPathComponent]
                for key in object.entity.attributesByName.keys.sorted() where object.value(forKey: key) != nil {
                    words.append("\(key)=\(object.value(forKey: key) ?? "")")
                }
                for key in object.entity.relationshipsByName.keys.sorted() {
                    let targets = object.objectIDs(forRelationshipNamed: key).map {
                        $0.uriRepresentation().lastPathComponent
                    }
                    let isOrdered = object.entity.relationshipsByName[key]?.isOrdered == true
                    words.append("\(key)->\((isOrdered ? targets : targets.sorted()).joined(separator: ","))")
                }
                lines.append("\(entity) " + words.joined(separator: " "))
            }
        }
        return lines.sorted().joined(separator: "\n")
    }

    /// Changes something, the same few objects all the time.
    private func change(_ context: NSManagedObjectContext, _ random: inout SplitMix) throws {
        func some(_ entity: String) throws -> NSManagedObject? { try context.all(entity).randomElement(using: &random) }
        for _ in 0...random.below(3) {
            let entity = ["Patient", "Patient", "Ward", "Doctor", "Visit", "Bed"][random.below(6)]
            switch random.below(8) {
            case 0, 1:
                _ = context.make(entity, entity == "Bed" || entity == "Visit" ? [:] : ["name": "n\(random.below(9))"])
            case 2: if let object = try some(entity) { context.delete(object) }
            case 3: try some(entity)?.setValue(random.below(1000), forKey: "code")
            case 4: try some("Patient")?.setValue(some("Ward"), forKey: "ward")
            case 5: try some("Visit")?.setValue(some("Patient"), forKey: "patient")
            case 6: try some("Bed")?.setValue(some("Patient"), forKey: "patient")
            case _:
                guard let doctor = try some("Doctor"), let patient = try some("Patient") else { continue }
                doctor.mutableSetValue(forKey: "patients").add(patient)
            }
        }
        try context.save()
    }

    @Test(
        "Through 150 random saves each of five pinned contexts shows what the stores held when it was pinned",
        arguments: [1, 2, 3, 4])
    func walk(_ seed: UInt64) throws {
        let stack = try Stack(undo: false)
        var random = SplitMix(seed)
        let pinned = (0..<5).map { _ in stack.another() }
        var expected = [String?](repeating: nil, count: 5)
        for step in 0..<150 {
            try change(stack.context, &random)
            if random.below(3) == 0 { stack.context.reset() }
            let place = random.below(5)
            let context = pinned[place]
            if expected[place] == nil || random.below(4) == 0 {
                switch random.below(4) {
                case 0 where expected[place] != nil: context.reset()
                case 1:
                    // The state of another one.
                    guard let from = pinned.indices.first(where: { expected[$0] != nil && $0 != place }) else {
                        continue
                    }
                    context.reset()
                    try context.setQueryGenerationFrom(pinned[from].queryGenerationToken)
                    expected[place] = expected[from]
                    continue
                case _:
                    context.reset()
                    try context.setQueryGenerationFrom(.current)
                }
                expected[place] = try picture(stack.another())
            }
            #expect(try picture(context) == expected[place], "step \(step) of \(seed)")
            if random.below(4) == 0 { context.refreshAllObjects() }
        }
    }
}
