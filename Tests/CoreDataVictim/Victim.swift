// A process for tests to kill, to disturb and to compete with: it does one thing to one store.

import CoreData
import CoreDataValues
import Foundation

/// `CoreDataVictim <deed> <store>`; what it found goes to standard output, one fact a line. Exits with 0 when the deed was
/// done, with 1 and the error when it was refused, with 2 when something was not as promised.
@main
enum Victim {
    enum Deed: String {
        /// Makes the store that the others change.
        case prepare
        /// One save with everything in it.
        case save
        /// The same; a failed save must change nothing and succeed when it is repeated.
        case retry
        /// Saves five new persons, one at a time, and says their IDs.
        case allocate
        /// Changes a person after a line from standard input, and says how the save ended.
        case compete
        /// Lets objects outlive their context, coordinator and model.
        case outlive
        /// Makes a store with values in files.
        case album
        /// One save that replaces, gives up and adds such values.
        case replace
        /// Copies that store, in use, to `copy.sqlite` beside it.
        case backup
        /// Puts a copy of `source.sqlite` beside it in its place.
        case exchange
        /// Makes a store of the first version of a model.
        case version
        /// Brings it to the second; a refused migration must change nothing and succeed when it is repeated.
        case migrate
        /// The same by a mapping model.
        case migrateMapped
        /// Saves and reads until SIGTERM, then closes.
        case serve
    }

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let deed = Deed(rawValue: arguments[1]) else {
            say(
                "usage: CoreDataVictim prepare|save|retry|allocate|compete|outlive|album|replace|backup|exchange|version|migrate|migrateMapped|serve <store>"
            )
            exit(64)
        }
        do {
            try run(deed, URL(fileURLWithPath: arguments[2]))
        } catch let broken as BrokenPromise {
            say("broken: \(broken.sentence)")
            exit(2)
        } catch let error as StoreError {
            say("refused \(error.code): \(error.sentence)")
            exit(1)
        } catch let error as CocoaError {
            say("refused \(error.code.rawValue): \(error.userInfo[NSLocalizedDescriptionKey] ?? error)")
            exit(1)
        } catch {
            say("broken: \(error) is no CocoaError")
            exit(2)
        }
    }

    private static func run(_ deed: Deed, _ url: URL) throws {
        if deed == .serve { return try VictimServer.run(url) }
        if deed == .outlive { return try VictimStore.outlive(url) }
        if deed == .version { return try VictimMigration.prepare(url) }
        if deed == .migrate || deed == .migrateMapped {
            return try VictimMigration.run(url, mapped: deed == .migrateMapped)
        }
        if deed == .exchange { return try VictimAlbum.exchange(url) }
        if deed == .backup { return try VictimAlbum(url).copy(to: VictimAlbum.beside(url, "copy")) }
        if deed == .album || deed == .replace {
            let album = try VictimAlbum(url)
            if deed == .album { try album.prepare() } else { try album.change() }
            return try album.close()
        }
        let store = try deed == .retry ? VictimStore.opening(url) : VictimStore(url)
        switch deed {
        case .prepare: try store.prepare()
        case .save:
            try store.change()
            try store.context.save()
        case .retry: try store.saveTwice()
        case .allocate: try store.allocate()
        case .compete: try store.compete()
        case .outlive, .album, .replace, .backup, .exchange, .version, .migrate, .migrateMapped, .serve: break
        }
        try store.close()
    }

    /// At once, so that what was said before a kill is known, and not by a call that tests disturb.
    static func say(_ line: String) {
        var bytes = Array((line + "\n").utf8)
        bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            _ = writev(1, &part, 1)
        }
    }
}

/// Something that the project promises did not hold.
struct BrokenPromise: Error {
    let sentence: String
}
