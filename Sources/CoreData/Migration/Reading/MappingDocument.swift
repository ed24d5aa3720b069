// The file inside a mapping model as Xcode keeps it: objects of Core Data's XML store.

import CoreDataValues
import Foundation

/// The objects of an `xcmapping.xml`, by their identifiers.
struct MappingDocument {
    struct Record {
        let type: String
        var texts: [String: String] = [:]
        var links: [String: [String]] = [:]

        func data(_ key: String) -> Data? {
            texts[key].flatMap { Data(base64Encoded: $0.filter { !$0.isWhitespace }) }
        }
        func flag(_ key: String) -> Bool { texts[key] == "1" }
        /// nil for what is absent or empty.
        func name(_ key: String) -> String? { texts[key].flatMap { $0.isEmpty ? nil : $0 } }
    }
    private(set) var records: [String: Record] = [:]

    private static let sizeLimit = 64 << 20

    /// - Throws: `StoreError` for what is no such file, with the place.
    init(_ url: URL) throws {
        let path = url.path
        guard let data = try? Data(contentsOf: url), data.count <= Self.sizeLimit else {
            throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: path])
        }
        var scanner = XMLScanner(data)
        try scanner.skipDocumentType(path)
        guard try scanner.next(path)?.name == "database" else { throw Self.damaged(path) }
        while let tag = try scanner.next(path), tag.kind != .end {
            switch tag.name {
            case "databaseInfo" where tag.kind == .start: try scanner.skip(past: "</databaseInfo>", path)
            case "object" where tag.kind == .start:
                guard let type = tag["type"], let id = tag["id"] else { throw Self.damaged(path) }
                records[id] = try Self.record(type, &scanner, path)
            default: throw Self.damaged(path)
            }
        }
    }

    private static func record(_ type: String, _ scanner: inout XMLScanner, _ path: String) throws -> Record {
        var record = Record(type: type)
        while let tag = try scanner.next(path), tag.kind != .end {
            guard let name = tag["name"] else { throw damaged(path) }
            switch tag.name {
            case "relationship": record.links[name] = (tag["idrefs"] ?? "").split(separator: " ").map(String.init)
            case "attribute": record.texts[name] = tag.kind == .empty ? "" : try scanner.text(path)
            default: throw damaged(path)
            }
            if tag.kind == .start {
                let rest = try scanner.text(path)
                guard try rest.allSatisfy(\.isWhitespace) && scanner.next(path)?.kind == .end else {
                    throw damaged(path)
                }
            }
        }
        return record
    }

    private static func damaged(_ path: String) -> CocoaError {
        CocoaError.coreData(
            259, "The file at \(path) is no mapping model as Xcode writes them. Open it in Xcode and save it.",
            [NSFilePathErrorKey: path])
    }

    /// Those of a type, by their identifiers as numbers go.
    func records(of type: String) -> [Record] {
        records.filter { $0.value.type == type }.sorted {
            $0.key.compare($1.key, options: [.numeric]) == .orderedAscending
        }.map(\.value)
    }

    /// Those that a relationship leads to.
    func records(_ key: String, of record: Record) -> [Record] { (record.links[key] ?? []).compactMap { records[$0] } }
}
