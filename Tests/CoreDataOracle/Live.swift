// The other side of the oracle: the same actions on a real context, and the comparison of the two.

import CoreData
import CoreDataTestSupport

/// What went wrong, and where.
struct Discrepancy: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A context under test and the objects that the sequence made, by number.
final class Live {
    let stack: Stack
    let context: NSManagedObjectContext
    private let undoManager = UndoManager()
    private var objects: [Int: NSManagedObject] = [:]
    /// The number of an object; the objects are all held by `objects`.
    private var numbers: [ObjectIdentifier: Int] = [:]

    init(_ stack: Stack, parent: NSManagedObjectContext? = nil) {
        self.stack = stack
        if let parent {
            context = parent.child()
        } else {
            context = stack.another()
        }
        context.undoManager = undoManager
    }

    func forgetUndo() { undoManager.removeAllActions() }

    // MARK: Actions

    func apply(_ action: Action) throws {
        switch action {
        case .insert(let id, let kind): insert(id, kind)
        case .text(let id, let text): set(id, kind(id).textKey, text)
        case .number(let id, let number): set(id, kind(id).numberKey, number)
        case .ward(let id, let ward): set(id, "ward", ward.map(object))
        case .bed(let id, let bed): set(id, "bed", bed.map(object))
        case .occupant(let id, let patient), .patient(let id, let patient):
            set(id, "patient", patient.map(object))
        case .patients(let ward, let patients): set(ward, "patients", Set(patients.map(object)))
        case .doctors(let id, let doctors): set(id, "doctors", Set(doctors.map(object)))
        case .addDoctor(let id, let doctor): add(id, "doctors", doctor)
        case .removeDoctor(let id, let doctor): remove(id, "doctors", doctor)
        case .addPatient(let id, let patient): add(id, "patients", patient)
        case .removePatient(let id, let patient): remove(id, "patients", patient)
        case .addVisit(let id, let visit): add(id, "visits", visit)
        case .moveVisit(let id, let from, let to):
            object(id).mutableOrderedSetValue(forKey: "visits").moveObjects(at: IndexSet(integer: from), to: to)
        case .visits(let id, let visits): set(id, "visits", NSOrderedSet(array: visits.map(object)))
        case .delete(let id):
            if !id.isMultiple(of: 2) { forgetValues() }
            context.delete(object(id))
        case .process:
            forgetValuesOfMembers()
            context.processPendingChanges()
        case .undo: context.undo()
        case .redo: context.redo()
        case .save:
            forgetValuesOfMembers()
            try context.save()
        case .rollback: context.rollback()
        case .reread: context.processPendingChanges()
        case .weigh(let id, let weight): withoutRegistration { set(id, "weight", weight) }
        case .insertUnregistered(let id, let kind): withoutRegistration { insert(id, kind) }
        case .refault(let id):
            context.processPendingChanges()
            context.refresh(object(id), mergeChanges: true)
            context.processPendingChanges()
        }
    }

    /// Makes faults of all that is unchanged, so that a deletion meets objects that were not read.
    private func forgetValues() {
        for object in objects.values
        where object.managedObjectContext === context && !object.hasChanges && !object.objectID.isTemporaryID {
            context.refresh(object, mergeChanges: true)
        }
    }

    /// The comparison has read everything since the deletion whose delete rules are applied next: they are to meet faults.
    private func forgetValuesOfMembers() {
        if context.deletedObjects.count % 2 == 1 { forgetValues() }
    }

    private func insert(_ id: Int, _ kind: Role) {
        let made = context.make(kind.rawValue, ["code": id])
        if let key = kind.textKey { made.setValue("n", forKey: key) }
        objects[id] = made
        numbers[ObjectIdentifier(made)] = id
    }

    private func withoutRegistration(_ body: () -> Void) {
        context.processPendingChanges()
        undoManager.disableUndoRegistration()
        body()
        context.processPendingChanges()
        undoManager.enableUndoRegistration()
    }

    private func object(_ id: Int) -> NSManagedObject {
        guard let object = objects[id] else { preconditionFailure("The sequence never made \(id).") }
        return object
    }

    private func kind(_ id: Int) -> Role { Role(rawValue: object(id).entity.name ?? "") ?? .patient }
    private func set(_ id: Int, _ key: String?, _ value: Any?) {
        if let key { object(id).setValue(value, forKey: key) }
    }

    private func add(_ id: Int, _ key: String, _ member: Int) {
        if key == "visits" {
            object(id).mutableOrderedSetValue(forKey: key).add(object(member))
        } else {
            object(id).mutableSetValue(forKey: key).add(object(member))
        }
    }

    private func remove(_ id: Int, _ key: String, _ member: Int) {
        object(id).mutableSetValue(forKey: key).remove(object(member))
    }

    /// Finds the objects that came by a merge or a child's save, by the number that they carry.
    func findObjects() throws {
        var found = Array(context.deletedObjects)
        for role in Role.allCases { found += try context.all(role.rawValue) }
        for object in found {
            objects[code(object)] = object
            numbers[ObjectIdentifier(object)] = code(object)
        }
    }

    /// Forgets what was there and reads everything anew.
    func startAnew() throws {
        context.reset()
        undoManager.removeAllActions()
        objects = [:]
        numbers = [:]
        try findObjects()
    }

