// The actions of a sequence.

/// One thing that a program does to a context. Numbers name objects.
enum Action {
    case insert(Int, Role)
    case text(Int, String?)
    case number(Int, Int?)
    case ward(Int, Int?)
    case patients(ward: Int, [Int])
    case bed(Int, Int?)
    case occupant(Int, Int?)
    case addDoctor(Int, Int)
    case removeDoctor(Int, Int)
    case addPatient(doctor: Int, Int)
    case removePatient(doctor: Int, Int)
    case doctors(Int, [Int])
    case addVisit(Int, Int)
    case patient(visit: Int, Int?)
    case moveVisit(Int, from: Int, to: Int)
    case visits(Int, [Int])
    case delete(Int)
    case process
    case undo
    case redo
    case save
    case rollback
    case reread
    /// Sets the weight with undo registration disabled.
    case weigh(Int, Double)
    case insertUnregistered(Int, Role)
    case refault(Int)

    /// The objects that it names.
    var objects: [Int] {
        switch self {
        case .insert, .insertUnregistered, .process, .undo, .redo, .save, .rollback, .reread: []
        case .text(let id, _), .number(let id, _), .moveVisit(let id, _, _), .delete(let id),
            .weigh(let id, _), .refault(let id):
            [id]
        case .ward(let id, let other), .bed(let id, let other), .occupant(let id, let other),
            .patient(let id, let other):
            other.map { [id, $0] } ?? [id]
        case .addDoctor(let id, let other), .removeDoctor(let id, let other), .addPatient(let id, let other),
            .removePatient(let id, let other), .addVisit(let id, let other):
            [id, other]
        case .patients(let id, let others), .doctors(let id, let others), .visits(let id, let others):
            [id] + others
        }
    }

    /// Whether it can be done in a state: its objects are there, and a relationship that it writes changes.
    func isApplicable(in state: Reference) -> Bool {
        let isThere = { (id: Int) in state.graph[id] != nil && !state.deleting.contains(id) }
        guard objects.allSatisfy(isThere) else { return false }
        switch self {
        case .insert(let id, _), .insertUnregistered(let id, _): return !state.isUsed(id)
        case .text, .number, .ward, .bed, .occupant, .patient, .delete, .weigh: return true
        case .process, .undo, .save, .rollback, .reread: return true
        case .addDoctor(let id, let doctor), .addPatient(let doctor, let id):
            return state.graph[id]?.doctors.contains(doctor) == false
        case .removeDoctor(let id, let doctor), .removePatient(let doctor, let id):
            return state.graph[id]?.doctors.contains(doctor) == true
        case .patients(let id, let patients): return state.view(id)?.patients != Set(patients)
        case .doctors(let id, let doctors): return state.graph[id]?.doctors != Set(doctors)
        case .addVisit(let id, let visit): return state.graph[id]?.visits.contains(visit) == false
        case .visits(let id, let visits): return state.graph[id]?.visits != visits
        case .moveVisit(let id, let from, let to):
            return from != to && max(from, to) < state.graph[id]?.visits.count ?? 0
        case .redo: return state.isProcessed && !state.undone.isEmpty && !state.isHollow
        case .refault(let id): return state.committed[id] != nil
        }
    }
}
