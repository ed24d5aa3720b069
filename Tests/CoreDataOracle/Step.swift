// Sequences of actions, drawn from a seed.

import CoreDataSeeds

/// What is counted: each kind of thing that a sequence does.
enum Deed: String, CaseIterable {
    case insert, setAttribute, setToNil, setToOne, setOneToOne, setToMany, addMember, removeMember
    case insertOrdered, moveOrdered, replaceOrdered, delete
    case process, undo, redo, save, rollback, reread, withoutRegistration, refault

    /// How often it is drawn.
    private var weight: Int {
        switch self {
        case .insert: 40
        case .moveOrdered: 84
        case .redo: 60
        case .insertOrdered, .addMember: 30
        case .removeMember: 32
        case .setToOne: 20
        case .process: 18
        case .undo: 16
        case .setAttribute, .setOneToOne, .replaceOrdered, .refault: 12
        case .setToMany: 18
        case .setToNil, .delete, .save, .withoutRegistration: 8
        case .reread: 4
        case .rollback: 2
        }
    }

    static let deck = Deed.allCases.flatMap { Array(repeating: $0, count: $0.weight) }
}

struct Step {
    var deed: Deed
    var action: Action

    /// A sequence of 20 to 60 steps, each of which has something to work on.
    static func sequence(seed: UInt64) -> [Step] {
        var random = SplitMix(seed)
        var reference = Reference()
        var steps: [Step] = []
        let length = Int.random(in: 20...60, using: &random)
        while steps.count < length {
            let deed = Deed.deck.randomElement(using: &random) ?? .insert
            let drawn = action(deed, in: reference, count: reference.count, &random)
            guard let action = drawn, action.isApplicable(in: reference) else { continue }
            reference.apply(action)
            steps.append(Step(deed: deed, action: action))
        }
        return steps
    }
}

extension Step {
    /// An action of a kind on what a state has; `count` objects were ever made.
    static func action(_ deed: Deed, in state: Reference, count: Int, _ random: inout SplitMix) -> Action? {
        var draw = Draw(state: state, count: count, random: random)
        defer { random = draw.random }
        return draw.action(deed)
    }
}

/// Picks the objects and values of an action among what is there.
private struct Draw {
    let state: Reference
    let count: Int
    var random: SplitMix

    private mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }

    private func living(_ role: Role) -> [Int] {
        state.graph.filter { $0.value.role == role && !state.deleting.contains($0.key) }.keys.sorted()
    }

    private mutating func one(_ role: Role) -> Int? { living(role).randomElement(using: &random) }
    private mutating func any() -> Int? {
        state.graph.keys.filter { !state.deleting.contains($0) }.sorted().randomElement(using: &random)
    }

    private mutating func some(_ role: Role) -> [Int] {
        living(role).filter { _ in !chance(3) }.shuffled(using: &random)
    }

    /// nil when there is nothing to do it to.
    mutating func action(_ deed: Deed) -> Action? {
        switch deed {
        case .insert: return insertion()
        case .setAttribute, .setToNil: return attribute(isNil: deed == .setToNil)
        case .setToOne: return toOne()
        case .setToMany:
            if chance(2) { return one(.ward).map { .patients(ward: $0, some(.patient)) } }
            return one(.patient).map { .doctors($0, some(.doctor)) }
        case .addMember, .removeMember: return member(isAdded: deed == .addMember)
        case .insertOrdered: return pair(.patient, .visit).map { .addVisit($0, $1) }
        case .moveOrdered: return move()
        case .replaceOrdered: return one(.patient).map { .visits($0, some(.visit)) }
        case .setOneToOne: return oneToOne()
        case .delete: return any().map { .delete($0) }
        case .process: return .process
        case .undo: return .undo
        case .redo: return .redo
        case .save: return .save
        case .rollback: return .rollback
        case .reread: return .reread
        case .refault: return any().map { .refault($0) }
        case .withoutRegistration: return withoutRegistration()
        }
    }

    private mutating func pair(_ first: Role, _ second: Role) -> (Int, Int)? {
        guard let first = one(first), let second = one(second) else { return nil }
        return (first, second)
    }

    private mutating func insertion() -> Action? {
        let roles: [Role] = [.patient, .patient, .ward, .doctor, .visit, .visit, .bed]
        guard state.graph.count < 12, let role = roles.randomElement(using: &random) else { return nil }
        return .insert(count + 1, role)
    }

    private mutating func attribute(isNil: Bool) -> Action? {
        guard let id = any(), let role = state.graph[id]?.role else { return nil }
        // The model demands a patient's name.
        let isNumber = role.textKey == nil || isNil && role == .patient || role.numberKey != nil && chance(2)
        let value = Int.random(in: 0..<64, using: &random)
        return isNumber ? .number(id, isNil ? nil : value) : .text(id, isNil ? nil : "t\(value)")
    }

    private mutating func toOne() -> Action? {
        if chance(4), let visit = one(.visit) {
            return .patient(visit: visit, chance(5) ? nil : one(.patient))
        }
        return one(.patient).map { .ward($0, chance(5) ? nil : one(.ward)) }
    }

    private mutating func oneToOne() -> Action? {
        if chance(2) { return one(.patient).map { .bed($0, chance(5) ? nil : one(.bed)) } }
        return one(.bed).map { .occupant($0, chance(5) ? nil : one(.patient)) }
    }

    private mutating func member(isAdded: Bool) -> Action? {
        guard let (patient, doctor) = pair(.patient, .doctor) else { return nil }
        if isAdded { return chance(2) ? .addDoctor(patient, doctor) : .addPatient(doctor: doctor, patient) }
        return chance(2) ? .removeDoctor(patient, doctor) : .removePatient(doctor: doctor, patient)
    }

    private mutating func move() -> Action? {
        guard let id = one(.patient), let places = state.graph[id]?.visits.indices,
            let from = places.randomElement(using: &random), let to = places.randomElement(using: &random)
        else { return nil }
        return .moveVisit(id, from: from, to: to)
    }

    private mutating func withoutRegistration() -> Action? {
        if chance(3), let role = Role.allCases.randomElement(using: &random), state.graph.count < 12 {
            return .insertUnregistered(count + 1, role)
        }
        return one(.patient).map { .weigh($0, Double(Int.random(in: 0..<64, using: &random))) }
    }
}
