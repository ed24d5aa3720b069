// Who is told what a coordinator's stores and contexts do.

import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// The observers of one coordinator. May be used from any thread.
final class Observers: StoreListener, Sendable {
    typealias Receiver = @Sendable (CoreDataEvent) -> Void

    private struct Entry: Sendable {
        let number: Int
        let carrier: CoreDataCarrier?
        let receive: Receiver
        let mark: ObservationMark
    }
    private struct State {
        var entries: [Entry] = []
        var nextNumber = 0
    }
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    var isListening: Bool { count.load(ordering: .relaxed) > 0 }

    func add(_ carrier: CoreDataCarrier?, _ receive: @escaping Receiver) -> Int {
        state.withLock { state in
            state.nextNumber += 1
            state.entries.append(
                Entry(number: state.nextNumber, carrier: carrier, receive: receive, mark: ObservationMark()))
            count.store(state.entries.count, ordering: .relaxed)
            return state.nextNumber
        }
    }

    func remove(_ number: Int) {
        // What a receiver has captured is let go outside the lock: it may end another observation.
        let removed = state.withLock { state in
            let removed = state.entries.filter { $0.number == number }
            state.entries.removeAll { $0.number == number }
            count.store(state.entries.count, ordering: .relaxed)
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    func tell(_ event: CoreDataEvent) {
        for entry in state.withLock({ $0.entries }) { entry.receive(event) }
    }

    // MARK: Stores

    func hear(_ event: StatementEvent, path: String) {
        tell(
            .statement(
                CoreDataEvent.Statement(
                    sql: event.sql, bindingCount: event.bindingCount, rows: event.rows,
                    duration: .seconds(event.seconds), storePath: path,
                    plan: event.plan)))
    }

    func hear(_ wait: StoreWait, path: String) { tell(.wait(CoreDataEvent.Wait(wait, path: path))) }

    // MARK: Tasks

    /// What gives blocks the values that the caller's task has for observers, on whatever thread they run.
    fileprivate var restores: [CoreDataCarrier.Restore] {
        state.withLock { $0.entries.compactMap(\.carrier) }.map { $0.capture() }
    }
}

/// What a task has for observers, and the report that collects its faults.
struct CarriedValues: Sendable {
    let report = FaultReport.current
    private let restores: [CoreDataCarrier.Restore]

    /// Those of the caller's task.
    init(_ observers: Observers?) { restores = observers?.restores ?? [] }

    /// Runs work that finds the values.
    func restoring<R>(_ work: () -> R) -> R { CarriedValues.restoring(restores[...], work) }

    private static func restoring<R>(_ restores: ArraySlice<CoreDataCarrier.Restore>, _ work: () -> R) -> R {
        guard let restore = restores.last else { return work() }
        var result: R?
        restore { result = restoring(restores.dropLast(), work) }
        return result ?? restoring(restores.dropLast(), work)
    }
}
