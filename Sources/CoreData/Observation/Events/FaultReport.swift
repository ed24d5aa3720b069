// What a request reads one by one, and what it should prefetch.

import CoreDataCallSites
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// Collects the faults that one request fires: which key path would have prefetched them, and which lines of the program fired them.
///
///     let report = FaultReport()
///     let answer = try await report.collecting { try await container.read { context in … } }
///     for finding in report.findings where finding.count > 1 { print(finding) }
///
/// While it collects, its contexts follow how objects are reached, and each fault that is read from a store looks at the stack, some tens of
/// microseconds. Ours, beside Core Data's API.
public final class FaultReport: Sendable, CustomStringConvertible {
    /// A line of the program, and how often it fired.
    public struct Site: Sendable, Hashable, CustomStringConvertible {
        /// The path as the compiler saw it; nil where the program has no debug information.
        public let file: String?
        /// 0 without debug information.
        public let line: Int
        public let function: String
        public let count: Int
        public var description: String { file.map { "\($0):\(line)" } ?? function }
    }

    /// Faults of one kind.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The entity of the objects that were read.
        public let entityName: String
        /// The to-many whose members were read; nil for the objects' own rows.
        public let relationshipName: String?
        /// Belongs in `relationshipKeyPathsForPrefetching` of a fetch of `prefetchEntityName`; nil where no relationship led to the objects.
        public let prefetchKeyPath: String?
        public let prefetchEntityName: String?
        /// How many statements have read them.
        public let count: Int
        /// What fired them, the most frequent first.
        public let sites: [Site]

        public var description: String {
            let cure =
                prefetching(prefetchKeyPath, prefetchEntityName)
                ?? "fetch them with their property values, or load them with fulfill(_:)"
            let places = sites.isEmpty ? "" : ", at " + sites.map(\.description).joined(separator: ", ")
            return
                "\(count) \(count == 1 ? "read" : "reads") of \(faultName(entityName, relationshipName))\(places): \(cure)."
        }
    }

    /// Of the task whose contexts it is to collect from.
    @TaskLocal static var current: FaultReport?

    private struct Kind: Hashable {
        let entity: String
        let relationship: String?
        let keyPath: String?
        let start: String?
    }
    private let found = Mutex<[Kind: [CallSite?: Int]]>([:])

    public init() {}

    /// The kinds of faults so far, the most frequent first.
    public var findings: [Finding] {
        let found = found.withLock { $0 }
        let findings = found.map { kind, sites in
            Finding(
                entityName: kind.entity, relationshipName: kind.relationship, prefetchKeyPath: kind.keyPath,
                prefetchEntityName: kind.start,
                count: sites.values.reduce(0, +), sites: FaultReport.sites(sites))
        }
        return findings.sorted {
            ($1.count, $0.entityName, $0.relationshipName ?? "") < ($0.count, $1.entityName, $1.relationshipName ?? "")
        }
    }

    private static func sites(_ counts: [CallSite?: Int]) -> [Site] {
        counts.compactMap { site, count in
            site.map { Site(file: $0.file, line: $0.line, function: $0.function, count: count) }
        }.sorted { ($1.count, $0.description) < ($0.count, $1.description) }
    }

    /// Findings of more than one read, a line each.
    public var description: String {
        let repeated = findings.filter { $0.count > 1 }
        return repeated.isEmpty
            ? "No faults were read one by one." : repeated.map(\.description).joined(separator: "\n")
    }

    /// Collects from every context whose `perform`, `read` or `write` the body awaits, tasks within it included.
    public nonisolated(nonsending) func collecting<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        let mark = ObservationMark()
        defer { withExtendedLifetime(mark) {} }
        return try await FaultReport.$current.withValue(self, operation: body)
    }

    /// Called before a fault is read, on the thread that fired it.
    func add(_ fault: UnexpectedFault) {
        let site = CallSites.shared.current()
        let kind = Kind(
            entity: fault.entityName, relationship: fault.relationshipName, keyPath: fault.prefetchKeyPath,
            start: fault.prefetchEntityName)
        found.withLock { $0[kind, default: [:]][site, default: 0] += 1 }
    }
}

extension NSManagedObjectContext {
    /// Collects the faults that this context fires, whoever fires them; nil at first. For contexts that are used without `await perform`.
    public final var faultReport: FaultReport? {
        get { faulting.watch?.report }
        set {
            guard newValue != nil || faulting.watch != nil else { return }
            faulting.requiredWatch.report = newValue
            faulting.lookWhetherTracing()
        }
    }

    /// A block that finds what its task has for observers, and collects for the task's report.
    @inline(never)
    nonisolated final func carrying<R>(_ work: @escaping @Sendable () -> R) -> @Sendable () -> R {
        let carried = CarriedValues(persistentStoreCoordinator?.observers)
        return { self.carrying(carried, work) }
    }

    /// Runs work for a task that has left values for observers, and a report maybe.
    nonisolated final func carrying<R>(_ carried: CarriedValues?, _ work: () -> R) -> R {
        guard let carried else { return work() }
        guard let report = carried.report else { return carried.restoring(work) }
        return asHolder {
            let former = faultReport
            faultReport = report
            defer { faultReport = former }
            return FaultReport.$current.withValue(report) { carried.restoring(work) }
        }
    }
}
