// Where in a program a call came from.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreDataCallSites

@Suite("Call sites")
struct CallSiteTests {
    @inline(never)
    private func first(_ sites: CallSites) -> CallSite? { sites.current() }

    @inline(never)
    private func second(_ sites: CallSites) -> CallSite? { sites.current() }

    @Test("An address is looked up once, however often its call is made")
    func lookups() throws {
        let sites = CallSites()
        var found: Set<CallSite> = []
        for _ in 0..<100 { if let site = first(sites) { found.insert(site) } }
        let one = try #require(found.first)
        #expect(
            found.count == 1 && one.function.contains("first") && one.file?.hasSuffix("CallSiteTests.swift") == true)
        #expect(sites.lookupCount == 1)
        for _ in 0..<100 { if let site = second(sites) { found.insert(site) } }
        #expect(found.count == 2 && sites.lookupCount == 2)
    }

    @Test("A program without debug information has the function's name in place of the line")
    func stripped() throws {
        let folder = Folder()
        let program = folder.file("CoreDataScript")
        let whole = ChildProgram("CoreDataScript")
        let strip = try ChildProgram("/usr/bin/strip").run([
            "--strip-debug", "-o", program.path, try whole.executable.path,
        ])
        try #require(strip.exitCode == 0)
        for (child, place) in [(whole, "main.swift:"), (ChildProgram(program.path), "countHouses")] {
            let run = try child.run(["faults"])
            #expect(run.exitCode == 0 && run.lines.first == "counted 20", "\(run)")
            let told = try #require(run.lines.last)
            #expect(
                told.hasPrefix("20 reads of Street.houses, at ")
                    && told.hasSuffix(": prefetch \"houses\" with Street."), "\(told)")
            #expect(told.contains(place) && told.contains("main.swift") == (place == "main.swift:"), "\(told)")
        }
    }
}
