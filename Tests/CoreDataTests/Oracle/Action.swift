// The actions of a sequence, and how they are drawn from a seed.

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

    /// The objects that count as written even if nothing changes.
    var subjects: Set<Int> {
        switch self {
        case .text(let id, _), .number(let id, _), .ward(let id, _), .bed(let id, _), .occupant(let id, _),
            .patient(let id, _), .moveVisit(let id, _, _), .visits(let id, _), .doctors(let id, _):
            [id]
        default: []
        }
    }
}

/// What is counted, and what a step asks for; its numbers pick among the objects that are there when it runs.
enum Deed: String, CaseIterable {
    case insert, setAttribute, setToNil, setToOne, setToMany, addMember, removeMember, insertOrdered, moveOrdered
    case replaceOrdered, setOneToOne, delete, process, undo, redo, save, rollback, reread, withoutRegistration, refault

    /// How often it is drawn.
    var weight: Int {
        switch self {
        case .insert: 16
        case .setAttribute, .setToOne, .addMember, .insertOrdered, .undo: 10
        case .process: 9
        case .setOneToOne, .moveOrdered, .delete: 7
        case .redo: 6
        case .setToNil, .removeMember, .replaceOrdered, .setToMany: 5
        case .save: 4
        case .withoutRegistration: 3
        case .reread, .refault: 2
        case .rollback: 1
        }
    }
}

struct Step {
    var deed: Deed
    var a = 0
    var b = 0
    var c = 0

    private static let deck = Deed.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    /// A sequence of 20 to 60 steps, each of which has something to work on.
    static func sequence(seed: UInt64) -> [Step] {
        var random = SplitMix(state: seed)
        var reference = Reference()
        var steps: [Step] = []
        let length = Int.random(in: 20...60, using: &random)
        while steps.count < length {
            let step = Step(
                deed: deck.randomElement(using: &random) ?? .insert, a: Int.random(in: 0..<64, using: &random),
                b: Int.random(in: 0..<64, using: &random), c: Int.random(in: 0..<64, using: &random))
            guard let action = step.action(in: reference) else { continue }
            reference.apply(action)
            steps.append(step)
        }
        return steps
    }

    /// What the step does in a given state, nil when there is nothing to do it to.
    func action(in state: Reference) -> Action? {
        func living(_ kind: Role) -> [Int] {
            state.graph.filter { $0.value.kind == kind && !state.deleting.contains($0.key) }.keys.sorted()
        }
        func pick(_ list: [Int], _ number: Int) -> Int? { list.isEmpty ? nil : list[number % list.count] }
        func one(_ kind: Role, _ number: Int) -> Int? { pick(living(kind), number) }
        let any = state.graph.keys.filter { !state.deleting.contains($0) }.sorted()
        let patient = one(.patient, a)
        switch deed {
        case .insert:
            let kinds: [Role] = [.patient, .patient, .ward, .doctor, .visit, .visit, .bed]
            return any.count < 12 ? .insert(state.count + 1, kinds[a % kinds.count]) : nil
        case .setAttribute, .setToNil:
            guard let id = pick(any, a), let kind = state.graph[id]?.kind else { return nil }
            let isNil = deed == .setToNil
            if kind.numberKey != nil, b % 2 == 0 || kind.textKey == nil || isNil && kind == .patient {
                return .number(id, isNil ? nil : c)
            }
            return .text(id, isNil ? nil : "t\(c)")
        case .setToOne:
            if b % 4 == 0, let visit = one(.visit, a) { return .patient(visit: visit, c % 5 == 0 ? nil : one(.patient, c)) }
            return patient.map { .ward($0, c % 5 == 0 ? nil : one(.ward, b)) }
        case .setToMany:
            let chosen = { (kind: Role) in living(kind).filter { ($0 &* 7 &+ c) % 3 != 0 } }
            if b % 2 == 0 { return one(.ward, a).map { .patients(ward: $0, chosen(.patient)) } }
            return patient.map { .doctors($0, chosen(.doctor)) }
        case .addMember:
            guard let patient, let doctor = one(.doctor, b), state.graph[patient]?.doctors.contains(doctor) == false
            else { return nil }
            return c % 2 == 0 ? .addDoctor(patient, doctor) : .addPatient(doctor: doctor, patient)
        case .removeMember:
            guard let patient, let doctor = pick(state.graph[patient]?.doctors.sorted() ?? [], b) else { return nil }
            return c % 2 == 0 ? .removeDoctor(patient, doctor) : .removePatient(doctor: doctor, patient)
        case .insertOrdered:
            guard let patient, let visit = one(.visit, b), state.graph[patient]?.visits.contains(visit) == false
            else { return nil }
            return .addVisit(patient, visit)
        case .moveOrdered:
            guard let patient, let count = state.graph[patient]?.visits.count, count > 1, b % count != c % count
            else { return nil }
            return .moveVisit(patient, from: b % count, to: c % count)
        case .replaceOrdered:
            var random = SplitMix(state: UInt64(b))
            let visits = living(.visit).filter { ($0 &* 5 &+ c) % 3 != 0 }.shuffled(using: &random)
            return patient.flatMap { visits == state.graph[$0]?.visits ? nil : .visits($0, visits) }
        case .setOneToOne:
            if c % 2 == 0 { return patient.map { .bed($0, c % 8 == 0 ? nil : one(.bed, b)) } }
            return one(.bed, a).map { .occupant($0, c % 9 == 0 ? nil : one(.patient, b)) }
        case .delete: return pick(any, a).map { .delete($0) }
        case .process: return .process
        case .undo: return .undo
        case .redo: return state.undone.isEmpty || !state.isProcessed ? nil : .redo
        case .save: return .save
        case .rollback: return a % 3 == 0 && state.count < 4 ? nil : .rollback
        case .reread: return .reread
        case .withoutRegistration:
            if b % 3 == 0, any.count < 12 { return .insertUnregistered(state.count + 1, Role.allCases[a % Role.allCases.count]) }
            return patient.map { .weigh($0, Double(c)) }
        case .refault: return pick(any.filter { state.committed[$0] != nil }, a).map { .refault($0) }
        }
    }
}

/// A small generator whose sequences are the same everywhere.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
