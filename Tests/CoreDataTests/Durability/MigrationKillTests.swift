// A migration that is killed, or whose disk fails, leaves the old store or the new one.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability of a migration", .serialized, .enabled(if: VictimProcess.strace != nil, VictimProcess.whySkipped))
struct MigrationKillTests {
    private let folder = Folder()

    /// A store of the first version, and what a file holds before and after an undisturbed migration.
    private struct Sample {
        let store: URL
        let old: [String]
        let new: [String]
    }

    private func sample() throws -> Sample {
        let store = folder.file("prepared.sqlite")
        try #require(try VictimProcess.run("version", store).exitCode == 0)
        let old = try contents(store)
        let moved = try copy(store, "moved")
        let run = try VictimProcess.run("migrate", moved)
        try #require(run.exitCode == 0, "\(run.lines)")
        let new = try contents(moved)
        try #require(old != new && files(moved).count == 1 && files(store).count == 3)
        return Sample(store: store, old: old, new: new)
    }

    /// Without the metadata, whose list each process writes in another order; opening the store compares them.
    private func contents(_ store: URL) throws -> [String] { try RawStore(store).contents().filter { !$0.hasPrefix("Z_METADATA ") } }

    private func support(_ store: URL) -> URL {
        store.deletingLastPathComponent().appendingPathComponent(".\(store.deletingPathExtension().lastPathComponent)_SUPPORT")
    }

    private func files(_ store: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: support(store).appendingPathComponent("_EXTERNAL_DATA").path)) ?? []
    }

    private func copy(_ store: URL, _ name: String) throws -> URL {
        let copy = folder.file("\(name).sqlite")
        try FileManager.default.copyItem(at: store, to: copy)
        try FileManager.default.copyItem(at: support(store), to: support(copy))
        return copy
    }

    private func remove(_ store: URL) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
        try? FileManager.default.removeItem(at: support(store))
    }

    @Test(
        "A migration killed at its n-th write leaves a sound file that is wholly of the old model or of the new one, and its files",
        arguments: ["pwrite64", "ftruncate", "unlink", "fdatasync"])
    func kill(_ call: String) throws {
        let sample = try sample()
        var found = (old: 0, new: 0)
        for number in 1...2000 {
            let victim = try copy(sample.store, "\(call)-\(number)")
            let run = try VictimProcess.run("migrate", victim, .init(call: call, effect: "signal=SIGKILL", number: number))
            let raw = try RawStore(victim)
            #expect(try raw.isSound(), "\(call) \(number)")
            let contents = try self.contents(victim)
            #expect(contents == sample.old || contents == sample.new, "\(call) \(number): neither the old nor the new store")
            let isOld = contents == sample.old
            if isOld { found.old += 1 } else { found.new += 1 }
            // Opening ends what was left half done; what rows refer to is there.
            try VictimMigration.store(victim, isOld ? VictimMigration.first() : VictimMigration.second()).close()
            #expect(files(victim).count == (isOld ? 3 : 1), "\(call) \(number)")
            remove(victim)
            guard run.isKilled else {
                #expect(run.exitCode == 0 && !isOld, "\(run.lines)")
                break
            }
        }
        print("migration, \(call): \(found.old) old, \(found.new) new")
        if call == "pwrite64" { #expect(found.old > 0 && found.new > 1) }
    }

    @Test(
        "A migration whose n-th write fails is refused with the old store, and succeeds when it is repeated",
        arguments: [("pwrite64", "error=EIO"), ("pwrite64", "error=ENOSPC"), ("fdatasync", "error=EIO"), ("ftruncate", "error=EIO")])
    func failure(_ call: String, _ effect: String) throws {
        let sample = try sample()
        let counted = try copy(sample.store, "counted")
        let calls = try VictimProcess.calls(of: call, in: "migrate", counted, log: folder.file("calls"))
        var refused = 0
        for number in 1...max(calls, 1) {
            let victim = try copy(sample.store, "\(call)-\(number)")
            let run = try VictimProcess.run("migrate", victim, .init(call: call, effect: effect, number: number))
            let lines = run.lines.joined(separator: " ")
            #expect(run.exitCode == 0 || run.exitCode == 1, "\(call) \(number): \(lines)")
            let raw = try RawStore(victim)
            #expect(try raw.isSound(), "\(call) \(number)")
            let contents = try self.contents(victim)
            #expect(contents == sample.new || (run.exitCode == 1 && contents == sample.old), "\(call) \(number): \(lines)")
            if lines.contains("refused") { refused += 1 }
            remove(victim)
        }
        print("migration, \(call) \(effect): \(refused) of \(calls) refused")
        if call == "pwrite64" { #expect(refused > 0) }
    }
}
