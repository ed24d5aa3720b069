// The versions of published models: what differs from one to the next, and which one a store was written with.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("Versions of published models")
struct SchemaDiffCorpusTests {
    /// The packages that have several versions.
    private static func packages() throws -> [ModelPackage] {
        guard Corpus.isPresent else { return [] }
        let root = Corpus.root.appendingPathComponent("models")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".xcdatamodeld")
        }
        return paths.sorted().compactMap { try? ModelPackage(at: root.appendingPathComponent($0)) }.filter {
            $0.versions.count > 1
        }
    }

    private static func schemas(_ package: ModelPackage) -> [(name: String, schema: Schema)] {
        package.versions.compactMap { version in
            guard let draft = try? package.draft(of: version), let schema = try? Schema(checking: draft) else {
                return nil
            }
            return (version.name, schema)
        }
    }

    @Test("From version to version differences enter the hash exactly where hashes differ", arguments: 0..<4)
    func hashes(_ part: Int) throws {
        let packages = try Self.packages()
        var (pairs, changed, told) = (0, 0, 0)
        for place in stride(from: part, to: packages.count, by: 4) {
            let schemas = Self.schemas(packages[place])
            for (former, later) in zip(schemas, schemas.dropFirst()) {
                let diff = SchemaDiff(from: former.schema, to: later.schema)
                let title = "\(packages[place].url.path): \(former.name) → \(later.name)"
                for entity in later.schema.entities {
                    let isSame = diff.pairs.source(of: entity)?.versionHash == entity.versionHash
                    let entersHash = diff[entity: entity.name]?.entersHash ?? false
                    #expect(entersHash == !isSame, "\(title): \(entity.name)")
                    changed += isSame ? 0 : 1
                }
                #expect(
                    diff.hashedSentences.isEmpty == (former.schema.versionHashes == later.schema.versionHashes),
                    "\(title)")
                told += diff.sentences.count
                pairs += 1
            }
        }
        print("\(pairs) pairs of versions, \(changed) entities differ, \(told) sentences")
        #expect(packages.isEmpty || pairs > 50 && changed > 100)
    }

    @Test(
        "The version that wrote a store is found by reading few, in the largest packages",
        arguments: [
            "StepicOrg+stepik-ios/Stepic/Legacy/Model/Model.xcdatamodeld",
            "wireapp+wire-ios-data-model/Resources/zmessaging.xcdatamodeld",
            // With derived attributes, whose hashes need not be comparable.
            "threema-ch+threema-ios/ThreemaFramework/Persistence/Model/ThreemaData/ThreemaData.xcdatamodeld",
        ])
    func search(_ path: String) throws {
        guard Corpus.isPresent else { return }
        let package = try ModelPackage(at: Corpus.root.appendingPathComponent("models/" + path))
        var reads: [Int] = []
        // Every sixth, for its time.
        for (place, (name, schema)) in Self.schemas(package).enumerated() where place.isMultiple(of: 6) {
            var search = VersionSearch(package, recorded: schema.versionHashes)
            let answer = search.run()
            let found = try #require(answer, "\(name)")
            // Versions may differ in what enters no hash.
            #expect(found.schema.versionHashes == schema.versionHashes, "\(name)")
            reads.append(search.readCount)
        }
        print("\(package.versions.count) versions of \(package.name), models read for each: \(reads.sorted())")
        #expect(reads.count > 4 && reads.allSatisfy { $0 <= 6 })
    }
}
