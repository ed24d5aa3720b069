// What fetches were compiled to, for the next ones that differ in nothing but their values.

import CoreDataSQL
import CoreDataValues
import Synchronization

/// The SELECTs of the last shapes of fetches. To compile one takes 35,000 instructions, to find it here a thousand.
///
/// Only a plan whose bindings are its values as they stand in it is kept: then another plan of its shape
/// (`FetchPlan.values(ofSameShape:)`) has the same text with its own values. May be used from any thread.
final class SelectionCache: Sendable {
    struct Known: Sendable {
        let sql: String
        /// Names the text among the statements of a connection; nil for one that will hardly come again.
        let number: Int?
        let bindings: [Value]
    }

    private struct Entry {
        let plan: FetchPlan
        let sql: String
        let number: Int
    }

    private struct State {
        var entries: ContiguousArray<Entry> = []
        /// Where the next one goes; the oldest leaves.
        var place = 0
        /// The names of texts, also of such whose shape has left: a connection still has their statements.
        var numbers: [String: Int] = [:]
        /// How many there were: no two texts have the same number.
        var count = 0
    }

    static let limit = 32
    private let state = Mutex(State())

    func selection(_ plan: FetchPlan, _ compile: () throws -> Selection) rethrows -> Known {
        if let known = state.withLock({ SelectionCache.find(plan, $0) }) { return known }
        let made = try compile()
        guard plan.values(ofSameShape: plan) == made.bindings else {
            return Known(sql: made.sql, number: nil, bindings: made.bindings)
        }
        let number = state.withLock { SelectionCache.keep(plan, made.sql, &$0) }
        return Known(sql: made.sql, number: number, bindings: made.bindings)
    }

    private static func find(_ plan: FetchPlan, _ state: State) -> Known? {
        // By place: a loop over the entries copies each.
        for place in state.entries.indices {
            guard let values = state.entries[place].plan.values(ofSameShape: plan) else { continue }
            return Known(sql: state.entries[place].sql, number: state.entries[place].number, bindings: values)
        }
        return nil
    }

    private static func keep(_ plan: FetchPlan, _ sql: String, _ state: inout State) -> Int {
        let entry = Entry(plan: plan, sql: sql, number: number(sql, &state))
        if state.entries.count < limit {
            state.entries.append(entry)
        } else {
            state.entries[state.place] = entry
            state.place = (state.place + 1) % limit
        }
        return entry.number
    }

    private static func number(_ sql: String, _ state: inout State) -> Int {
        if let known = state.numbers[sql] { return known }
        if state.numbers.count >= StatementCache.limit { state.numbers.removeAll() }
        state.count += 1
        state.numbers[sql] = state.count
        return state.count
    }
}
