// Saves that fail, and that nothing has changed then.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Why a save fails.
enum Cause: String, CaseIterable, Sendable {
    /// The badge of another has the same code.
    case constraint
    /// Another context changed, or deleted, a row.
    case conflict, deletedThere
    /// Values that validation refuses, of one object or of two, and a deletion that a rule denies.
    case invalid, severalInvalid, denied
    /// A relationship leads into another store.
    case crossing
    case readOnly
    /// The place of the store cannot be written.
    case writing

    struct Run: Sendable, CustomTestStringConvertible {
        let cause: Cause
        let maker: StoreMaker
        var testDescription: String { "\(cause) \(maker)" }
    }

    /// Every cause in every store that knows it.
    static let runs = allCases.flatMap { cause in cause.makers.map { Run(cause: cause, maker: $0) } }

    private var makers: [StoreMaker] {
        switch self {
        case .constraint: StoreMaker.all(for: .constraints)
        case .writing: StoreMaker.all(for: .writeFailures)
        case .conflict, .deletedThere, .invalid, .severalInvalid, .denied, .crossing, .readOnly: StoreMaker.all
        }
    }
}

/// A saved graph with pending changes of every kind, an object that has its permanent ID already, and changes to undo and redo.
private final class Scene {
    let rig: Rig
    let maker: StoreMaker
    let store: NSPersistentStore
    let second: NSPersistentStore?
    let context: NSManagedObjectContext
    let ada, bob, cy, badge: NSManagedObject
    let wards, doctors: [NSManagedObject]
    /// Looks at the file past the coordinator that is tested, where the store is one for several.
    private let outside: Rig
    private var readers: [NSManagedObjectContext] = []

    init(_ maker: StoreMaker, severalStores: Bool = false) throws {
        self.maker = maker
        var draft = Clinic.draft()
        for index in draft.entities.indices where draft.entities[index].name == "Badge" && maker.keepsConstraints {
            draft.entities[index].uniquenessConstraints = [["code"]]
        }
        rig = Rig(NSManagedObjectModel(draft: draft))
        store = try rig.add(maker.type)
        second = severalStores ? try rig.add(maker.type, "second") : nil
        if maker.type == NSSQLiteStoreType {
            outside = Rig(NSManagedObjectModel(draft: draft), in: rig.folder)
            try outside.add(maker.type)
            if severalStores { try outside.add(maker.type, "second") }
        } else {
            outside = rig
        }
        context = rig.context()
        context.undoManager = UndoManager()
        let context = context
        wards = ["North", "South", "Gone"].map { context.make("Ward", ["name": $0, "beds": 2]) }
        doctors = ["a", "b"].map { context.make("Doctor", ["name": $0]) }
        badge = context.make("Badge", ["code": "x", "doctor": doctors[0]])
        let patients = ["Ada", "Bob", "Leaver"].map { Scene.patient($0, context) }
        (ada, bob) = (patients[0], patients[1])
        for patient in patients {
            patient.setValue(wards[0], forKey: "ward")
            patient.setValue(Set(doctors), forKey: "doctors")
        }
        cy = context.make("Patient", ["name": "Cy", "ward": wards[0]])
        try context.save()
        context.undoManager?.removeAllActions()
        try change(leaver: patients[2])
    }

    private static func patient(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let patient = context.make(
            "Patient",
            [
                "name": name, "age": 30, "weight": 1.5, "born": Date(timeIntervalSinceReferenceDate: 9), "tag": UUID(),
                "photo": Data([1, 2]),
            ])
        patient.setValue(NSOrderedSet(array: ["1", "2"].map { context.make("Visit", ["note": $0]) }), forKey: "visits")
        patient.setValue(context.make("Bed", ["number": 1]), forKey: "bed")
        return patient
    }

