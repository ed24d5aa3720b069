// What a coordinator does, as metrics of swift-metrics.

#if Metrics
import CoreData
import Metrics

extension NSPersistentStoreCoordinator {
    /// Counts and times what the coordinator's stores and contexts do, until the answer is told to end, or let go.
    ///
    /// Counters: `statements`, `rows`, `fetches`, `saves`, `saved_objects` (by `change`), `faults`, `cache_hits`, `cache_misses`,
    /// `pool_waits`, `pool_timeouts` and `failures` (by `of`). Timers: `statement`, `fetch`, `save`, `fault` and `pool_wait`
    /// (`_duration`), the last by `for`: a connection, a place or a turn (`CoreDataEvent.Wait.Purpose`). Ours, beside Core Data's API.
    /// - Parameters:
    ///   - label: what the labels begin with, before an underscore.
    ///   - dimensions: of every metric, such as the name of the container.
    ///   - factory: nil for the one that the program has set up.
    public func emitMetrics(
        label: String = "coredata", dimensions: [(String, String)] = [], factory: (any MetricsFactory)? = nil
    ) -> CoreDataObservation {
        let metrics = EventMetrics(label: label, dimensions: dimensions, factory: factory ?? MetricsSystem.factory)
        return observe { metrics.note($0) }
    }
}
#else
import CoreData

extension NSPersistentStoreCoordinator {
    @available(*, unavailable, message: "add traits: [\"Metrics\"] to the dependency on OpenCoreData in Package.swift")
    public func emitMetrics(
        label: String = "coredata", dimensions: [(String, String)] = [], factory: Any? = nil
    ) -> CoreDataObservation { observe { _ in } }
}
#endif
