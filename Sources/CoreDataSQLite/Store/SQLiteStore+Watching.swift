// What others do to the file.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension SQLiteStore {
    /// The log, or the file itself where there is none.
    package var changingFile: URL? {
        let place = FilePlace(url: url)
        if place.isMemory { return nil }
        return URL(fileURLWithPath: place.filePath + (pool.pinsViews ? "-wal" : ""))
    }

    /// Commits by the count in the log's index, which neither a checkpoint nor a rollback changes; without a log by what the writing
    /// connection sees of others.
    package func writeCount() throws -> WriteCount? {
        guard changingFile != nil else { return nil }
        if options.isReadOnly || pool.pinsViews, let count = try loggedCount() { return count }
        var foreign: Int64 = 0
        try pool.write { foreign = try $0.foreignChanges() }
        return WriteCount(all: foreign, own: 0, numbering: try reader.numbering(), log: nil)
    }

    /// nil where the log's own rule was replaced (`PRAGMA wal_autocheckpoint`), so that commits of this store are not counted.
    private func loggedCount() throws -> WriteCount? {
        if options.pragmas.keys.contains(where: { $0.lowercased() == "wal_autocheckpoint" }) { return nil }
        var (log, own) = try readLog()
        var numbering: Int64 = 0
        // Of one state, if others let it be.
        for _ in 0..<10 {
            numbering = try reader.numbering()
            let former = log
            (log, own) = try readLog()
            if former?.commits == log?.commits { break }
        }
        return log.map {
            WriteCount(
                all: Int64($0.commits), own: Int64(own), numbering: numbering,
                log: .init(generation: $0.generation, frames: $0.frames))
        }
    }

    /// The header of the log's index, and the commits that this store had made then.
    private func readLog() throws -> (header: coredata_sqlite_log_header?, own: Int) {
        var header = coredata_sqlite_log_header()
        var isRead = false
        var own = 0
        try pool.read { connection in
            // Maps the index, if nothing was read yet.
            _ = try connection.foreignChanges()
            for _ in 0..<100 {
                own = counter.commits
                isRead = coredata_sqlite_read_log_header(connection.handle, &header) != 0
                if own == counter.commits { break }
            }
        }
        return (isRead ? header : nil, own)
    }
}
