// Events as metrics.

#if Metrics
import CoreData
import Metrics

/// The metrics of one coordinator, made once.
struct EventMetrics: Sendable {
    private let statements: Counter
    private let rows: Counter
    private let fetches: Counter
    private let saves: Counter
    private let inserted: Counter
    private let updated: Counter
    private let deleted: Counter
    private let faults: Counter
    private let cacheHits: Counter
    private let cacheMisses: Counter
    private let waits: Counter
    private let timeouts: Counter
    private let failedFetches: Counter
    private let failedSaves: Counter
    private let statementTime: Timer
    private let fetchTime: Timer
    private let saveTime: Timer
    private let faultTime: Timer
    private let readWaitTime: Timer
    private let writeWaitTime: Timer
    private let viewWaitTime: Timer
    private let blockWaitTime: Timer
    private let turnWaitTime: Timer

    init(label: String, dimensions: [(String, String)], factory: any MetricsFactory) {
        func counter(_ name: String, _ more: [(String, String)] = []) -> Counter {
            Counter(label: "\(label)_\(name)", dimensions: dimensions + more, factory: factory)
        }
        func timer(_ name: String, _ more: [(String, String)] = []) -> Timer {
            Timer(label: "\(label)_\(name)_duration", dimensions: dimensions + more, factory: factory)
        }
        statements = counter("statements")
        rows = counter("rows")
        fetches = counter("fetches")
        saves = counter("saves")
        inserted = counter("saved_objects", [("change", "inserted")])
        updated = counter("saved_objects", [("change", "updated")])
        deleted = counter("saved_objects", [("change", "deleted")])
        faults = counter("faults")
        cacheHits = counter("cache_hits")
        cacheMisses = counter("cache_misses")
        waits = counter("pool_waits")
        timeouts = counter("pool_timeouts")
        failedFetches = counter("failures", [("of", "fetch")])
        failedSaves = counter("failures", [("of", "save")])
        statementTime = timer("statement")
        fetchTime = timer("fetch")
        saveTime = timer("save")
        faultTime = timer("fault")
        readWaitTime = timer("pool_wait", [("for", "read")])
        writeWaitTime = timer("pool_wait", [("for", "write")])
        viewWaitTime = timer("pool_wait", [("for", "pinnedView")])
        blockWaitTime = timer("pool_wait", [("for", "block")])
        turnWaitTime = timer("pool_wait", [("for", "turn")])
    }

    func note(_ event: CoreDataEvent) {
        switch event {
        case .statement(let statement):
            statements.increment()
            rows.increment(by: statement.rows)
            statementTime.recordNanoseconds(statement.duration.nanoseconds)
        case .fetch(let fetch):
            fetches.increment()
            if fetch.error != nil { failedFetches.increment() }
            fetchTime.recordNanoseconds(fetch.duration.nanoseconds)
        case .save(let save): note(save)
        case .faults(let found): note(found)
        case .wait(let wait): note(wait)
        }
    }

    private func note(_ save: CoreDataEvent.Save) {
        saves.increment()
        saveTime.recordNanoseconds(save.duration.nanoseconds)
        guard save.error == nil else { return failedSaves.increment() }
        inserted.increment(by: save.inserted)
        updated.increment(by: save.updated)
        deleted.increment(by: save.deleted)
    }

    private func note(_ found: CoreDataEvent.Faults) {
        if found.isFromCache { return cacheHits.increment() }
        // Members of a to-many are in no row cache.
        if found.relationshipName == nil { cacheMisses.increment() }
        faults.increment()
        faultTime.recordNanoseconds(found.duration.nanoseconds)
    }

    private func note(_ wait: CoreDataEvent.Wait) {
        waits.increment()
        if !wait.isAdmitted { timeouts.increment() }
        let timer =
            switch wait.purpose {
            case .read: readWaitTime
            case .write: writeWaitTime
            case .pinnedView: viewWaitTime
            case .block: blockWaitTime
            case .turn: turnWaitTime
            }
        timer.recordNanoseconds(wait.duration.nanoseconds)
    }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
#endif
