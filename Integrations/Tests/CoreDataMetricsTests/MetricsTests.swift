// What is counted and timed.

import CoreData
import CoreDataMetrics
import IntegrationSupport
import MetricsTestKit
import Testing

@Suite("A coordinator's metrics")
struct MetricsTests {
    @Test("Fetches, saves, faults and statements are counted and timed under labels and dimensions")
    func counts() async throws {
        let harbour = try await Harbour(ships: 3)
        let metrics = TestMetrics()
        let observation = harbour.coordinator.emitMetrics(label: "db", dimensions: [("container", "harbour")], factory: metrics)
        _ = try await harbour.portNames()
        try await harbour.container.write { context in
            let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
            ship.setValue("new", forKey: "name")
        }
        observation.end()
        _ = try await harbour.portNames()
        func count(_ name: String, _ more: [(String, String)] = []) throws -> Int64 {
            try metrics.expectCounter("db_\(name)", [("container", "harbour")] + more).totalValue
        }
        #expect(try count("fetches") == 1)
        #expect(try count("faults") == 1)
        #expect(try count("cache_misses") == 1)
        #expect(try count("cache_hits") == 0)
        #expect(try count("saves") == 1)
        #expect(try count("saved_objects", [("change", "inserted")]) == 1)
        #expect(try count("saved_objects", [("change", "deleted")]) == 0)
        #expect(try count("failures", [("of", "save")]) == 0)
        #expect(try count("statements") > 3)
        for name in ["fetch", "save", "fault"] {
            #expect(try metrics.expectTimer("db_\(name)_duration", [("container", "harbour")]).values.count == 1)
        }
    }
}
