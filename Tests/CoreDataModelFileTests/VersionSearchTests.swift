// Which version of a package a store was written with.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("The version that wrote a store")
struct VersionSearchTests {
    private static func attribute(_ name: String, _ type: String, _ more: String = "") -> String {
        "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\" \(more)/>"
    }

    private static func entity(_ name: String, _ content: String, _ more: String = "") -> String {
        "<entity name=\"\(name)\" \(more)>\(content)</entity>\n"
    }

    /// What is found for a store of each version, and how many models were read for it.
    private func search(
        _ versions: [String], _ change: (inout [String: Data]) -> Void = { _ in }
    ) throws -> [(name: String?, reads: Int)] {
        try withFolder { folder in
            for (place, text) in versions.enumerated() {
                try folder.write("<model>\(text)</model>", to: "M.xcdatamodeld/M\(place).xcdatamodel/contents")
            }
            let package = try ModelPackage(at: folder.appendingPathComponent("M.xcdatamodeld"))
            return try package.versions.map { version in
                var recorded = try Schema(checking: package.draft(of: version)).versionHashes
                change(&recorded)
                var search = VersionSearch(package, recorded: recorded)
                return (search.run()?.version.name, search.readCount)
            }
        }
    }

    @Test("An entity is not ruled out for what its parent is, or what its composites are")
    func inherited() throws {
        let child = Self.entity("Child", Self.attribute("b", "String"), "parentEntity=\"Parent\"")
        let parents = ["String", "Date"].map { Self.entity("Parent", Self.attribute("a", $0)) + child }
        #expect(try search(parents).map(\.name) == ["M0", "M1"])
        let owner = Self.entity("Owner", Self.attribute("size", "Composite", "composite=\"Size\""))
        let composites = ["Double", "Float"].map {
            "<composite name=\"Size\">\(Self.attribute("height", $0))</composite>" + owner
        }
        #expect(try search(composites).map(\.name) == ["M0", "M1"])
    }

    @Test("Of fifty versions with the same entities few are read, and of none that fits as well")
    func few() throws {
        // Each version changes one entity.
        let versions = (0..<50).map { version in
            (0..<50).map { Self.entity("E\($0)", $0 <= version ? Self.attribute("a", "String") : "") }.joined()
        }
        let found = try search(versions)
        #expect(found.map(\.name) == versions.indices.map { "M\($0)" })
        #expect(found.allSatisfy { $0.reads <= 2 }, "\(found.map(\.reads))")
        let none = try search(versions) { $0["E0"] = Data(repeating: 1, count: 32) }
        #expect(none.allSatisfy { $0.name == nil && $0.reads == 1 }, "\(none.map(\.reads))")
    }

    @Test("Versions with other entities are not read")
    func names() throws {
        let versions = (1...9).map { version in (0..<version).map { Self.entity("E\($0)", "") }.joined() }
        #expect(try search(versions).allSatisfy { $0.reads == 1 })
        #expect(try search(versions) { $0["Other"] = Data([1]) }.allSatisfy { $0.name == nil && $0.reads == 0 })
        // A store of one configuration has some of the entities.
        #expect(try search(versions) { $0 = $0.filter { $0.key == "E0" } }.allSatisfy { $0.name == "M0" })
        #expect(try search(versions) { $0 = [:] }.allSatisfy { $0.name == nil && $0.reads == 0 })
    }

    @Test("Files that are written in another way than Xcode's are read as well")
    func spellings() throws {
        let odd = [
            "<entity name='Thing'>\(Self.attribute("a", "String"))</entity>",
            "<!-- <entity name=\"Other\"> --><entity\n    representedClassName=\"T\" name=\"Thing\"><attribute name=\"a\" attributeType=\"Date\"/></entity>",
            "<entity syncable=\"YES\" name=\"Thing\"/>",
        ]
        #expect(try search(odd).map(\.name) == ["M0", "M1", "M2"])
    }

    @Test("A hash of derived attributes that Core Data made does not count")
    func foreign() throws {
        let versions = ["String", "Date"].map {
            Self.entity("Plain", Self.attribute("a", $0))
                + Self.entity("Derived", Self.attribute("n", "Date", "derived=\"YES\" derivationExpression=\"now()\""))
        }
        let found = try search(versions) { $0["Derived"] = Data(repeating: 7, count: 32) }
        #expect(found.map(\.name) == ["M0", "M1"])
        #expect(try search(versions) { $0["Plain"] = Data(repeating: 7, count: 32) }.allSatisfy { $0.name == nil })
    }
}
