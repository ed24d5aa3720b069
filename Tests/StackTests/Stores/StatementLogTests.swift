// The log of statements, and what is told of faults that are read one by one.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct StatementLogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        func add(_ line: String) { all.withLock { $0.append(line) } }
    }

    /// Wards, each with three patients, as a coordinator sees them that has read none.
    private func rig(_ type: String, wards: Int, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let rig = Rig()
        try rig.add(type, options: options)
        let context = rig.context()
        for number in 0..<wards {
            let ward = context.make("Ward", ["name": "w\(number)"])
            for place in 0..<3 {
                context.make("Patient", ["name": "p\(number).\(place)"]).setValue(ward, forKey: "ward")
            }
        }
        try context.save()
        let other = rig.context()
        other.stalenessInterval = 0
        other.userInfo["rig"] = rig
        return other
    }

    private func wards(_ prefetched: [String]? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.relationshipKeyPathsForPrefetching = prefetched
        return request
    }

    private func readAll(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) throws {
        for ward in try context.fetch(request) { _ = (ward.value(forKey: "patients") as? Set<NSManagedObject>)?.count }
    }

    @Test("The log has each statement with its rows and time, and what was bound where that is asked for")
    func lines() throws {
        for hasBindings in [false, true] {
            let lines = Lines()
            let context = try rig(
                NSSQLiteStoreType, wards: 2,
                options: [SQLTraceOption: SQLTrace.log(bindings: hasBindings) { lines.add($0) }])
            lines.all.withLock { $0 = [] }
            let request = NSFetchRequest<NSManagedObject>("Patient", "name BEGINSWITH 'p1'")
            #expect(try context.fetch(request).count == 3)
            let found = lines.all.withLock { $0 }
            #expect(found.count == (hasBindings ? 4 : 2), "\(found)")
            #expect(
                found.first?.hasPrefix("sql: SELECT ") == true && found.first?.contains("FROM \"ZPATIENT\"") == true)
            #expect(
                found.last?.hasPrefix("annotation: total execution time: 0.") == true
                    && found.last?.hasSuffix("s for 3 rows.") == true)
            if hasBindings {
                #expect(found[1...2] == ["details: SQLite bind[0] = p1", "details: SQLite bind[1] = p2"])
            }
        }
    }

    @Test("The launch argument says what is logged, or else the environment")
    func level() {
        let name = "com.apple.CoreData.SQLDebug"
        #expect(SQLLog.level(arguments: ["program"], environment: [:]) == 0)
        #expect(SQLLog.level(arguments: ["program", "-" + name, "3"], environment: [:]) == 3)
        #expect(SQLLog.level(arguments: ["program", "-" + name], environment: [name: "1"]) == 1)
        #expect(SQLLog.level(arguments: ["program", "-" + name, "0"], environment: [name: "1"]) == 0)
    }

    @Test(
        "A program that is launched for it logs statements and repeated faults to standard error, whatever made its stores"
    )
    func launched() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("com.apple.CoreData.SQLDebug", "1", 1)
            let tests = StatementLogTests()
            let context = try tests.rig(NSSQLiteStoreType, wards: 10)
            try tests.readAll(context, tests.wards())
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains("CoreData: sql: SELECT ") && text.contains("CoreData: annotation: total execution time: "))
        #expect(
            text.contains(
                "CoreData: annotation: 10 faults of Ward.patients were read one by one: prefetch \"patients\" with Ward."
            ))
    }

    @Test(
        "Ten faults of one relationship that were read one by one are told with the key path to prefetch, and again at a hundred",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func repeated(type: String) throws {
        let context = try rig(type, wards: 120)
        let lines = Lines()
        context.repeatedFaultHandler = { lines.add("\($0)") }
        try readAll(context, wards())
        let told = lines.all.withLock { $0 }
        #expect(
            told
                == [10, 100].map {
                    "\($0) faults of Ward.patients were read one by one: prefetch \"patients\" with Ward."
                })
        lines.all.withLock { $0 = [] }
        try readAll(context, wards(["patients"]))
        #expect(lines.all.withLock { $0 } == [])
        // Each fetch counts anew, and nobody is told once it is off.
        for _ in 0..<4 {
            context.reset()
            let request = wards()
            request.fetchLimit = 9
            try readAll(context, request)
        }
        #expect(lines.all.withLock { $0 } == [])
        context.repeatedFaultHandler = nil
        context.reset()
        try readAll(context, wards())
        #expect(lines.all.withLock { $0 } == [] && !context.faulting.isTracing)
    }

    @Test("The key path begins at what was fetched, however far the objects were reached")
    func farther() throws {
        let context = try rig(NSSQLiteStoreType, wards: 12)
        let lines = Lines()
        context.repeatedFaultHandler = {
            lines.add("\($0.prefetchEntityName ?? "-"): \($0.prefetchKeyPath ?? "-"), \($0.count)")
        }
        for ward in try context.fetch(wards(["patients"])) {
            for patient in ward.value(forKey: "patients") as? Set<NSManagedObject> ?? [] {
                _ = (patient.value(forKey: "doctors") as? Set<NSManagedObject>)?.count
            }
        }
        #expect(lines.all.withLock { $0 } == ["Ward: patients.doctors, 10"])
    }

    @Test("Both handlers may be set: a fault that is refused is told, and counted")
    func both() throws {
        let context = try rig(NSSQLiteStoreType, wards: 10)
        let (faults, repeats) = (Lines(), Lines())
        context.refusesFaults = true
        context.unexpectedFaultHandler = { faults.add("\($0)") }
        context.repeatedFaultHandler = { repeats.add("\($0)") }
        try readAll(context, wards())
        #expect(faults.all.withLock { $0.count } == 10 && repeats.all.withLock { $0.count } == 1)
        context.refusesFaults = false
        context.reset()
        try readAll(context, wards())
        #expect(faults.all.withLock { $0.count } == 10 && repeats.all.withLock { $0.count } == 2)
    }
}
