// The oracle: what a context with undo must do, as values and whole-state snapshots.
// It is written from the documented behaviour and knows nothing of the implementation.

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
    /// Some event was about nothing but an object that is gone: whether undoing it leaves something to redo is open.
    private(set) var isHollow = false
    private(set) var isProcessed = true
    private(set) var count = 0
    private var eventStart: Graph = [:]

    // MARK: Views

    func view(_ id: Int) -> View? { graph.view(id, weights) }
    func committedView(_ id: Int) -> View? { committed.view(id, committedWeights) }

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

    // MARK: Other contexts

    var isClean: Bool { graph == committed && weights == committedWeights && isProcessed && touched.isEmpty }

    /// Another context has saved, or this one has read everything anew: nothing is pending, nothing can be undone.
    mutating func adopt(_ graph: Graph, _ weights: [Int: Double], count: Int) {
        (committed, committedWeights, self.count) = (graph, weights, max(count, self.count))
        rollback()
    }

    /// Whether this context has changes pending that have nothing to do with what another one does.
    func canTake(_ interruption: Interruption) -> Bool {
        guard isProcessed else {
            var state = self
            state.process()
            return state.canTake(interruption)
        }
        let id = interruption.id
        let states = done + undone + [graph, eventStart]
        guard !isClean, let saved = committed[id], committed[id] == graph[id],
            !touched.contains(id)
        else { return false }
        switch interruption {
        case .number(_, let number):
            return saved.role.numberKey != nil && saved.number != number
                && states.allSatisfy { $0[id]?.number == saved.number }
        // Nothing goes with it.
        case .delete: return states.allSatisfy { $0[id]?.visits.isEmpty ?? true }
        }
    }

    /// Another context has saved something else: it shows in all that undo and redo go back to.
    mutating func take(_ interruption: Interruption) {
        process()
        retouched = []
        func changed(_ graph: Graph) -> Graph {
            guard case .number(let id, let number) = interruption else { return graph.removing(interruption.id) }
            var graph = graph
            graph[id]?.number = number
            return graph
        }
        let walk = done + [graph] + undone.reversed()
        isHollow = isHollow || zip(walk, walk.dropFirst()).contains { $0 != $1 && changed($0) == changed($1) }
        (graph, committed, eventStart) = (changed(graph), changed(committed), changed(eventStart))
        (done, undone) = (done.map(changed), undone.map(changed))
        if case .delete(let id) = interruption {
            weights[id] = nil
            committedWeights[id] = nil
        }
    }

    /// A child has saved: what it changed is one event of this context.
    mutating func accept(_ pushed: Reference) {
        retouched = []
        process()
        count = max(count, pushed.count)
        guard graph != pushed.graph else { return }
        let former = graph
        graph = pushed.graph
        note(from: former)
        isProcessed = false
        process()
    }

    // MARK: Events

    /// Applies the delete rules and closes the event: one snapshot for the undo, nothing to redo any more.
    private mutating func process() {
        guard !isProcessed else { return }
        let former = graph
        while let id = deleting.popLast() {
            guard let node = graph[id] else { continue }
            deleting.append(contentsOf: node.visits)
            graph.remove(id)
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
        retouched = graph.difference(from: former)
        touched.formUnion(retouched)
        close()
    }

    private mutating func rollback() {
        (graph, weights, deleting, done, undone, touched, isHollow) = (
            committed, committedWeights, [], [], [], [], false
        )
        close()
    }

    private mutating func note(from former: Graph) { touched.formUnion(graph.difference(from: former)) }
}
