// Every statement on the behaviour of objects, contexts, requests and stores has a test or a written deviation.

import CoreDataSeeds
import Foundation
import Testing

@Suite struct StatementTests {
    @Test("Each numbered statement has a test that begins with its number, or a deviation")
    func statements() throws {
        let numbers = try text("Documentation/Behaviours.md").split(separator: "\n")
            .compactMap { $0.prefixMatch(of: #/- (\d+\.\d+) /#)?.output.1 }
        try #require(numbers.count >= 127)
        let tests = try tests()
        let deviations = try text("Documentation/Deviations.md")
        let missing = numbers.filter { number in
            let isTested = tests.contains("@Test(\"\(number) ") || tests.contains("@Test(\n        \"\(number) ")
            return !isTested && !deviations.contains("\n- \(number): ")
        }
        #expect(missing == [], "These have neither a test nor a deviation.")
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Corpus.package.appendingPathComponent(path), encoding: .utf8)
    }

    /// All test sources but this one.
    private func tests() throws -> String {
        let folder = Corpus.package.appendingPathComponent("Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/StatementTests.swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
    }
}
