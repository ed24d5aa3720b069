// Spans of swift-distributed-tracing as lines of the log. A program with a collector bootstraps the tracer of that instead.

import Logging
import Synchronization
import Tracing

/// Writes each span that has ended: its name, how long it took, and the request that it belongs to.
struct SpanLog: Tracer {
    let logger: Logger

    func startSpan<Instant: TracerInstant>(
        _ name: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String, file: String, line: UInt
    ) -> LoggedSpan {
        LoggedSpan(name, in: context(), start: instant().nanosecondsSinceEpoch, logger: logger)
    }

    func forceFlush() {}

    // The server calls no other one, and starts a trace for each request.
    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    )
    where Extract.Carrier == Carrier {}
    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    )
    where Inject.Carrier == Carrier {}
}

final class LoggedSpan: Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var error: (any Error)?
        var isRecording = true
    }

    /// What the spans below this one are told.
    private enum Trace: ServiceContextKey { typealias Value = UInt64 }

    let context: ServiceContext
    private let start: UInt64
    private let logger: Logger
    private let state: Mutex<State>

    init(_ name: String, in context: ServiceContext, start: UInt64, logger: Logger) {
        var own = context
        own[Trace.self] = context[Trace.self] ?? .random(in: 1 ... .max)
        self.context = own
        self.start = start
        self.logger = logger
        state = Mutex(State(name: name))
    }

    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { state.withLock { $0.isRecording } }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.error = error }
    }

    func setStatus(_ status: SpanStatus) {}
    func addEvent(_ event: SpanEvent) {}
    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = instant().nanosecondsSinceEpoch
        let milliseconds = Double(max(start, end) - start) / 1e6
        let ended = state.withLock { state in
            defer { state.isRecording = false }
            return state
        }
        guard ended.isRecording else { return }
        var metadata: Logger.Metadata = ["span": "\(ended.name)", "milliseconds": "\(milliseconds)"]
        metadata["trace"] = context[Trace.self].map { "\(String($0, radix: 16))" }
        // Its type alone: what it carries may be values of objects.
        if let error = ended.error { metadata["error"] = "\(type(of: error))" }
        logger.info("span", metadata: metadata)
    }
}
