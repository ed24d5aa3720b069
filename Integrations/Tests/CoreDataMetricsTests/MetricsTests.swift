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
        let observation = harbour.coordinator.emitMetrics(
            label: "db", dimensions: [("container", "harbour")], factory: metrics)
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

    @Test(
        "A row that the cache has is a hit; changed and deleted objects, rows and statements are counted each for itself"
    )
    func others() async throws {
        let harbour = try await Harbour(ships: 3)
        let metrics = TestMetrics()
        let observation = harbour.coordinator.emitMetrics(label: "db", factory: metrics)
        try await harbour.container.write { context in
            let ships = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Ship"))
            ships[0].setValue("other", forKey: "name")
            ships[1].setValue("another", forKey: "name")
            context.delete(ships[2])
        }
        func count(_ name: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
            try metrics.expectCounter("db_\(name)", dimensions).totalValue
        }
        let written = try count("rows")
        // The ports are faults, and the save that made them left their rows in the cache.
        let names = try await harbour.container.read { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ship")
            return try context.fetch(request).compactMap { $0.value(forKeyPath: "port.name") as? String }
        }
        observation.end()
        #expect(names.count == 2)
        #expect(try count("cache_hits") > 0)
        // Two ships, and the port that lost the third.
        #expect(try count("saved_objects", [("change", "updated")]) == 3)
        #expect(try count("saved_objects", [("change", "deleted")]) == 1)
        #expect(try count("saved_objects", [("change", "inserted")]) == 0)
        #expect(try count("rows") - written == 2)
        #expect(try metrics.expectTimer("db_statement_duration", []).values.count == Int(count("statements")))
    }

    @Test(
        "Who waits for a connection is counted and timed; who gets none is counted as refused, and his fetch as failed",
        arguments: [true, false])
    func waits(_ isPatient: Bool) async throws {
        let harbour = try await Harbour(
            ships: 3, options: [SQLiteReaderLimitOption: 1, SQLiteConnectionTimeoutOption: isPatient ? 240 : 0])
        let metrics = TestMetrics()
        let waiting = try await harbour.whileReading {
            let observation = harbour.coordinator.emitMetrics(label: "db", factory: metrics)
            let waiting = Task { try await harbour.portNames() }
            if isPatient {
                await harbour.awaitWaiting()
            } else {
                await #expect(throws: CocoaError.self) { try await waiting.value }
            }
            return (task: waiting, observation: observation)
        }
        if isPatient { #expect(try await waiting.task.value == ["p0", "p1", "p2"]) }
        waiting.observation.end()
        func count(_ name: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
            try metrics.expectCounter("db_\(name)", dimensions).totalValue
        }
        // Once both go on, each may have to wait for the other again.
        let waits = try count("pool_waits")
        #expect(waits >= 1)
        let ofBlocks = try ["block", "turn"].map {
            try metrics.expectTimer("db_pool_wait_duration", [("for", $0)]).values.count
        }.reduce(0, +)
        #expect(try count("pool_timeouts") == (isPatient ? 0 : 1))
        #expect(try count("failures", [("of", "fetch")]) == (isPatient ? 0 : 1))
        #expect(
            try metrics.expectTimer("db_pool_wait_duration", [("for", "read")]).values.count + ofBlocks == Int(waits))
        #expect(try metrics.expectTimer("db_pool_wait_duration", [("for", "write")]).values.isEmpty)
    }

    @Test("A save that fails is counted as failed, and nothing of it as saved")
    func failures() async throws {
        let harbour = try await Harbour(ships: 1)
        let metrics = TestMetrics()
        let observation = harbour.coordinator.emitMetrics(factory: metrics)
        await #expect(throws: CocoaError.self) {
            try await harbour.container.write { context in
                let ship = NSEntityDescription.insertNewObject(forEntityName: "Ship", into: context)
                ship.setValue(String(repeating: "x", count: 101), forKey: "name")
            }
        }
        observation.end()
        #expect(try metrics.expectCounter("coredata_failures", [("of", "save")]).totalValue == 1)
        #expect(try metrics.expectCounter("coredata_saves").totalValue == 1)
        #expect(try metrics.expectCounter("coredata_saved_objects", [("change", "inserted")]).totalValue == 0)
    }
}
