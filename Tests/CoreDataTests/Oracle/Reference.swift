// The oracle: what a context with undo must do, as values and whole-state snapshots.
// It is written from the documented behaviour and knows nothing of the implementation.

/// The kinds of objects that the sequences use, with the names that the model gives them.
enum Role: String, CaseIterable {
    case patient = "Patient"
    case ward = "Ward"
    case doctor = "Doctor"
    case visit = "Visit"
    case bed = "Bed"

    var textKey: String? {
        switch self {
        case .patient, .ward, .doctor: "name"
        case .visit: "note"
        case .bed: nil
        }
    }

    var numberKey: String? {
        switch self {
        case .patient: "age"
        case .ward: "beds"
        case .bed: "number"
        case .doctor, .visit: nil
        }
    }
}

/// One object. Relationships stand on the patient's side only; the other side is what follows from it.
struct Node: Equatable {
    var role: Role
    var text: String?
    var number: Int?
    var ward: Int?
    var bed: Int?
    var doctors: Set<Int> = []
    var visits: [Int] = []

    var partners: Set<Int> { doctors.union(visits).union([ward, bed].compactMap { $0 }) }
}

typealias Graph = [Int: Node]

/// One object as a reader sees it, both sides of its relationships included.
struct View: Equatable {
    var text: String?
    var number: Int?
    var weight: Double?
    var targets: [Int?] = []
    var doctors: Set<Int> = []
    var visits: [Int] = []
    var patients: Set<Int> = []
}

/// The state of one context and its store, moved by the actions of a sequence.
struct Reference {
    private(set) var graph: Graph = [:]
    private(set) var committed: Graph = [:]
    /// A value that is written without undo registration only: no snapshot holds it.
    private(set) var weights: [Int: Double] = [:]
    private(set) var committedWeights: [Int: Double] = [:]
    /// Deleted, but the delete rules were not applied yet.
    private(set) var deleting: [Int] = []
    private(set) var undone: [Graph] = []
    private(set) var done: [Graph] = []
    /// What may count as updated: written since the last save or rollback.
    private(set) var touched: Set<Int> = []
    /// What the last undo or redo changed: none of it counts as updated if it is as saved.
    private(set) var retouched: Set<Int> = []
    private(set) var isProcessed = true
    private(set) var count = 0
    private var eventStart: Graph = [:]

    // MARK: Views

    static func view(_ id: Int, _ graph: Graph, _ weights: [Int: Double]) -> View? {
        guard let node = graph[id] else { return nil }
        var view = View(text: node.text, number: node.number, weight: weights[id])
        switch node.role {
        case .patient:
            view.targets = [node.ward, node.bed]
            view.doctors = node.doctors
            view.visits = node.visits
        case .ward: view.patients = patients(graph) { $0.ward == id }
        case .doctor: view.patients = patients(graph) { $0.doctors.contains(id) }
        case .visit: view.targets = [patients(graph) { $0.visits.contains(id) }.first]
        case .bed: view.targets = [patients(graph) { $0.bed == id }.first]
        }
        return view
    }

    private static func patients(_ graph: Graph, _ fits: (Node) -> Bool) -> Set<Int> {
        Set(graph.filter { fits($0.value) }.keys)
    }

    func view(_ id: Int) -> View? { Reference.view(id, graph, weights) }
    func committedView(_ id: Int) -> View? { Reference.view(id, committed, committedWeights) }

    var inserted: Set<Int> { Set(graph.keys).subtracting(committed.keys) }
    var deleted: Set<Int> { Set(committed.keys).subtracting(graph.keys) }
    /// Saved objects that differ from their rows.
    var changed: Set<Int> {
        Set(graph.keys.filter { committed[$0] != nil && view($0) != committedView($0) })
    }

    /// Whether a number was ever given to an object.
    func isUsed(_ id: Int) -> Bool { id <= count }

    // MARK: Actions

    mutating func apply(_ action: Action) {
        retouched = []
        switch action {
        case .process, .refault, .reread: process()
        case .undo: undo()
        case .redo: redo()
        case .save:
            process()
            (committed, committedWeights, touched) = (graph, weights, [])
        case .rollback: rollback()
        case .weigh(let id, let weight):
            process()
            weights[id] = weight
            touched.insert(id)
        case .insertUnregistered(let id, let role):
            process()
            let node = Node(role: role, text: role.textKey.map { _ in "n" })
            count = max(count, id)
            graph[id] = node
            eventStart[id] = node
            for index in done.indices { done[index][id] = node }
            for index in undone.indices { undone[index][id] = node }
        case .insert, .text, .number, .ward, .patients, .bed, .occupant, .addDoctor, .removeDoctor, .addPatient,
            .removePatient, .doctors, .addVisit, .patient, .moveVisit, .visits, .delete:
            let former = graph
            edit(action)
            note(from: former)
            touched.formUnion(action.objects)
            isProcessed = false
        }
    }