    /// Writes attributes of an object, or deletes it.
    func write(_ fields: Clash.Fields?, to id: Int) throws {
        guard let fields else { return context.delete(object(id)) }
        if let text = fields.text { set(id, kind(id).textKey, text) }
        if let number = fields.number { set(id, kind(id).numberKey, number) }
        if let ward = fields.ward { set(id, "ward", ward.map(object)) }
        for (doctor, isPresent) in fields.doctors {
            if isPresent { add(id, "doctors", doctor) } else { remove(id, "doctors", doctor) }
        }
    }

    // MARK: Comparison

    /// Throws the first thing that is not as the reference says.
    func compare(_ reference: Reference, after action: Action) throws {
        for id in reference.graph.keys.sorted() {
            let object = object(id)
            try equal(view(object, number), reference.view(id), "object \(id)")
            try equal(object.isDeleted, reference.deleting.contains(id), "isDeleted of object \(id)")
            try equal(object.managedObjectContext === context, true, "context of object \(id) is the context")
        }
        try equal(undoManager.canUndo, !reference.done.isEmpty || !reference.isProcessed, "canUndo")
        if reference.isProcessed { try compareSets(reference) }
        if case .reread = action { try compareStore(reference) }
        try equal(context.checkInvariants(), [], "what does not hold of the context")
    }

    /// Throws the first object that is not as the reference says, and if anything is pending.
    func compareGraph(_ reference: Reference) throws {
        for id in reference.graph.keys.sorted() {
            try equal(view(object(id), number), reference.view(id), "object \(id) after a merge")
        }
        try equal(context.hasChanges, false, "hasChanges after a merge")
        try equal(context.checkInvariants(), [], "what does not hold of the context after a merge")
    }

    private func compareSets(_ reference: Reference) throws {
        try equal(ids(context.insertedObjects), reference.inserted, "insertedObjects")
        try equal(ids(context.deletedObjects), reference.deleted, "deletedObjects")
        let updated = ids(context.updatedObjects)
        let saved = Set(reference.graph.keys).intersection(reference.committed.keys)
        let possible = reference.touched.intersection(saved)
        let restored = reference.retouched.subtracting(reference.changed)
        try equal(reference.changed.subtracting(updated), [], "changed but not in updatedObjects")
        try equal(updated.subtracting(possible), [], "in updatedObjects but never written")
        try equal(updated.intersection(restored), [], "updated though undo brought the saved values back")
        let isClean = updated.isEmpty && reference.inserted.isEmpty && reference.deleted.isEmpty
        try equal(context.hasChanges, !isClean, "hasChanges")
        if !reference.isHollow { try equal(undoManager.canRedo, !reference.undone.isEmpty, "canRedo") }
        try equal(undoManager.groupingLevel, 0, "groupingLevel")
        for id in objects.keys where reference.graph[id] == nil && reference.committed[id] == nil {
            try equal(object(id).managedObjectContext == nil, true, "object \(id) has left its context")
        }
    }

    /// Reads everything through a context of its own: the store holds what was committed.
    func compareStore(_ reference: Reference) throws {
        let reader = stack.another()
        var found: Set<Int> = []
        for kind in Role.allCases {
            for object in try reader.all(kind.rawValue) {
                let id = code(object)
                found.insert(id)
                try equal(view(object, code), reference.committedView(id), "stored object \(id)")
            }
        }
        try equal(found, Set(reference.committed.keys), "stored objects")
    }

    private func code(_ object: NSManagedObject) -> Int { object.value(forKey: "code") as? Int ?? -1 }

    private func ids(_ objects: Set<NSManagedObject>) -> Set<Int> {
        Set(objects.map(number))
    }

    private func number(_ object: NSManagedObject) -> Int { numbers[ObjectIdentifier(object)] ?? code(object) }

    private func view(_ object: NSManagedObject, _ id: (NSManagedObject) -> Int) -> View {
        func target(_ key: String) -> Int? { (object.value(forKey: key) as? NSManagedObject).map(id) }
        func members(_ key: String) -> Set<Int> {
            Set((object.value(forKey: key) as? Set<NSManagedObject> ?? []).map(id))
        }
        let role = Role(rawValue: object.entity.name ?? "") ?? .patient
        var view = View()
        view.text = role.textKey.flatMap { object.value(forKey: $0) as? String }
        view.number = role.numberKey.flatMap { object.value(forKey: $0) as? Int }
        switch role {
        case .patient:
            view.weight = object.value(forKey: "weight") as? Double
            view.targets = [target("ward"), target("bed")]
            view.doctors = members("doctors")
            let visits = object.value(forKey: "visits") as? NSOrderedSet ?? []
            view.visits = visits.compactMap { $0 as? NSManagedObject }.map(id)
        case .ward, .doctor: view.patients = members("patients")
        case .visit, .bed: view.targets = [target("patient")]
        }
        return view
    }

    private func equal<T: Equatable>(_ live: T, _ expected: T, _ what: @autoclosure () -> String) throws {
        guard live != expected else { return }
        throw Discrepancy("\(what()): \(live), expected \(expected)")
    }
}
