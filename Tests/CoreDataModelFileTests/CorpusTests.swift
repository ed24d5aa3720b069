// The models of a hundred projects load, and hash as Core Data hashed them.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("Models in use", .enabled(if: Corpus.isPresent))
struct CorpusTests {
    @Test("Every model in use loads, and hashes as a second, independent implementation says")
    func everyModelLoads() throws {
        let files = try Corpus.files(below: "models") { $0.hasSuffix("/contents") }
        #expect(files.count > 1_000)
        let expected = try Reference.hashes(of: files)
        var compared = 0
        var warnings: [String: Int] = [:]
        for file in files {
            let schema: Schema
            do {
                schema = try ModelFile.load(file)
            } catch {
                Issue.record("\(error)")
                continue
            }
            for warning in schema.warnings { warnings[warning.message, default: 0] += 1 }
            let known = try #require(expected[file.path])
            #expect(Set(known.keys) == Set(schema.entities.map(\.name)), "\(file.path)")
            for entity in schema.entities where !Self.isUnproven(entity, in: schema) {
                #expect(known[entity.name] == entity.versionHash.hex, "\(file.path) \(entity.name)")
                compared += 1
            }
        }
        #expect(compared > 10_000)
        print("\(files.count) models, \(compared) hashes, \(warnings.values.reduce(0, +)) warnings")
    }

    @Test("Hashes equal those that Apple's Core Data wrote into stores and compiled models")
    func hashesEqualRecorded() throws {
        let data = try Data(contentsOf: Corpus.root.appendingPathComponent("hash_vectors.json"))
        let vectors = try JSONDecoder().decode(Vectors.self, from: data)
        var (models, equal, digests) = (0, 0, 0)
        var loaded: [URL: Schema] = [:]
        for vector in vectors.mom_pairs + vectors.stores
        where vector.match == "strict" && !vector.hashes.isEmpty {
            guard let source = vector.source else { continue }
            var found: Schema?
            for url in try Self.candidates(of: source, count: vector.candidates) where found == nil {
                let schema = try loaded[url] ?? ModelFile.load(url)
                loaded[url] = schema
                if Self.differences(vector.hashes, schema).isEmpty { found = schema }
            }
            guard let schema = found else {
                Issue.record("no version fits the hashes recorded for \(source)")
                continue
            }
            models += 1
            equal += vector.hashes.count
            guard schema.entities.count == vector.hashes.count, let digest = vector.digest,
                !schema.entities.contains(where: { Self.isUnproven($0, in: schema) })
            else { continue }
            #expect(schema.versionHashesDigest == digest, "\(source)")
            digests += 1
            if let checksum = vector.checksum { #expect(schema.versionChecksum == checksum, "\(source)") }
        }
        print("\(models) recorded models, \(equal) hashes, \(digests) digests")
        #expect(models > 100)
        #expect(equal > 1_400)
        #expect(digests >= 30)
    }

    /// The source of a vector was found by what tables show, so that versions which differ in less than that are
    /// candidates alike; then one of the package's versions must fit whole.
    private static func candidates(of source: String, count: Int) throws -> [URL] {
        let url = Corpus.root.appendingPathComponent(source)
        if count == 1 { return [url] }
        let package = url.deletingLastPathComponent().deletingLastPathComponent()
        return [url] + (try ModelPackage(at: package).versions.map(\.contents).filter { $0 != url })
    }

    /// The entities whose hash is known and is another one here.
    private static func differences(_ hashes: [String: String], _ schema: Schema) -> [String] {
        hashes.keys.sorted().filter { name in
            guard let entity = schema.entity(named: name) else { return true }
            return entity.versionHash.hex != hashes[name] && !isUnproven(entity, in: schema)
        }
    }

    @Test("Every package of versions says which is current, or that none is")
    func everyPackageHasVersions() throws {
        let files =
            try Corpus.files(below: "models") { $0.hasSuffix("/contents") }
            + Corpus.files(below: "models") { $0.hasSuffix("/elements") }
        let packages = Set(files.map { $0.deletingLastPathComponent().deletingLastPathComponent() })
            .filter { $0.pathExtension == "xcdatamodeld" }
        #expect(packages.count > 400)
        var refused: [String] = []
        for package in packages.sorted(by: { $0.path < $1.path }) {
            do {
                let versions = try ModelFile.versions(at: package)
                #expect(versions.filter(\.isCurrent).count == 1)
            } catch let error as ModelFileError {
                refused.append(error.message)
            }
        }
        print("\(packages.count) packages, refused: \(Set(refused).sorted())")
        let known = ["no .xccurrentversion", "binary form of Xcode 3", "which the package does not hold"]
        for message in refused { #expect(known.contains { message.contains($0) }, "\(message)") }
        #expect(refused.count * 10 < packages.count)
    }

    @Test("Models in the binary form of Xcode 3 are refused in words")
    func binaryModelsAreRefused() throws {
        let files = try Corpus.files(below: "models") { $0.hasSuffix("/elements") }
        #expect(!files.isEmpty)
        for file in files
        where !FileManager.default.fileExists(
            atPath: file.deletingLastPathComponent().appendingPathComponent("contents").path)
        {
            for url in [file, file.deletingLastPathComponent()] {
                let error = #expect(throws: ModelFileError.self) { try ModelFile.load(url) }
                #expect(error?.message.contains("binary form of Xcode 3") == true, "\(url.path)")
            }
        }
    }

    /// The hashes of derived and composite attributes are not known.
    static func isUnproven(_ entity: Entity, in schema: Schema) -> Bool {
        var current: Entity? = entity
        while let next = current {
            if next.draft.attributes.contains(where: {
                $0.derivationExpression != nil || $0.type == .composite
            }) {
                return true
            }
            current = next.parent.map { schema[$0] }
        }
        return false
    }
}

private struct Vectors: Decodable {
    struct Vector: Decodable {
        var match: String?
        var source: String?
        var candidates: Int
        var hashes: [String: String]
        var digest: String?
        var checksum: String?
    }
    var mom_pairs: [Vector]
    var stores: [Vector]
}

/// The hashes as the program of the format's description computes them.
enum Reference {
    /// Hashes in hexadecimal by entity, by path.
    static func hashes(of files: [URL]) throws -> [String: [String: String]] {
        try withFolder { folder in
            let list = folder.appendingPathComponent("list")
            let answer = folder.appendingPathComponent("answer")
            try Data(files.map(\.path).joined(separator: "\n").utf8).write(to: list)
            let program = """
                import sys, json
                sys.dont_write_bytecode = True
                sys.path.insert(0, sys.argv[1])
                from verify_xml_hashes import model_hashes
                files = open(sys.argv[2], encoding='utf-8').read().split('\\n')
                hashes = {f: {n: h.hex() for n, h in model_hashes(open(f, 'rb').read())[0].items()} for f in files}
                json.dump(hashes, open(sys.argv[3], 'w'))
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c", program, Corpus.shared.appendingPathComponent("specs").path, list.path,
                answer.path,
            ]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0, "python3 failed")
            return try JSONDecoder().decode([String: [String: String]].self, from: Data(contentsOf: answer))
        }
    }
}

extension Data {
    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
