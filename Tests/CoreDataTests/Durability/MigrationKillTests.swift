// A migration that is killed, or whose disk fails, leaves the old store or the new one.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability of a migration", .serialized, .enabled(if: ChildProgram.strace != nil, VictimProcess.whySkipped))
struct MigrationKillTests {
    private let folder = Folder()
    /// In place, as the models tell, and by a mapping model.
    static let deeds = ["migrate", "migrateMapped"]

    /// The calls of a kind that fail, one in each run; of those that a migration makes by the hundred every eleventh, as each run is a
    /// process of its own, and all with `SWEEP_STEP=1`. Killed it is at each of them.
    private static func failing(_ call: String, of count: Int) -> StrideTo<Int> {
        stride(from: 1, to: max(count, 1) + 1, by: call == "pwrite64" ? step : 1)
    }
    private static let step = ProcessInfo.processInfo.environment["SWEEP_STEP"].flatMap(Int.init) ?? 11

    /// A store of the first version, and what is in it before and after an undisturbed migration.
    private struct Sample {
        let store: URL
        let old: [String]
        let new: [String]
    }

    private func sample(_ deed: String) throws -> Sample {
        let store = try place("prepared")
        try #require(try VictimProcess.run("version", store).exitCode == 0)
        let old = try VictimMigration.picture(store)
        let moved = try copy(store, "moved")
        let run = try VictimProcess.run(deed, moved)
        try #require(run.exitCode == 0, "\(run.lines)")
        let new = try VictimMigration.picture(moved)
        try #require(old.isOld && !new.isOld && files(moved).count == 1 && files(store).count == 3)
        try #require(
            new.lines.contains { $0.contains("name 13 150000 of 3 \(deed == "migrate" ? 7 : 8)") }, "\(new.lines)")
        return Sample(store: store, old: old.lines, new: new.lines)
    }

    /// A store in a folder of its own, so that all that lies beside it is seen.
    private func place(_ name: String) throws -> URL {
        let own = folder.file(name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return own.appendingPathComponent("store.sqlite")
    }

    private func files(_ store: URL) -> [String] {
        let place = store.deletingLastPathComponent().appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
        return (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    }

    private func copy(_ store: URL, _ name: String) throws -> URL {
        let own = folder.file(name)
        try FileManager.default.copyItem(at: store.deletingLastPathComponent(), to: own)
        return own.appendingPathComponent("store.sqlite")
    }

    private func remove(_ store: URL) { try? FileManager.default.removeItem(at: store.deletingLastPathComponent()) }

    /// The old store whole, or the new one, with its files and nothing else beside it once it was opened; answers whether it is the old one.
    private func check(_ store: URL, _ sample: Sample, _ what: String) throws -> Bool {
        let raw = try SQLiteFile(store)
        #expect(try raw.isSound(), "\(what)")
        _ = try raw.contents()
        let (isOld, lines) = try VictimMigration.picture(store)
        #expect(lines == (isOld ? sample.old : sample.new), "\(what)")
        #expect(files(store).count == (isOld ? 3 : 1), "\(what): \(files(store))")
        let own = store.deletingLastPathComponent()
        let beside = try FileManager.default.subpathsOfDirectory(atPath: own.path).filter {
            $0.contains("migration") || $0.hasSuffix(".pending") || $0.hasSuffix(".copy")
        }
        #expect(beside.isEmpty, "\(what): \(beside)")
        return isOld
    }

    @Test(
        "A migration killed at its n-th write leaves a sound file that is wholly of the old model or of the new one, and its files",
        arguments: MigrationKillTests.deeds,
        ["pwrite64", "write", "ftruncate", "unlink", "rename", "mkdir", "fdatasync", "fsync"])
    func kill(_ deed: String, _ call: String) throws {
        let sample = try sample(deed)
        var found = (old: 0, new: 0)
        for number in 1...5000 {
            let victim = try copy(sample.store, "\(call)-\(number)")
            let run = try VictimProcess.run(deed, victim, .init(call: call, effect: "signal=SIGKILL", number: number))
            let isOld = try check(victim, sample, "\(deed), \(call) \(number)")
            if isOld { found.old += 1 } else { found.new += 1 }
            remove(victim)
            guard run.isKilled else {
                #expect(run.exitCode == 0 && !isOld, "\(run.lines)")
                break
            }
        }
        print("\(deed), \(call): \(found.old) old, \(found.new) new")
        if call == "pwrite64" { #expect(found.old > 0 && found.new > 1, "of \(found)") }
    }

    @Test(
        "A migration whose n-th write fails is refused with the old store, and succeeds when it is repeated",
        arguments: MigrationKillTests.deeds,
        [
            "pwrite64 error=EIO", "pwrite64 error=ENOSPC", "write error=ENOSPC", "fdatasync error=EIO",
            "fsync error=EIO", "ftruncate error=EIO",
            "rename error=EIO", "mkdir error=ENOSPC",
        ])
    func failure(_ deed: String, _ disturbance: String) throws {
        let words = disturbance.split(separator: " ").map(String.init)
        let (call, effect) = (words[0], words[1])
        let sample = try sample(deed)
        let counted = try copy(sample.store, "counted")
        let calls = try VictimProcess.calls(of: call, in: deed, counted, log: folder.file("calls"))
        var refused = 0
        for number in Self.failing(call, of: calls) {
            let victim = try copy(sample.store, "\(call)-\(number)")
            let run = try VictimProcess.run(deed, victim, .init(call: call, effect: effect, number: number))
            let lines = run.lines.joined(separator: " ")
            #expect(run.exitCode == 0 || run.exitCode == 1, "\(deed), \(call) \(number): \(lines)")
            let isOld = try check(victim, sample, "\(deed), \(call) \(effect) \(number): \(lines)")
            #expect(!isOld || run.exitCode == 1, "\(deed), \(call) \(number): \(lines)")
            if lines.contains("refused") { refused += 1 }
            remove(victim)
        }
        print("\(deed), \(call) \(effect): \(refused) of \(calls) refused")
        if call == "pwrite64" { #expect(refused > 0) }
    }

    @Test(
        "A disk that is full from the n-th write on leaves the old store or the new one; with room again the migration succeeds",
        arguments: MigrationKillTests.deeds, ["pwrite64", "write"])
    func full(_ deed: String, _ call: String) throws {
        let sample = try sample(deed)
        let counted = try copy(sample.store, "counted")
        let calls = try VictimProcess.calls(of: call, in: deed, counted, log: folder.file("calls"))
        var found = (old: 0, new: 0)
        for number in Self.failing(call, of: calls) {
            let victim = try copy(sample.store, "\(call)-\(number)")
            let run = try VictimProcess.run(
                deed, victim, .init(call: call, effect: "error=ENOSPC", number: number, lasts: true))
            let lines = run.lines.joined(separator: " ")
            #expect(run.exitCode == 0 || run.exitCode == 1, "\(deed), \(call) \(number): \(lines)")
            let isOld = try check(victim, sample, "\(deed), \(call) from \(number) on: \(lines)")
            if isOld { found.old += 1 } else { found.new += 1 }
            if isOld {
                #expect(try VictimProcess.run(deed, victim).exitCode == 0)
                #expect(try !check(victim, sample, "\(deed), \(call) from \(number) on, repeated"))
            }
            remove(victim)
        }
        print("\(deed), full at \(call): \(found.old) old, \(found.new) new")
        if call == "pwrite64" { #expect(found.old > 0) }
    }
}