    private func change(leaver: NSManagedObject) throws {
        ada.setValue("Ada B.", forKey: "name")
        ada.setValue(wards[1], forKey: "ward")
        ada.setValue(Data([3]), forKey: "photo")
        context.processPendingChanges()
        ada.setValue(Set([doctors[1]]), forKey: "doctors")
        let visits = (ada.value(forKey: "visits") as? NSOrderedSet)?.array ?? []
        ada.setValue(NSOrderedSet(array: [context.make("Visit", ["note": "3"])] + visits.dropLast()), forKey: "visits")
        _ = Scene.patient("New", context)
        let early = context.make("Doctor", ["name": "Early"])
        try context.obtainPermanentIDs(for: [early])
        early.setValue(Set([ada]), forKey: "patients")
        cy.setValue(70, forKey: "age")
        context.processPendingChanges()
        context.delete(leaver)
        context.delete(wards[2])
        context.processPendingChanges()
        for age in [40, 50] {
            bob.setValue(age, forKey: "age")
            context.processPendingChanges()
        }
        context.undo()
    }

    /// A context that has seen nothing yet.
    func reader() -> NSManagedObjectContext {
        let reader = outside.context()
        reader.stalenessInterval = 0
        readers.append(reader)
        return reader
    }

    func picture() throws -> Picture {
        context.processPendingChanges()
        return try Picture(context, rows: reader())
    }

    /// The file of a store that is one file as a whole.
    func bytes() -> Data? {
        maker.type == NSSQLiteStoreType ? nil : try? Data(contentsOf: rig.folder.file("store"))
    }

