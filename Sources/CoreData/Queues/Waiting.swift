// Those who wait, by their tickets.

import CoreDataValues
import Foundation
import Synchronization

/// Those who wait, by their tickets. Who leaves does so without a trace.
struct Waiting<Caller> {
    private var callers: [Int: Caller] = [:]
    /// Nobody with a lower ticket waits, and nobody with this one or a higher.
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

    /// Takes out the one with the lowest ticket.
    mutating func removeFirst() -> Caller? { first.flatMap { remove($0) } }
}

extension Waiting<AwaitedBlock> {
    /// Takes out those whose time is over, in the order of their tickets.
    mutating func removeLate(at now: UInt64) -> [AwaitedBlock] {
        let late = callers.filter { $0.value.call.deadline.map { $0 <= now } ?? false }.keys.sorted()
        return late.compactMap { remove($0) }
    }

    /// When the time of the first of them is over.
    var deadline: UInt64? { callers.values.compactMap(\.call.deadline).min() }
}
