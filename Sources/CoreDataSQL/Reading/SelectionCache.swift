// What fetches were compiled to, for the next ones that differ in nothing but their values.

import CoreDataValues
import Synchronization

/// The SELECTs of the last shapes of fetches. To compile one takes 35,000 instructions, to find it here a thousand.
///
/// Only a plan whose constants are parameters (`BoundQuery.isShared`) is kept: then another plan of its shape
/// (`FetchPlan.values(ofSameShape:)`) has the same text with its own values. May be used from any thread.
package final class SelectionCache: Sendable {
    package struct Known: Sendable {
        package let sql: String
        /// Names the text among the statements of a session; nil for one that will hardly come again.
        package let number: Int?
        package let bindings: [Value]
        /// Whether it compares values that may lie in files.
        package let readsFiles: Bool
    }

    private struct Entry {
        let plan: FetchPlan
        let selection: Selection
        let number: Int
        /// Whether what is bound are the plan's values as they stand in it.
        let bindsValues: Bool

        func bindings(_ values: [Value]) -> [Value] {
            bindsValues ? values : selection.bindings.map { $0.value(among: values) }
        }
    }

    private struct State {
        var entries: ContiguousArray<Entry> = []
        /// Where the next one goes; the oldest leaves.
        var place = 0
        /// The names of texts, also of such whose shape has left: a session still has their statements.
        var numbers: [String: Int] = [:]
        /// How many there were: no two texts have the same number.
        var count = 0
    }

    static let limit = 32
    /// How many texts keep their numbers: as many as a session keeps statements.
    package static let textLimit = 256
    private let state = Mutex(State())

    package func selection(
        _ plan: FetchPlan, in schema: @autoclosure () -> Schema, _ compile: (Query) throws -> Selection
    ) throws -> Known {
        if let known = state.withLock({ SelectionCache.find(plan, $0) }) { return known }
        let query = try Query(plan, in: schema())
        let made = try compile(query)
        let bindings = made.values(for: query)
        guard query.bound.isShared else {
            return Known(sql: made.sql, number: nil, bindings: bindings, readsFiles: made.readsFiles)
        }
        let number = state.withLock { SelectionCache.keep(plan, made, query.values.count, &$0) }
        return Known(sql: made.sql, number: number, bindings: bindings, readsFiles: made.readsFiles)
    }

    private static func find(_ plan: FetchPlan, _ state: State) -> Known? {
        // By place: a loop over the entries copies each.
        for place in state.entries.indices {
            guard let values = state.entries[place].plan.values(ofSameShape: plan) else { continue }
            return Known(
                sql: state.entries[place].selection.sql, number: state.entries[place].number,
                bindings: state.entries[place].bindings(values), readsFiles: state.entries[place].selection.readsFiles)
        }
        return nil
    }

    private static func keep(_ plan: FetchPlan, _ selection: Selection, _ count: Int, _ state: inout State) -> Int {
        let bindsValues = selection.bindings == (0..<count).map { .parameter($0, .none) }
        let entry = Entry(
            plan: plan, selection: selection, number: number(selection.sql, &state), bindsValues: bindsValues)
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
        if state.numbers.count >= SelectionCache.textLimit { state.numbers.removeAll() }
        state.count += 1
        state.numbers[sql] = state.count
        return state.count
    }
}
