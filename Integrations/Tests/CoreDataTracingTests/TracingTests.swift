// The spans that are made.

import CoreData
import CoreDataTracing
import InMemoryTracing
import IntegrationSupport
import Testing
import Tracing

@Suite("A coordinator's spans")
struct TracingTests {
    @Test("A fetch, a batch of faults and a save are spans below the span of the request that awaits them")
    func spans() async throws {
        let harbour = try await Harbour(ships: 3)
        let tracer = InMemoryTracer()
        let observation = harbour.coordinator.trace(with: tracer)
        try await tracer.withSpan("GET /ports") { _ in
            _ = try await harbour.portNames()
            try await harbour.container.write { context in
                let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
                ship.setValue("new", forKey: "name")
            }
        }
        observation.end()
        _ = try await harbour.portNames()
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["fetch Ship", "faults Port", "save", "GET /ports"])
        let request = try #require(spans.last)
        for span in spans.dropLast() {
            #expect(span.parentSpanID == request.spanID && span.traceID == request.traceID)
            #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
        }
        #expect(spans[0].attributes.get("coredata.results") == .int64(3))
        #expect(spans[1].attributes.get("coredata.rows") == .int64(3))
        #expect(spans[2].attributes.get("coredata.inserted") == .int64(1))
    }

    @Test("A fetch and a save that fail are spans with their errors")
    func failures() async throws {
        let harbour = try await Harbour(
            ships: 1, options: [SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: 0])
        let tracer = InMemoryTracer()
        let observation = try await harbour.whileReading {
            let observation = harbour.coordinator.trace(with: tracer)
            await #expect(throws: CocoaError.self) { try await harbour.portNames() }
            return observation
        }
        let context = harbour.container.newBackgroundContext()
        await #expect(throws: CocoaError.self) {
            try await context.perform {
                let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
                ship.setValue(String(repeating: "x", count: 101), forKey: "name")
                try context.save()
            }
        }
        observation.end()
        let spans = tracer.finishedSpans.filter { $0.status?.code == .error }
        #expect(spans.map(\.operationName) == ["fetch Ship", "save"])
        #expect(spans.allSatisfy { $0.errors.count == 1 && $0.errors[0].error is CocoaError })
    }
}
