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
        return WriteCount(all: foreign, own: 0, numbering: try reader.numbering(), isExact: false)
    }

    /// nil where the log's own rule was replaced (`PRAGMA wal_autocheckpoint`), so that commits of this store are not counted.
    private func loggedCount() throws -> WriteCount? {
        if options.pragmas.keys.contains(where: { $0.lowercased() == "wal_autocheckpoint" }) { return nil }
        let numbering = try reader.numbering()
        var all: Int64 = -1
        var own = 0
        try pool.read { connection in
            // Maps the index, if nothing was read yet.
            _ = try connection.foreignChanges()
            for _ in 0..<100 {
                own = counter.commits
                all = coredata_sqlite_logged_commits(connection.handle)
                if own == counter.commits { break }
            }
        }
        return all < 0 ? nil : WriteCount(all: all, own: Int64(own), numbering: numbering, isExact: true)
    }
}
