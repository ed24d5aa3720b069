// Observing what a coordinator's stores and contexts do.

import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Tells of each statement, fetch, save, fault and wait of the coordinator's stores and contexts once it has ended.
    ///
    /// For logs, metrics and tracing. The block is called on the thread that did the work, for statements and waits while a connection or
    /// its place is held, and may be called from several threads at once: let it return quickly and use no store or context. While nobody
    /// observes, nothing is made to be told. Ours, beside Core Data's API.
    /// - Parameters:
    ///   - carrier: what a task's `await perform`, `read` and `write` take along to the thread of their block.
    ///   - receive: is given each event.
    /// - Returns: what ends the observation when it is told to, or let go.
    public final func observe(
        carrying carrier: CoreDataCarrier? = nil, _ receive: @escaping @Sendable (CoreDataEvent) -> Void
    ) -> CoreDataObservation {
        CoreDataObservation(observers, number: observers.add(carrier, receive))
    }
}

/// Ends an observation of a coordinator when it is told to, or let go.
public final class CoreDataObservation: Sendable {
    private let observers: Observers
    private let number: Int

    init(_ observers: Observers, number: Int) {
        self.observers = observers
        self.number = number
    }

    deinit { end() }

    /// No event that begins to be told after this reaches the block; one that is being told may still.
    public func end() { observers.remove(number) }
}

/// Takes a task's values along to the thread on which a context runs a block that the task awaits.
///
/// Task-local values do not reach there by themselves.
public struct CoreDataCarrier: Sendable {
    /// Runs a block, at once and exactly once, with the values of the task.
    public typealias Restore = @Sendable (_ block: () -> Void) -> Void
    let capture: @Sendable () -> Restore

    /// - Parameter capture: called in the task; answers what gives a block the values that the task has now.
    public init(_ capture: @escaping @Sendable () -> Restore) { self.capture = capture }

    /// Takes one task-local value along.
    public init<Value: Sendable>(_ local: TaskLocal<Value>) {
        capture = {
            let value = local.get()
            return { block in local.withValue(value) { block() } }
        }
    }
}
