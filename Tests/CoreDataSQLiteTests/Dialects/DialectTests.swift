// Every statement in the words of each dialect, against the texts that are checked in.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL

@Suite("Dialects")
struct DialectTests {
    /// Set to 1, it writes the texts anew instead of comparing them.
    private static let rewrites = ProcessInfo.processInfo.environment["OPENCOREDATA_WRITE_STATEMENTS"] == "1"

    /// A title and a statement a pair of lines; `=` before the title of a definition, `-` before that of others.
    private func compare(_ map: StoreMap, _ file: String, _ location: SourceLocation = #_sourceLocation) throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(file)
        let now = try StatementList(map: map).lines().flatMap { ["\($0.defines ? "=" : "-") \($0.title)", $0.sql] }
        #expect(!now.contains { $0.contains("\n") }, "A statement is one line.", sourceLocation: location)
        if Self.rewrites { try (now.joined(separator: "\n") + "\n").write(to: url, atomically: true, encoding: .utf8) }
        let pinned = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        for (place, pair) in zip(pinned, now).enumerated() where pair.0 != pair.1 {
            Issue.record("\(file):\(place + 1) has\n\(pair.0)\nand now it is\n\(pair.1)", sourceLocation: location)
        }
        #expect(pinned.count == now.count, sourceLocation: location)
    }

    private typealias SourceLocation = Testing.SourceLocation

    @Test("SQLite's statements are those that are checked in")
    func sqlite() throws {
        try compare(StoreMap(schema: Ward.schema, configuration: nil), "Statements.sqlite.txt")
    }
}
