// Sequences of moves, drawn from a seed.

import CoreDataSeeds

extension Turn {
    /// A sequence of 20 to 200 moves, each of which has something to work on.
    static func sequence(seed: UInt64) -> [Turn] {
        var random = SplitMix(seed &* 0x2545_F491_4F6C_DD1D)
        var trio = Trio()
        var turns: [Turn] = []
        // More short ones than long ones: what two steps break, a long walk finds no sooner.
        let length = min(Int.random(in: 20...200, using: &random), Int.random(in: 20...200, using: &random))
        while turns.count < length {
            guard let turn = draw(trio, &random), trio.isApplicable(turn.move) else { continue }
            trio.apply(turn.move)
            turns.append(turn)
        }
        return turns
    }

    /// What is counted: the actions of single contexts, and what happens between contexts.
    static let kinds =
        Deed.allCases.filter(isShared).map(\.rawValue) + ["push", "reset", "interrupt"]
        + Policy.allCases.map { "clash \($0.rawValue)" }

    /// What is written without registration is in no event, so that a push could not be undone exactly; with three contexts
    /// `reset` is what reads everything anew.
    private static func isShared(_ deed: Deed) -> Bool { deed != .withoutRegistration && deed != .reread }

    private static func draw(_ trio: Trio, _ random: inout SplitMix) -> Turn? {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: return Turn(name: "push", move: .push)
        case 3..<5: return Turn(name: "reset", move: .reset)
        case 5..<23: return clash(trio, &random)
        case 23..<30: return Turn(name: "save", move: .act(site(&random), .save))
        case 30: return Turn(name: "rollback", move: .act(site(&random), .rollback))
        case 31..<40: return Turn(name: "redo", move: .act(site(&random), .redo))
        case 40..<46: return interruption(trio, &random)
        default: return action(trio, &random)
        }
    }

    private static func site(_ random: inout SplitMix) -> Site { Site.allCases.randomElement(using: &random) ?? .first }

    private static func action(_ trio: Trio, _ random: inout SplitMix) -> Turn? {
        let site = site(&random)
        let deed = Deed.deck.randomElement(using: &random) ?? .insert
        guard isShared(deed) else { return nil }
        guard let action = Step.action(deed, in: trio.before(site), count: trio.count, &random) else { return nil }
        return Turn(name: deed.rawValue, move: .act(site, action))
    }

    private static func interruption(_ trio: Trio, _ random: inout SplitMix) -> Turn? {
        let site: Site = Bool.random(using: &random) ? .first : .second
        guard let id = trio[site].committed.keys.sorted().randomElement(using: &random) else { return nil }
        let interruption: Interruption =
            Int.random(in: 0..<3, using: &random) == 0
            ? .delete(id) : .number(id, Int.random(in: 0..<1000, using: &random))
        return Turn(name: "interrupt", move: .interrupt(site, interruption))
    }

    private static func clash(_ trio: Trio, _ random: inout SplitMix) -> Turn? {
        let candidates = trio.second.graph.filter { $0.value.role != .visit }.keys.sorted()
        guard trio.areAllClean, let id = candidates.randomElement(using: &random),
            let role = trio.second.graph[id]?.role, let policy = Policy.allCases.randomElement(using: &random)
        else { return nil }
        // An object that others point at would take them into the conflict.
        let isAlone =
            trio.second.graph.values.allSatisfy { !$0.partners.contains(id) }
            && trio.second.graph[id]?.partners.isEmpty == true
        let deletes = isAlone && Int.random(in: 0..<4, using: &random) == 0
        let clash = Clash(
            id: id, ours: deletes ? nil : fields(role, of: id, trio.second, &random),
            theirs: fields(role, of: id, trio.second, &random), policy: policy)
        return Turn(name: "clash \(policy.rawValue)", move: .clash(clash))
    }

    /// One attribute or both; of a patient now and then the ward, and a doctor.
    private static func fields(_ role: Role, of id: Int, _ state: Reference, _ random: inout SplitMix) -> Clash.Fields {
        var fields = Clash.Fields()
        let value = Int.random(in: 0..<1000, using: &random)
        let part = Int.random(in: 0..<3, using: &random)
        if role.textKey != nil, part != 0 || role.numberKey == nil { fields.text = "c\(value)" }
        if role.numberKey != nil, part != 1 || role.textKey == nil { fields.number = value }
        guard role == .patient else { return fields }
        func one(_ role: Role) -> Int? {
            state.graph.filter { $0.value.role == role }.keys.sorted().randomElement(using: &random)
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            fields.ward = .some(Bool.random(using: &random) ? one(.ward) : nil)
        }
        if Int.random(in: 0..<3, using: &random) == 0, let doctor = one(.doctor) {
            fields.doctors = [doctor: state.graph[id]?.doctors.contains(doctor) == false]
        }
        return fields
    }
}

extension Trio {
    /// The state that an action of a context starts from.
    func before(_ site: Site) -> Reference {
        var trio = self
        if site == .child { trio.catchUp() }
        return trio[site]
    }
}
