// Copies that are killed, or whose disk fails: what they leave, and what can be done after it.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability of copies", .serialized, .enabled(if: ChildProgram.strace != nil, VictimProcess.whySkipped))
struct CopyKillTests {
    private let folder = Folder()
    private var store: URL { folder.file("store.sqlite") }

    private func contents(_ url: URL) throws -> [String] {
        let album = try VictimAlbum(url)
        let contents = try album.contents()
        try album.close()
        return contents
    }

    private func names(_ url: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }

    private func files(_ name: String) -> [String] { names(folder.file(".\(name)_SUPPORT/_EXTERNAL_DATA")) }

    private func remove(_ name: String) {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(at: folder.file("\(name).sqlite\(suffix)"))
        }
        try? FileManager.default.removeItem(at: folder.file(".\(name)_SUPPORT"))
    }

    private func copy(_ name: String, to copy: String) throws {
        for (from, to) in [("\(name).sqlite", "\(copy).sqlite"), (".\(name)_SUPPORT", ".\(copy)_SUPPORT")] {
            try FileManager.default.copyItem(at: folder.file(from), to: folder.file(to))
        }
    }

    @Test(
        "A backup killed at its n-th step is there as a whole or not at all, and can be made again; it leaves nothing then",
        arguments: ["pwrite64", "link", "rename", "fsync", "mkdir", "unlink"])
    func backup(_ call: String) throws {
        try #require(try VictimProcess.run("album", store).exitCode == 0)
        let expected = try contents(store)
        var killed = 0
        for number in 1...500 {
            let run = try VictimProcess.run(
                "backup", store, .init(call: call, effect: "signal=SIGKILL", number: number))
            if !FileManager.default.fileExists(atPath: folder.file("copy.sqlite").path) {
                try VictimAlbum(store).copy(to: folder.file("copy.sqlite"))
            }
            #expect(try contents(folder.file("copy.sqlite")) == expected, "\(call) \(number)")
            #expect(files("copy").count == 2, "\(call) \(number)")
            #expect(try contents(store) == expected)
            remove("copy")
            if !run.isKilled { break }
            killed += 1
        }
        // What the last one left goes with the copy after it.
        try VictimAlbum(store).copy(to: folder.file("copy.sqlite"))
        #expect(names(folder.url) == [".copy_SUPPORT", ".store_SUPPORT", "copy.sqlite", "store.sqlite"])
        #expect(killed > 0)
    }

    @Test("A folder of files in which another store has its own is left alone, and the backup refused")
    func foreign() throws {
        try #require(try VictimProcess.run("album", store).exitCode == 0)
        try #require(try VictimProcess.run("album", folder.file("copy.db")).exitCode == 0)
        let before = files("copy")
        #expect(throws: CocoaError.self) { try VictimAlbum(store).copy(to: folder.file("copy.sqlite")) }
        #expect(files("copy") == before && before.count == 2)
        #expect(names(folder.url) == [".copy_SUPPORT", ".store_SUPPORT", "copy.db", "store.sqlite"])
    }

    /// Stores of two contents.
    private func pair() throws -> (old: [String], new: [String]) {
        for name in ["target", "source"] {
            try #require(try VictimProcess.run("album", folder.file("\(name).sqlite")).exitCode == 0)
        }
        try #require(try VictimProcess.run("replace", folder.file("source.sqlite")).exitCode == 0)
        let (old, new) = (try contents(folder.file("target.sqlite")), try contents(folder.file("source.sqlite")))
        try #require(old != new)
        try copy("target", to: "kept")
        return (old, new)
    }

    @Test(
        "A replacement killed at its n-th step leaves the former store or the new one, with its files and, once opened, no other",
        arguments: ["pwrite64", "rename", "fsync", "unlink", "rmdir"])
    func exchange(_ call: String) throws {
        let (old, new) = try pair()
        var found = (old: 0, new: 0)
        for number in 1...500 {
            remove("target")
            try copy("kept", to: "target")
            let target = folder.file("target.sqlite")
            let run = try VictimProcess.run(
                "exchange", target, .init(call: call, effect: "signal=SIGKILL", number: number))
            let contents = try contents(target)
            #expect(contents == old || contents == new, "\(call) \(number): \(contents)")
            if contents == old { found.old += 1 } else { found.new += 1 }
            #expect(files("target").count == 2, "\(call) \(number)")
            guard run.isKilled else {
                #expect(run.exitCode == 0 && contents == new)
                break
            }
        }
        print("replacement, \(call): \(found.old) old, \(found.new) new")
        if call == "pwrite64" { #expect(found.old > 0 && found.new > 1) }
    }

    @Test(
        "A replacement whose n-th step fails is refused with the former store and its files, or done",
        arguments: [
            ("rename", "error=EIO"), ("fsync", "error=EIO"), ("pwrite64", "error=ENOSPC"), ("openat", "error=EMFILE"),
        ])
    func failure(_ call: String, _ effect: String) throws {
        let (old, new) = try pair()
        let target = folder.file("target.sqlite")
        let calls = try VictimProcess.calls(of: call, in: "exchange", target, log: folder.file("calls"))
        for number in max(1, calls - 25)...max(calls, 1) {
            remove("target")
            try copy("kept", to: "target")
            let run = try VictimProcess.run("exchange", target, .init(call: call, effect: effect, number: number))
            let contents = try contents(target)
            #expect(
                contents == new || (run.exitCode != 0 && contents == old), "\(call) \(number): \(run.lines) \(contents)"
            )
            #expect(files("target").count == 2, "\(call) \(number)")
        }
    }
}
