// Events as spans.

#if Tracing
import CoreData
import Tracing

/// A span of work that is over.
struct SpanDraft {
    let name: String
    let duration: Duration
    var attributes = SpanAttributes()
    var error: (any Error)?

    /// Whether a span is made of an event, to be asked before anything is looked up.
    static func isMade(of event: CoreDataEvent) -> Bool {
        switch event {
        case .fetch, .save: true
        case .faults(let faults): !faults.isFromCache
        case .statement, .wait: false
        }
    }

    /// nil for what makes no span.
    init?(_ event: CoreDataEvent) {
        duration = event.duration
        switch event {
        case .fetch(let fetch):
            name = "fetch \(fetch.entityName)"
            attributes["coredata.entity"] = fetch.entityName
            attributes["coredata.kind"] = fetch.kind.rawValue
            attributes["coredata.results"] = fetch.results
            (error, attributes["coredata.context"]) = (fetch.error, fetch.contextName)
        case .save(let save):
            name = "save"
            attributes["coredata.inserted"] = save.inserted
            attributes["coredata.updated"] = save.updated
            attributes["coredata.deleted"] = save.deleted
            (error, attributes["coredata.context"]) = (save.error, save.contextName)
        case .faults(let faults):
            guard !faults.isFromCache else { return nil }
            name = "faults \(faults.entityName)" + (faults.relationshipName.map { ".\($0)" } ?? "")
            attributes["coredata.entity"] = faults.entityName
            attributes["coredata.rows"] = faults.count
            attributes["coredata.context"] = faults.contextName
        case .statement, .wait: return nil
        }
    }

    func emit(with tracer: any Tracer) {
        let end = DefaultTracerClock.now
        let (seconds, attoseconds) = duration.components
        let nanoseconds = UInt64(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - nanoseconds)
        let span = tracer.startSpan(name, context: ServiceContext.current ?? .topLevel, ofKind: .client, at: start)
        span.attributes = attributes
        if let error {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error))
        }
        span.end(at: end)
    }
}
#endif
