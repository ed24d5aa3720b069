// Who uses a store's connections and who waits for one, as it is now.

import CCoreDataRuntime
import CoreDataValues
import Foundation

/// Who uses a store's connections and who waits for one.
package struct PoolReport: Sendable {
    package struct Use: Sendable {
        package let purpose: ConnectionPurpose
        /// How long it has been used, or waited for.
        package let seconds: Double
        /// What the connection has run last; nil for who waits.
        package let sql: String?
    }
    package internal(set) var uses: [Use] = []
    package internal(set) var waits: [Use] = []
    package let readerLimit: Int
    package let pinnedViewLimit: Int
}

extension SQLiteStore {
    /// Waits for nobody's work.
    package var poolReport: PoolReport { pool.report }

    /// How many reads have a connection at once, and the seconds that others wait for one.
    package var connectionLimits: (readers: Int, patience: Double) {
        (pool.isSingle ? .max : pool.options.readerLimit, pool.options.connectionTimeout)
    }

    /// Bytes of the write-ahead log; 0 where there is none.
    package var logSize: Int {
        let size = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? NSNumber
        return size.flatMap { $0 }?.intValue ?? 0
    }
}

extension Pool {
    var report: PoolReport {
        var report = PoolReport(readerLimit: options.readerLimit, pinnedViewLimit: options.pinnedViewLimit)
        let now = Ticks.now()
        func use(_ purpose: ConnectionPurpose, _ since: UInt64, _ sql: String?) -> PoolReport.Use {
            PoolReport.Use(purpose: purpose, seconds: now.seconds(since: since), sql: sql)
        }
        let leases: [Lease] = state.withLock { state in
            if state.isWriting { report.uses.append(use(.write, state.writingSince, state.writer?.running.sql)) }
            report.uses += state.busy.map { use(.read, $0.usedSince, $0.running.sql) }
            report.waits =
                state.writersInLine.map { use(.write, $0.since, nil) }
                + state.readersInLine.map { use(.read, $0.since, nil) }
                + state.viewsInLine.map { use(.pinnedView, $0.since, nil) }
            return state.leases.values.compactMap(\.lease)
        }
        // A cursor's reader is among the readers.
        report.uses += leases.filter(\.isView).compactMap { lease in
            lease.use.map { use(.pinnedView, $0.since, $0.sql) }
        }
        return report
    }
}

/// A moment of the clock that costs nothing, and how long its ticks are.
struct Ticks {
    private static let start = (ticks: coredata_ticks(), nanoseconds: coredata_slow_ticks())
    private let count: UInt64
    private let length: Double

    /// Called once before ticks are to be compared: the longer ago, the better is their length known.
    static func begin() { _ = start }

    /// Not to be called under a lock: it may have to measure for a moment.
    static func now() -> Ticks {
        if coredata_slow_ticks() - start.nanoseconds < 5_000_000 { usleep(5000) }
        let (ticks, nanoseconds) = (coredata_ticks(), coredata_slow_ticks())
        return Ticks(
            count: ticks, length: Double(nanoseconds - start.nanoseconds) / Double(max(1, ticks &- start.ticks)) / 1e9)
    }

    func seconds(since former: UInt64) -> Double { former < count ? Double(count - former) * length : 0 }
}
