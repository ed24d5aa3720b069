// What a request reads one by one, and where.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("A report of a request's faults")
struct FaultReportTests {
    /// Wards with patients, whose rows are in no cache.
    private func hospital(_ count: Int) async throws -> WardHospital {
        let hospital = try await WardHospital(count)
        try await hospital.container.write { context in
            for ward in try context.all("Ward") {
                for _ in 0..<2 { context.make("Patient", ["name": "p"]).setValue(ward, forKey: "ward") }
            }
        }
        hospital.container.persistentStoreCoordinator.rowCacheLimit = 0
        return hospital
    }

    @Test("Members read one owner at a time are told with what to prefetch and the line that fired them")
    func members() async throws {
        let hospital = try await hospital(5)
        let report = FaultReport()
        let line = #line + 3
        let count = try await report.collecting {
            try await hospital.container.read { context in
                try context.all("Ward").map { ($0.value(forKey: "patients") as? Set<NSManagedObject>)?.count ?? 0 }
                    .reduce(0, +)
            }
        }
        #expect(count == 10)
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1 && finding.count == 5)
        #expect(finding.entityName == "Ward" && finding.relationshipName == "patients")
        #expect(finding.prefetchKeyPath == "patients" && finding.prefetchEntityName == "Ward")
        #expect(
            finding.sites.count == 1 && finding.sites[0].line == line && finding.sites[0].count == 5, "\(finding.sites)"
        )
        #expect(finding.sites[0].file?.hasSuffix("FaultReportTests.swift") == true)
        #expect("\(report)".hasPrefix("5 reads of Ward.patients, at "), "\(report)")
        #expect("\(report)".hasSuffix("FaultReportTests.swift:\(line): prefetch \"patients\" with Ward."), "\(report)")
    }

    @Test("With the key path prefetched nothing is told; outside of a collection nothing is traced")
    func prefetched() async throws {
        let hospital = try await hospital(4)
        let report = FaultReport()
        let read: @Sendable (NSManagedObjectContext) throws -> Bool = { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
            request.relationshipKeyPathsForPrefetching = ["patients"]
            for ward in try context.fetch(request) {
                _ = (ward.value(forKey: "patients") as? Set<NSManagedObject>)?.count
            }
            return context.faulting.isTracing
        }
        #expect(try await report.collecting { try await hospital.container.read(read) })
        #expect(report.findings.isEmpty && "\(report)" == "No faults were read one by one.")
        #expect(try await !hospital.container.read(read))
    }

    @Test("Two requests at once have a report each, also in the contexts that both use")
    func apart() async throws {
        let hospital = try await hospital(3)
        let shared = hospital.container.newBackgroundContext()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let report = FaultReport()
                    try await report.collecting {
                        try await shared.perform {
                            shared.reset()
                            for ward in try shared.all("Ward").prefix(number % 3) {
                                _ = (ward.value(forKey: "patients") as? Set<NSManagedObject>)?.count
                            }
                        }
                    }
                    #expect(report.findings.map(\.count) == (number % 3 == 0 ? [] : [number % 3]))
                }
            }
            try await group.waitForAll()
        }
        #expect(await shared.perform { !shared.faulting.isTracing && shared.faultReport == nil })
    }

    @Test("A report is handed to a context that is used without awaiting")
    func handed() async throws {
        let hospital = try await hospital(6)
        let context = hospital.container.newBackgroundContext()
        let report = FaultReport()
        try context.performAndWait {
            context.faultReport = report
            for ward in try context.all("Ward") { read(ward) }
            context.faultReport = nil
        }
        let finding = try #require(report.findings.first)
        #expect(finding.count == 6 && finding.sites.count == 1 && finding.sites[0].function.contains("read"))
    }

    @inline(never)
    private func read(_ ward: NSManagedObject) { _ = (ward.value(forKey: "patients") as? Set<NSManagedObject>)?.count }
}
