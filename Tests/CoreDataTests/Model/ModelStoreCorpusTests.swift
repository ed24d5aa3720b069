// Every model of published programs: hashed as a second program hashes it, and given a store.

import CoreData
import CoreDataSeeds
import CoreDataValues
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite struct ModelStoreCorpusTests {
    /// Every fourth model, from one of the first four on: the parts run side by side, seven seconds each.
    private static func models(_ part: Int) throws -> [URL] {
        guard Corpus.isPresent else { return [] }
        let all = try Corpus.files(below: "models") { $0.hasSuffix("/contents") }
        return stride(from: part, to: all.count, by: 4).map { all[$0] }
    }

    /// Hashes in hexadecimal by path and entity, as the program of the format's description prints them; without those
    /// that it says it does not know.
    private static func reference(_ models: [URL]) throws -> [String: [String: String]] {
        let run = try ChildProgram("/usr/bin/env").run(
            ["python3", "-B", Corpus.shared.appendingPathComponent("specs/verify_xml_hashes.py").path]
                + models.map(\.path))
        try #require(run.exitCode == 0, "python3 failed")
        var hashes: [String: [String: String]] = [:]
        var path = ""
        for line in run.lines {
            guard line.hasPrefix("   ") else {
                path = line
                continue
            }
            let words = line.split(separator: " ")
            if words.count >= 2, words[words.count - 1].count == 64, words[0] != "checksum" {
                hashes[path, default: [:]][words.dropLast().joined(separator: " ")] = String(words[words.count - 1])
            }
        }
        return hashes
    }

    @Test(
        "Every published model has the hashes of the reference and gets a store, unless a reason is named",
        arguments: 0..<4)
    func everyModel(_ part: Int) throws {
        let urls = try Self.models(part)
        if urls.isEmpty { return }
        let expected = try Self.reference(urls)
        var (compared, opened) = (0, 0)
        var refusals: [String: Int] = [:]
        for (position, url) in urls.enumerated() {
            let model = try NSManagedObjectModel(loading: url)
            let schema = try model.freeze()
            let hashes = model.entityVersionHashesByName
            for (name, hash) in expected[url.path] ?? [:] {
                guard let entity = schema.entity(named: name), entity.derivedSlots.isEmpty, entity.composites.isEmpty
                else { continue }
                #expect(
                    hashes[name]?.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == hash,
                    "\(url.path) \(name)")
                compared += 1
            }
            do {
                try open(schema, inFile: position % 20 == 0)
                opened += 1
            } catch let error as StoreError {
                #expect(
                    error.code == 134060 && error.sentence.hasPrefix("unsupported: "), "\(url.path): \(error.sentence)")
                refusals[error.sentence.split(separator: " ").dropFirst(4).joined(separator: " "), default: 0] += 1
            }
        }
        print("\(compared) hashes, \(opened) stores, refused: \(refusals)")
        #expect(compared > 2_500)
        #expect(opened + refusals.values.reduce(0, +) == urls.count)
        #expect(opened * 100 > urls.count * 97)
    }

    /// In memory, or in a file that is given rows and checked.
    private func open(_ schema: Schema, inFile isFile: Bool) throws {
        let folder = URL(fileURLWithPath: "/dev/shm/models-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if isFile { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        let url = isFile ? folder.appendingPathComponent("store.sqlite") : URL(fileURLWithPath: "/dev/null")
        let store = try SQLiteStore(url: url, schema: schema, configuration: nil, options: SQLiteOptions())
        if isFile { try fill(store, schema) }
        try store.close()
        if !isFile { return }
        let connection = try Connection(
            path: url.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
        #expect(try connection.run("PRAGMA integrity_check") == "ok")
    }

    /// A row for each entity that may be empty.
    private func fill(_ store: SQLiteStore, _ schema: Schema) throws {
        var batch = ChangeBatch()
        for entity in schema.entities where !entity.isAbstract && entity.draft.uniquenessConstraints.isEmpty {
            let key = try store.allocateKeys(1, in: entity.root).lowerBound
            let chunk = RowChunk(layout: entity.layout, capacity: 1)
            _ = chunk.appendRow(key: key, version: 1, entity: entity.index)
            batch.inserts.append(chunk)
        }
        guard case .committed = try store.commit(batch) else {
            Issue.record("conflicts")
            return
        }
    }
}
