// What a coordinator does, as spans of swift-distributed-tracing.

#if Tracing
import CoreData
import Tracing

extension NSPersistentStoreCoordinator {
    /// Makes a span of each fetch, save and batch of faults that a store was asked for, until the answer is told to end, or let go.
    ///
    /// Spans are children of the span in which a task has called `perform`, `read` or `write`. Rows from the row cache make none. Ours,
    /// beside Core Data's API.
    /// - Parameter tracer: nil for the one that the program has set up.
    public func trace(with tracer: (any Tracer)? = nil) -> CoreDataObservation {
        observe(carrying: CoreDataCarrier(ServiceContext.$current)) { event in
            guard SpanDraft.isMade(of: event) else { return }
            let tracer = tracer ?? InstrumentationSystem.tracer
            guard !(tracer is NoOpTracer), let draft = SpanDraft(event) else { return }
            draft.emit(with: tracer)
        }
    }
}
#else
import CoreData

extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "add traits: [\"Tracing\"] to the dependency on OpenCoreData in Package.swift")
    public func trace(with tracer: Any? = nil) -> CoreDataObservation { observe { _ in } }
}
#endif
