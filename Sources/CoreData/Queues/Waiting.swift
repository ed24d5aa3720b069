// Callers that wait, by their tickets.

import CoreDataValues
import Foundation

/// Callers that wait, by their tickets. A caller that leaves is no longer stored anywhere.
struct Waiting<Caller> {
    private var callers: [Int: Caller] = [:]
    /// Contains the tickets of all that wait; those at its ends may have left.
    private var range = 0..<0

    var count: Int { callers.count }

    mutating func add(_ caller: Caller, _ ticket: Int) {
        range =
            callers.isEmpty ? ticket..<ticket + 1 : min(range.lowerBound, ticket)..<max(range.upperBound, ticket + 1)
        callers[ticket] = caller
    }

    mutating func remove(_ ticket: Int) -> Caller? { callers.removeValue(forKey: ticket) }

    /// The lowest ticket.
    var first: Int? {
        mutating get {
            if callers.isEmpty { return nil }
            while callers[range.lowerBound] == nil { range = range.lowerBound + 1..<range.upperBound }
            return range.lowerBound
        }
    }

    /// Removes the caller with the lowest ticket.
    mutating func removeFirst() -> Caller? { first.flatMap { remove($0) } }
}

extension Waiting<AwaitedBlock> {
    /// Removes the blocks whose time is over, in the order of their tickets.
    mutating func removeLate(at now: UInt64) -> [AwaitedBlock] {
        let late = callers.filter { $0.value.call.deadline.map { $0 <= now } ?? false }.keys.sorted()
        return late.compactMap { remove($0) }
    }

    /// How many wait, and since when the first of them does.
    var report: (count: Int, since: UInt64?) { (count, callers.values.compactMap(\.call.waitsSince).min()) }

    /// The earliest time at which a block is to be given up.
    var deadline: UInt64? { callers.values.compactMap(\.call.deadline).min() }
}
