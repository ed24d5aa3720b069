// The stress run: eight contexts over one SQLite store, each on its queue and thread.

import CoreData

package enum Stress {
    /// What a run has shown.
    package struct Report: Sendable {
        /// Saves of each context, and the conflicts that it met and retried.
        package var saves: [Int] = []
        package var conflicts: [Int] = []
        /// How often each kind of round was attempted.
        package var counts: [String: Int] = [:]
        /// The rows that were left.
        package var rows = 0
        /// What must not be; empty for a sound run.
        package var complaints: [String] = []

        package var summary: String {
            let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            return "saves \(saves), retried \(conflicts), \(rows) items left; \(kinds)"
        }
    }

    /// Runs the writers for some seconds, then compares the store, and what each context shows, with what was committed.
    ///
    /// - Parameter saves: what each writer should reach; those that have not go on for twenty times as long at most.
    /// - Parameter isTamperedWith: whether something is saved at the end that nobody notes; the comparison must complain.
    package static func run(
        seconds: Double, saves: Int = 0, writers count: Int = 8, seed: UInt64 = 1, isTamperedWith: Bool = false,
        in folder: URL
    ) throws -> Report {
        let file = folder.appendingPathComponent("stress.sqlite")
        let coordinator = try StressModel.coordinator(file)
        try StressModel.seed(coordinator)
        let writers = (0..<count).map { Writer($0, coordinator, seed: seed) }
        for writer in writers { writer.listen(to: writers) }
        let end = Date(timeIntervalSinceNow: seconds)
        run(writers) { Date() < end || ($0.saves < saves && Date() < end + 20 * seconds) }
        for writer in writers { writer.stopListening() }
        if isTamperedWith { try Planted.unnotedSave(coordinator) }
        let report = try report(writers, file)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return report
    }

    /// A thread a writer; answers when all have ended and every merge that waited has run.
    private static func run(_ writers: [Writer], while isGoingOn: @escaping @Sendable (Writer) -> Bool) {
        let group = DispatchGroup()
        for writer in writers {
            group.enter()
            let thread = Thread {
                while isGoingOn(writer) { writer.round() }
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
        for writer in writers { writer.context.performAndWait { writer.context.processPendingChanges() } }
    }

    private static func report(_ writers: [Writer], _ file: URL) throws -> Report {
        var (report, ledger) = (Report(), Ledger())
        for writer in writers {
            writer.context.performAndWait {}
            ledger.add(writer.committed)
            report.saves.append(writer.saves)
            report.conflicts.append(writer.conflicts)
            report.counts.merge(writer.counts, uniquingKeysWith: +)
            report.complaints += writer.complaints
        }
        var comparison = Comparison(ledger)
        let fresh = StressModel.context(try StressModel.coordinator(file))
        nonisolated(unsafe) var check = comparison
        try fresh.performAndWait { try check.check(fresh, "the store") }
        for writer in writers {
            try writer.context.performAndWait { try check.check(writer.context, writer.context.name ?? "") }
        }
        comparison = check
        report.rows = ledger.remaining.count
        report.complaints += comparison.complaints
        return report
    }
}
