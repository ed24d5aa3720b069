// What stores take for the rows of a stream, measured in a process of its own.

import CoreDataTestSupport
import Foundation
import Testing

@Suite("Memory of a stream of rows")
struct SetMemoryTests {
    /// Bytes of the rows once they are there, and the most that was in use beyond them.
    private func measure(_ rows: Int, _ kind: [String]) throws -> (rows: Int, beyond: Int) {
        let run = try ChildProgram("CoreDataSetRun").run(["\(rows)"] + kind)
        let text = run.lines.joined(separator: " ")
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        try #require(run.exitCode == 0 && numbers.count == 3, "\(text)")
        return (numbers[0], numbers[2])
    }

    @Test(
        "A million rows from a stream take less than 64 MB, beyond those that a store in memory keeps",
        arguments: ["sqlite", "memory"])
    func million(_ kind: String) throws {
        let found = try measure(1_000_000, [kind, "narrow"])
        #expect(found.beyond < 64 << 20 && (kind == "memory") == (found.rows > 40_000_000), "\(found)")
    }

    @Test(
        "Beyond its rows a stream into memory takes one run of rows, however many there are",
        arguments: [["memory"], ["memory", "narrow"]])
    func beyond(_ kind: [String]) throws {
        for count in [3000, 60_000] {
            let found = try measure(count, kind)
            #expect(found.rows > count * 40, "\(found)")
            // A chunk of 256 rows with what is looked up for it.
            #expect(found.beyond < 300_000, "\(found)")
        }
    }

    @Test(
        "A loop over the objects of a fetch takes some batches, however many there are, in a child context as well",
        arguments: [
            ["sequence"], ["sequence", "child"], ["sequence", "child", "unsaved"],
        ])
    func sequence(_ kind: [String]) throws {
        let found = try measure(60_000, kind)
        #expect(found.rows == 60_000 && found.beyond < 8_000_000, "\(found)")
    }
}
