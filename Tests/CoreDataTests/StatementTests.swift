// Every statement on the behaviour of objects, contexts and stores has a test or a written deviation.

import CoreDataSeeds
import Foundation
import Testing

@Suite struct StatementTests {
    private static let list = Corpus.shared.appendingPathComponent("specs/behaviours.md")
    /// Object graph, concurrency and the rest; the other sections are about requests, predicates, history and migration.
    private static let sections: Set<String> = ["1", "2", "3", "4", "5", "6", "7", "10", "11", "15"]

    private static func isThere() -> Bool {
        let isThere = FileManager.default.fileExists(atPath: list.path)
        if !isThere { print("Skipped: there is no \(list.path).") }
        return isThere
    }

    @Test("Each numbered statement has a test that begins with its number, or a deviation", .enabled(if: isThere()))
    func statements() throws {
        let text = try String(contentsOf: Self.list, encoding: .utf8)
        let numbers = text.split(separator: "\n").compactMap { $0.prefixMatch(of: #/(\d+)\.\d+ /#) }
            .filter { Self.sections.contains(String($0.output.1)) }
            .map { $0.output.0.dropLast() }
        try #require(numbers.count >= 75)
        let tests = try Self.tests()
        let deviations = try String(
            contentsOf: Corpus.package.appendingPathComponent("Documentation/Deviations.md"), encoding: .utf8)
        let missing = numbers.filter { number in
            let isTested = tests.contains("@Test(\"\(number) ") || tests.contains("@Test(\n        \"\(number) ")
            return !isTested && !deviations.contains("\n- \(number): ")
        }
        #expect(missing == [], "These have neither a test nor a deviation.")
    }

    /// All test sources but this one.
    private static func tests() throws -> String {
        let folder = Corpus.package.appendingPathComponent("Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("StatementTests.swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
    }
}
