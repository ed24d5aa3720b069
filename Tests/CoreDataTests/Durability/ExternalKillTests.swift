// A save with values in files of their own that is killed, or whose files cannot be written.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability of files", .serialized, .enabled(if: ChildProgram.strace != nil, VictimProcess.whySkipped))
struct ExternalKillTests {
    private let folder = Folder()
    private static let old = ["a 1048576 1 true", "b 200000 2 true", "c 500 3 true"]
    private static let new = ["a 1048576 11 true", "changed 500 3 true", "d 1048576 14 true"]

    private func prepared(_ name: String) throws -> URL {
        let place = folder.file(name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let store = place.appendingPathComponent("album.sqlite")
        try #require(try VictimProcess.run("album", store).exitCode == 0)
        return store
    }

    private func files(_ store: URL) throws -> Set<String> {
        let place = store.deletingLastPathComponent().appendingPathComponent(".album_SUPPORT/_EXTERNAL_DATA")
        return Set(try FileManager.default.contentsOfDirectory(atPath: place.path))
    }

    private func notes(_ store: URL) throws -> [String] {
        let place = store.deletingLastPathComponent().appendingPathComponent(".album_SUPPORT")
        return try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasSuffix(".pending") }
    }

    private func referred(_ store: URL) throws -> Set<String> {
        Set(
            try SQLiteFile(store).rows("SELECT CAST(substr(ZDATA, 2, 36) AS TEXT) FROM ZPHOTO WHERE length(ZDATA) = 38")
        )
    }

    @Test(
        "A save killed on its way leaves the old or the new rows with every file they refer to, and the next opening leaves no other",
        arguments: ["write", "fsync", "pwrite64", "unlink"])
    func kill(_ call: String) throws {
        var found = (old: 0, new: 0)
        for number in 1...10 {
            let store = try prepared("\(call)-\(number)")
            let run = try VictimProcess.run(
                "replace", store, .init(call: call, effect: "signal=SIGKILL", number: number))
            #expect(try SQLiteFile(store).isSound(), "\(call) \(number)")
            #expect(try referred(store).isSubset(of: files(store)), "\(call) \(number)")
            let album = try VictimAlbum(store)
            let contents = try album.contents()
            try album.close()
            #expect(contents == Self.old || contents == Self.new, "\(call) \(number): \(contents)")
            #expect(try referred(store) == files(store), "\(call) \(number)")
            #expect(try notes(store).isEmpty, "\(call) \(number)")
            try FileManager.default.removeItem(at: store.deletingLastPathComponent())
            guard run.isKilled else {
                #expect(run.exitCode == 0 && contents == Self.new, "\(run.lines)")
                break
            }
            if contents == Self.old { found.old += 1 } else { found.new += 1 }
        }
        print("\(call): killed \(found.old + found.new) times, \(found.old) old, \(found.new) new")
        #expect(found.old + found.new > 0)
    }

    @Test(
        "A save whose file cannot be written throws and leaves rows and files as they were",
        arguments: [("write", "ENOSPC", 1...4), ("fsync", "EIO", 1...3)])
    func fault(_ call: String, _ error: String, _ numbers: ClosedRange<Int>) throws {
        var refused = 0
        for number in numbers {
            let store = try prepared("\(call)-\(error)-\(number)")
            let before = try files(store)
            let run = try VictimProcess.run(
                "replace", store, .init(call: call, effect: "error=\(error)", number: number))
            guard run.exitCode == 1 else { continue }
            refused += 1
            #expect(run.lines.contains { $0.hasPrefix("refused 134030") }, "\(run.lines)")
            #expect(try files(store) == before && notes(store).isEmpty)
            let album = try VictimAlbum(store)
            #expect(try album.contents() == Self.old)
            try album.close()
        }
        #expect(refused > 1)
    }
}