    private mutating func edit(_ action: Action) {
        switch action {
        case .insert(let id, let role):
            count = max(count, id)
            graph[id] = Node(role: role, text: role.textKey.map { _ in "n" })
        case .text(let id, let text): graph[id]?.text = text
        case .number(let id, let number): graph[id]?.number = number
        case .ward(let patient, let ward): graph[patient]?.ward = ward
        case .bed(let patient, let bed): marry(patient, bed)
        case .occupant(let bed, let patient):
            for former in graph.keys where graph[former]?.bed == bed { graph[former]?.bed = nil }
            if let patient { marry(patient, bed) }
        case .addDoctor(let patient, let doctor), .addPatient(let doctor, let patient):
            graph[patient]?.doctors.insert(doctor)
        case .removeDoctor(let patient, let doctor), .removePatient(let doctor, let patient):
            graph[patient]?.doctors.remove(doctor)
        case .doctors(let patient, let doctors): graph[patient]?.doctors = Set(doctors)
        case .patients(let ward, let patients):
            for id in graph.keys where graph[id]?.ward == ward { graph[id]?.ward = nil }
            for id in patients { graph[id]?.ward = ward }
        case .addVisit(let patient, let visit), .patient(let visit, let patient?):
            guard graph[patient]?.visits.contains(visit) == false else { return }
            dropVisit(visit)
            graph[patient]?.visits.append(visit)
        case .patient(let visit, nil): dropVisit(visit)
        case .moveVisit(let patient, let from, let to):
            guard let visit = graph[patient]?.visits.remove(at: from) else { return }
            graph[patient]?.visits.insert(visit, at: to)
        case .visits(let patient, let visits):
            visits.forEach { dropVisit($0) }
            graph[patient]?.visits = visits
        case .delete(let id): deleting.append(id)
        case .process, .undo, .redo, .save, .rollback, .reread, .weigh, .insertUnregistered, .refault: break
        }
    }

    private mutating func marry(_ patient: Int, _ bed: Int?) {
        if let bed { for other in graph.keys where graph[other]?.bed == bed { graph[other]?.bed = nil } }
        graph[patient]?.bed = bed
    }

    private mutating func dropVisit(_ visit: Int) {
        for id in graph.keys { graph[id]?.visits.removeAll { $0 == visit } }
    }

    // MARK: Events

    /// Applies the delete rules and closes the event: one snapshot for the undo, nothing to redo any more.
    private mutating func process() {
        guard !isProcessed else { return }
        let former = graph
        while let id = deleting.popLast() {
            guard let node = graph[id] else { continue }
            deleting.append(contentsOf: node.visits)
            graph[id] = nil
            dropVisit(id)
            for other in graph.keys { graph[other]?.forget(id) }
        }
        note(from: former)
        done.append(eventStart)
        undone = []
        close()
    }

    private mutating func close() {
        eventStart = graph
        isProcessed = true
    }

    private mutating func undo() {
        process()
        guard let target = done.popLast() else { return }
        undone.append(graph)
        travel(to: target)
    }

    private mutating func redo() {
        process()
        guard let target = undone.popLast() else { return }
        done.append(graph)
        travel(to: target)
    }

    private mutating func travel(to target: Graph) {
        let former = graph
        graph = target
        retouched = difference(from: former)
        touched.formUnion(retouched)
        close()
    }

    private mutating func rollback() {
        (graph, weights, deleting, done, undone, touched) = (committed, committedWeights, [], [], [], [])
        close()
    }

    private mutating func note(from former: Graph) { touched.formUnion(difference(from: former)) }

    /// The objects that look different, on either side of a relationship.
    private func difference(from former: Graph) -> Set<Int> {
        var different: Set<Int> = []
        for id in Set(former.keys).union(graph.keys) where former[id] != graph[id] {
            let (old, new) = (former[id]?.partners ?? [], graph[id]?.partners ?? [])
            different.formUnion(old.symmetricDifference(new).union([id]))
        }
        return different
    }
}

extension Node {
    /// Nothing points at an object that is gone.
    fileprivate mutating func forget(_ id: Int) {
        if ward == id { ward = nil }
        if bed == id { bed = nil }
        doctors.remove(id)
    }
}
