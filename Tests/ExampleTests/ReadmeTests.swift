// What README.md shows is what is compiled and what is printed.

import CoreDataTestSupport
import Foundation
import Testing

@Suite("README.md", .enabled(if: Place.programs != nil, Place.whySkipped))
struct ReadmeTests {
    /// The fenced blocks of a language, in order.
    private func blocks(_ language: String) throws -> [String] {
        let parts = try Place.text("README.md").components(separatedBy: "```\(language)\n").dropFirst()
        return try parts.map { String(try #require($0.components(separatedBy: "```\n").first)) }
    }

    @Test("The program it shows is the one in Examples, word for word")
    func program() throws {
        let compiled = try Place.text("Examples/FooTriage/Sources/FirstSteps/main.swift")
        #expect(try blocks("swift").contains(compiled))
    }

    @Test("The program prints what it says, and saves")
    func programRun() throws {
        let folder = Folder()
        try FileManager.default.createSymbolicLink(
            at: folder.file("Models"), withDestinationURL: Place.root.appendingPathComponent("Models"))
        let run = try folder.run("FirstSteps")
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(run.output != "")
        #expect(try blocks("text").contains { $0.hasSuffix(run.output) })
        #expect(try folder.column("SELECT substr(ZNAME, 1, 8) FROM ZINJURY", of: "FirstSteps.sqlite") == ["Burn of "])
    }

    @Test("The demo prints what it says")
    func demo() throws {
        let run = try Folder().run("FooTriage")
        #expect(run.output != "")
        #expect(try blocks("text").contains { withoutIdentifiers($0).hasSuffix(run.comparable) })
    }
}

@Suite("Documentation")
struct DocumentationTests {
    /// README and every page, with the text of each.
    private func pages() throws -> [(path: String, text: String)] { try Place.pages().map { ($0, try Place.text($0)) } }

    @Test("Every link to a file of the project leads somewhere")
    func links() throws {
        var count = 0
        for (path, text) in try pages() {
            let folder = Place.root.appendingPathComponent(path).deletingLastPathComponent()
            for match in text.matches(of: /\]\(([^)#]+)(?:#[^)]*)?\)/) where !match.output.1.contains("://") {
                let target = folder.appendingPathComponent(String(match.output.1)).standardized
                #expect(FileManager.default.fileExists(atPath: target.path), "\(path): \(match.output.1)")
                count += 1
            }
        }
        #expect(count > 5)
    }

    @Test("Every file and folder of the sources named in the pages exists")
    func namedFiles() throws {
        var count = 0
        for (path, text) in try pages() {
            for match in text.matches(of: /`((?:Sources|Tests|Examples|Scripts|Models|Benchmarks)\/[^` ]*)`/) {
                let target = Place.root.appendingPathComponent(String(match.output.1))
                #expect(FileManager.default.fileExists(atPath: target.path), "\(path): \(match.output.1)")
                count += 1
            }
        }
        #expect(count > 5)
    }

    @Test("Every page that the sources cite exists")
    func citedPages() throws {
        var count = 0
        for text in try sources() {
            for match in text.matches(of: /Documentation\/[A-Za-z0-9\/]+\.md|Decisions\/[0-9]{4}/) {
                let cited = String(match.output)
                let path = cited.hasPrefix("Decisions/") ? "Documentation/\(cited).md" : cited
                #expect(
                    FileManager.default.fileExists(atPath: Place.root.appendingPathComponent(path).path), "\(cited)")
                count += 1
            }
        }
        #expect(count > 0)
    }

    private func sources() throws -> [String] {
        let folder = Place.root.appendingPathComponent("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    }

    @Test("Every invariant that the sources cite is on the page, and every one on the page is cited")
    func invariants() throws {
        let page = try Place.text("Documentation/Invariants.md")
        let defined = Set(page.matches(of: /(?m)^\*\*I-([0-9]+)\b/).map { String($0.output.1) })
        var cited: Set<String> = []
        for text in try sources() {
            cited.formUnion(text.matches(of: /\bI-([0-9]+)\b/).map { String($0.output.1) })
        }
        #expect(!defined.isEmpty)
        #expect(cited == defined)
    }
}