    /// What the next save meets, and how it is removed.
    func spoil(_ cause: Cause) throws -> () throws -> Void {
        switch cause {
        case .constraint:
            let twin = context.make("Badge", ["code": "x"])
            return { twin.setValue("y", forKey: "code") }
        case .conflict:
            let other = rig.context()
            try other.existingObject(with: ada.objectID).setValue(9.5, forKey: "weight")
            try other.save()
            return { self.context.refresh(self.ada, mergeChanges: true) }
        case .deletedThere:
            // Else owners that the other writer has changed as well stay as they were read.
            context.comparesRelationshipOwners = true
            let other = rig.context()
            other.delete(try other.existingObject(with: cy.objectID))
            try other.save()
            return { self.context.mergePolicy = NSMergePolicy.overwrite }
        case .invalid:
            ada.setValue(nil, forKey: "name")
            return { self.ada.setValue("Ada", forKey: "name") }
        case .severalInvalid:
            for patient in [ada, bob] { patient.setValue(nil, forKey: "name") }
            return { for patient in [self.ada, self.bob] { patient.setValue("Ada", forKey: "name") } }
        case .denied:
            context.delete(doctors[0])
            return { self.badge.setValue(self.doctors[1], forKey: "doctor") }
        case .crossing:
            let stranger = context.make("Patient", ["name": "Stranger"])
            context.assign(stranger, to: try #require(second))
            stranger.setValue(wards[1], forKey: "ward")
            return { stranger.setValue(nil, forKey: "ward") }
        case .readOnly:
            store.isReadOnly = true
            return { self.store.isReadOnly = false }
        case .writing: return try spoilPlace()
        }
    }

    private struct Refused: Error {}

    private func spoilPlace() throws -> () throws -> Void {
        switch maker.type {
        case NSSQLiteStoreType:
            // Fails in the midst of the transaction, when other rows are written already.
            try rig.run("CREATE TRIGGER STOP BEFORE UPDATE ON ZPATIENT BEGIN SELECT RAISE(ABORT, 'out of order'); END")
            return { try self.rig.run("DROP TRIGGER STOP") }
        case ShelfStore.type:
            let shelf = Shelf.at(try #require(store.url))
            shelf.refusal = Refused()
            return { shelf.refusal = nil }
        default:
            // Nobody can write beside a file whose folder is gone.
            let (folder, away) = (rig.folder.url, rig.folder.url.appendingPathExtension("away"))
            try FileManager.default.moveItem(at: folder, to: away)
            return { try FileManager.default.moveItem(at: away, to: folder) }
        }
    }
}

@Suite struct FailedSaveTests {
    private static let codes: [Cause: Int] = [
        .constraint: 133021, .conflict: 133020, .deletedThere: 133020, .invalid: 1570, .severalInvalid: 1560,
        .denied: 1600,
        .crossing: 133010, .readOnly: 134070,
    ]

    @Test(
        "6.9 A save that fails leaves values, state, IDs, undo and rows as they were; the next one works once the cause is removed",
        arguments: Cause.runs)
    func failed(_ run: Cause.Run) throws {
        let scene = try Scene(run.maker, severalStores: run.cause == .crossing)
        let bytes = scene.bytes()
        let cure = try scene.spoil(run.cause)
        let spoilt = run.cause == .writing ? bytes : scene.bytes()
        let before = try scene.picture()
        #expect(scene.context.undoManager?.undoCount ?? 0 > 3 && before.facts.count > 40)
        // Twice: the first failure must not make the second another one.
        for _ in 1...2 {
            let error = #expect(throws: (any Error).self) { try scene.context.save() }
            if let code = Self.codes[run.cause] {
                #expect((error as? CocoaError)?.code.rawValue == code, "\(error as Any)")
            }
            #expect(try scene.picture().differences(from: before) == [])
        }
        if run.cause != .writing { #expect(scene.bytes() == spoilt) }
        try cure()
        if run.cause == .writing { #expect(scene.bytes() == bytes) }
        try scene.context.save()
        #expect(!scene.context.hasChanges)
        #expect(try Picture.rows(scene.context) == Picture.rows(scene.reader()))
        // All of it can still be undone, and that be saved.
        while scene.context.undoManager?.canUndo == true { scene.context.undo() }
        #expect(scene.ada.value(forKey: "name") as? String == "Ada" && scene.context.hasChanges)
        try scene.context.save()
        #expect(try scene.context.all("Patient").count == 4)
        #expect(try Picture.rows(scene.context) == Picture.rows(scene.reader()))
    }

    @Test(
        "6.9 A child's save that fails leaves child, parent and rows as they were; the next one works once the cause is removed",
        arguments: StoreMaker.all, [Cause.invalid, .deletedThere])
    func child(_ maker: StoreMaker, _ cause: Cause) throws {
        let scene = try Scene(maker)
        let child = scene.context.child()
        child.undoManager = UndoManager()
        let bob = try child.existingObject(with: scene.bob.objectID)
        let ada = try child.existingObject(with: scene.ada.objectID)
        bob.setValue("Bobby", forKey: "name")
        bob.setValue(try child.existingObject(with: scene.wards[1].objectID), forKey: "ward")
        child.processPendingChanges()
        let visit = child.make("Visit", ["note": "child's"])
        ada.mutableOrderedSetValue(forKey: "visits").insert(visit, at: 0)
        child.delete(try child.existingObject(with: scene.cy.objectID))
        if cause == .invalid { ada.setValue(nil, forKey: "name") }
        child.processPendingChanges()
        if cause == .deletedThere { scene.context.delete(scene.bob) }
        let (above, below) = (try scene.picture(), try Picture(child))
        for _ in 1...2 {
            let error = #expect(throws: CocoaError.self) { try child.save() }
            #expect(error?.code.rawValue == (cause == .invalid ? 1570 : 133000))
            #expect(try Picture(child).differences(from: below) == [])
            #expect(try scene.picture().differences(from: above) == [])
        }
        if cause == .invalid { ada.setValue("Ada C.", forKey: "name") } else { scene.context.undo() }
        try child.save()
        #expect(!child.hasChanges && scene.bob.value(forKey: "name") as? String == "Bobby")
        try scene.context.save()
        #expect(try Picture.rows(scene.context) == Picture.rows(scene.reader()))
    }
}
