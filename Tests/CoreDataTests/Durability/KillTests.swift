// A save that is killed, or whose disk fails, leaves the old rows or the new ones.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData
@testable import CoreDataVictim

@Suite("Durability", .serialized, .enabled(if: ChildProgram.strace != nil, VictimProcess.whySkipped))
struct KillTests {
    private let folder = Folder()

    /// A store with rows, closed, and what it holds before and after an undisturbed save.
    private func prepared() throws -> (store: URL, old: [String], new: [String]) {
        let store = folder.file("prepared.sqlite")
        try #require(try VictimProcess.run("prepare", store).exitCode == 0)
        let old = try SQLiteFile(store).contents()
        let saved = try copy(store, "saved")
        try #require(try VictimProcess.run("save", saved).exitCode == 0)
        let new = try SQLiteFile(saved).contents()
        try #require(old != new)
        return (store, old, new)
    }

    private func copy(_ store: URL, _ name: String) throws -> URL {
        let copy = folder.file("\(name).sqlite")
        try FileManager.default.copyItem(at: store, to: copy)
        return copy
    }

    private func remove(_ store: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
        }
    }

    @Test(
        "A save killed at its n-th write leaves a sound file with exactly the old or the new rows",
        arguments: ["pwrite64", "ftruncate", "unlink", "fdatasync"])
    func kill(_ call: String) throws {
        let (store, old, new) = try prepared()
        var found = (old: 0, new: 0)
        var hasSurvived = false
        for number in 1...1000 where !hasSurvived {
            let victim = try copy(store, "\(call)-\(number)")
            let run = try VictimProcess.run(
                "save", victim, .init(call: call, effect: "signal=SIGKILL", number: number))
            let raw = try SQLiteFile(victim)
            #expect(try raw.isSound(), "\(call) \(number)")
            let contents = try raw.contents()
            #expect(contents == old || contents == new, "\(call) \(number): neither the old nor the new rows")
            guard run.isKilled else {
                #expect(run.exitCode == 0, "\(run.lines)")
                #expect(contents == new)
                hasSurvived = true
                continue
            }
            if contents == old { found.old += 1 } else { found.new += 1 }
            try expectOpens(victim, people: contents == old ? [24] : [28])
            remove(victim)
        }
        #expect(hasSurvived)
        print("\(call): killed \(found.old + found.new) times, \(found.old) old, \(found.new) new")
        if call == "pwrite64" { #expect(found.old > 0 && found.new > 0) }
    }

    @Test("A save writes what it appends to the log at once, not page by page")
    func joinedWrites() throws {
        let (store, _, _) = try prepared()
        let writes = try VictimProcess.lines(
            of: "pwrite64", in: "save", try copy(store, "counted"), log: folder.file("writes")
        )
        .filter { $0.contains("-wal>") }
        #expect(!writes.isEmpty)
        // SQLite's own way is one of 24 bytes for each page.
        #expect(writes.count { $0.hasSuffix("= 24") } <= 1, "\(writes.map { $0.suffix(20) })")
    }

    @Test(
        "A store whose creation is killed at its n-th write can be opened again, empty or complete",
        arguments: ["pwrite64", "ftruncate", "unlink", "fdatasync"])
    func killCreation(_ call: String) throws {
        var found = (empty: 0, full: 0)
        var hasSurvived = false
        for number in 1...1000 where !hasSurvived {
            let victim = folder.file("new-\(call)-\(number).sqlite")
            let run = try VictimProcess.run(
                "prepare", victim, .init(call: call, effect: "signal=SIGKILL", number: number))
            let count = try expectOpens(victim, people: [0, 24])
            #expect(try SQLiteFile(victim).isSound(), "\(call) \(number)")
            guard run.isKilled else {
                #expect(run.exitCode == 0, "\(run.lines)")
                #expect(count == 24)
                hasSurvived = true
                continue
            }
            if count == 0 { found.empty += 1 } else { found.full += 1 }
            remove(victim)
        }
        #expect(hasSurvived)
        print(
            "\(call): killed \(found.empty + found.full) creations, \(found.empty) empty, \(found.full) complete"
        )
        if call == "pwrite64" { #expect(found.empty > 0 && found.full > 0) }
    }

    /// The product opens the file, reads it whole and saves to it.
    @discardableResult
    private func expectOpens(_ store: URL, people: [Int]) throws -> Int {
        let survivor = try VictimStore(store)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.returnsObjectsAsFaults = false
        let found = try survivor.context.fetch(request)
        #expect(people.contains(found.count), "\(store.lastPathComponent)")
        for group in found.compactMap({ $0.value(forKey: "groups") as? NSSet }).flatMap(\.allObjects) {
            #expect((group as? NSManagedObject)?.value(forKey: "name") as? String != nil)
        }
        try survivor.close()
        return found.count
    }

    @Test(
        "A save whose n-th write or sync fails throws and changes nothing; once the cause is gone it works",
        arguments: [("pwrite64", "ENOSPC"), ("fdatasync", "EIO"), ("ftruncate", "EIO")])
    func fault(_ call: String, _ error: String) throws {
        let (store, _, _) = try prepared()
        let undisturbed = try copy(store, "undisturbed")
        let calls = try VictimProcess.calls(of: call, in: "retry", undisturbed, log: folder.file("calls"))
        let expected = try picture(undisturbed)
        var (refused, quiet) = (0, 0)
        for number in stride(from: 1, through: calls, by: 1) {
            let victim = try copy(store, "\(call)-\(error)-\(number)")
            let run = try VictimProcess.run(
                "retry", victim, .init(call: call, effect: "error=\(error)", number: number))
            #expect(run.exitCode == 0, "\(call) \(number): \(run.lines)")
            #expect(try SQLiteFile(victim).isSound(), "\(call) \(number)")
            #expect(try picture(victim) == expected, "\(call) \(number)")
            if run.lines.contains(where: { $0.contains("refused") }) { refused += 1 } else { quiet += 1 }
            remove(victim)
        }
        // A checkpoint may fail in silence: the rows are safe in the log.
        print(
            "\(call) \(error): \(calls) calls, \(refused) refused and repeated, \(quiet) without effect on the save"
        )
        if call == "pwrite64" { #expect(refused > 0) }
    }

    /// What the product reads, without the keys, which a refused save may have used up.
    private func picture(_ store: URL) throws -> [String] {
        let reader = try VictimStore(store)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        let lines = try reader.context.fetch(request).map { person -> String in
            let groups = (person.value(forKey: "groups") as? NSSet)?.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            let city = (person.value(forKey: "city") as? NSManagedObject)?.value(forKey: "name") ?? "-"
            let photo = (person.value(forKey: "photo") as? Data).map {
                [UInt8]($0.prefix(1)) + [UInt8($0.count / 100)]
            }
            return "\(person.value(forKey: "name") ?? "-") \(city) \(photo ?? []) \((groups ?? []).sorted())"
        }
        try reader.close()
        return lines.sorted()
    }
}
