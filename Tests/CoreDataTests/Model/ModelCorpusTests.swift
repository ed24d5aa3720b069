// Model files of published programs, read where they lie; skipped where they are absent.

import CoreData
import CoreDataModelFile
import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

/// A value with all it holds as text; dictionaries in the order of their keys, whatever order they keep.
func spelled(_ any: Any) -> String {
    let mirror = Mirror(reflecting: any)
    switch mirror.displayStyle {
    case .dictionary, .set:
        return "[" + mirror.children.map { spelled($0.value) }.sorted().joined(separator: ", ") + "]"
    case .struct where !(any is String) && !(any is Decimal) && !mirror.children.isEmpty,
        .collection, .tuple, .optional, .enum:
        guard !mirror.children.isEmpty else { return String(describing: any) }
        let fields = mirror.children.map { "\($0.label ?? "")=\(spelled($0.value))" }
        return "(" + fields.joined(separator: ", ") + ")"
    case .class, .foreignReference, .struct, .none, .some: return String(describing: any)
    }
}

/// Where the spellings part, for a message that can be read; empty when they are the same.
private func difference(_ a: Any, _ b: Any) -> String {
    let (a, b) = (spelled(a), spelled(b))
    let same = zip(a, b).prefix { $0 == $1 }.count
    let start = max(0, same - 80)
    return a == b ? "" : "\(a.dropFirst(start).prefix(160)) ≠ \(b.dropFirst(start).prefix(160))"
}

@Suite struct ModelCorpusTests {
    private static func models() throws -> [URL] {
        guard Corpus.isPresent else { return [] }
        // Spelling a draft out costs a tenth of a second in a debug build: every thirtieth model is enough.
        let found = try Corpus.files(below: "models") { $0.hasSuffix(".xcdatamodel") }
        return stride(from: 0, to: found.count, by: 30).map { found[$0] }
    }

    @Test("Published models survive descriptions, copies and freezing")
    func everyModel() throws {
        let urls = try Self.models()
        if urls.isEmpty { return }
        var taken = 0
        for url in urls {
            guard let draft = try? ModelFile.draft(at: url), let schema = try? Schema(checking: draft) else {
                #expect(throws: CocoaError.self, "\(url.path)") { try NSManagedObjectModel(loading: url) }
                continue
            }
            taken += 1
            let model = try NSManagedObjectModel(loading: url)
            var said = draft
            said.versionIdentifiers.sort()
            #expect(difference(try model.draft(), said) == "", "\(url.path)")
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            #expect(difference(try copy.draft(), said) == "", "\(url.path)")
            #expect(try model.freeze().versionHashes == schema.versionHashes, "\(url.path)")
        }
        print("\(taken) of \(urls.count) models")
        #expect(taken > urls.count * 9 / 10)
    }
}
