// What a URL means.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

@Suite("Model packages")
struct ModelPackageTests {
    private static func model(_ entity: String) -> String {
        "<model><entity name=\"\(entity)\" syncable=\"YES\"/></model>"
    }

    private static func current(_ name: String) -> String {
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key>"
            + "<string>\(name)</string></dict></plist>"
    }

    private static func entities(_ url: URL) throws -> [String] {
        try ModelFile.load(url).entities.map(\.name)
    }

    private static func refusal(_ url: URL) throws -> ModelFileError {
        try #require(#expect(throws: ModelFileError.self) { try ModelFile.load(url) })
    }

    @Test("A package means its current version, a version or a file itself")
    func kinds() throws {
        try withFolder { folder in
            try folder.write(Self.model("Old"), to: "A.xcdatamodeld/A.xcdatamodel/contents")
            try folder.write(Self.model("New"), to: "A.xcdatamodeld/A 10.xcdatamodel/contents")
            try folder.write(Self.model("Mid"), to: "A.xcdatamodeld/A 2.xcdatamodel/contents")
            try folder.write(Self.current("A 2.xcdatamodel"), to: "A.xcdatamodeld/.xccurrentversion")
            let package = folder.appendingPathComponent("A.xcdatamodeld")
            #expect(try Self.entities(package) == ["Mid"])
            #expect(try Self.entities(package.appendingPathComponent("A.xcdatamodel")) == ["Old"])
            #expect(try Self.entities(package.appendingPathComponent("A 10.xcdatamodel/contents")) == ["New"])
            let versions = try ModelFile.versions(at: package)
            #expect(Set(versions.map(\.name)) == ["A", "A 2", "A 10"])
            #expect(versions.filter(\.isCurrent).map(\.name) == ["A 2"])
            #expect(versions.map(\.name).filter { $0 != "A" } == ["A 2", "A 10"])
            try folder.write(Self.current("a 10.XCDataModel"), to: "A.xcdatamodeld/.xccurrentversion")
            #expect(try Self.entities(package) == ["New"], "written where file names do not tell capital letters")
        }
    }

    @Test("The only version is current, with no list or an empty one")
    func onlyVersion() throws {
        try withFolder { folder in
            try folder.write(Self.model("Only"), to: "A.xcdatamodeld/A.xcdatamodel/contents")
            let package = folder.appendingPathComponent("A.xcdatamodeld")
            #expect(try Self.entities(package) == ["Only"])
            try folder.write("<plist version=\"1.0\"><dict/></plist>", to: "A.xcdatamodeld/.xccurrentversion")
            #expect(try Self.entities(package) == ["Only"])
        }
    }

    @Test("What is no model is refused with its path and the cure")
    func refusals() throws {
        try withFolder { folder in
            let missing = try Self.refusal(folder.appendingPathComponent("B.xcdatamodeld"))
            #expect(
                missing.description.hasPrefix(
                    folder.appendingPathComponent("B.xcdatamodeld").path + ": error: "))
            #expect(missing.message.contains("no model here"))

            try folder.write("", to: "C.xcdatamodeld/notes.txt")
            #expect(
                try Self.refusal(folder.appendingPathComponent("C.xcdatamodeld")).message.contains(
                    "holds no version"))

            try folder.write(Self.model("X"), to: "D.xcdatamodeld/D.xcdatamodel/contents")
            try folder.write(Self.model("X"), to: "D.xcdatamodeld/D2.xcdatamodel/contents")

            try folder.write(Self.current("../../E.xcdatamodel"), to: "D.xcdatamodeld/.xccurrentversion")
            let escaping = try Self.refusal(folder.appendingPathComponent("D.xcdatamodeld"))
            #expect(escaping.message.contains("which the package does not hold"))
            #expect(escaping.path.hasSuffix(".xccurrentversion"))

            try folder.write("not a list", to: "D.xcdatamodeld/.xccurrentversion")
            #expect(
                try Self.refusal(folder.appendingPathComponent("D.xcdatamodeld")).message.contains(
                    "no property list"))

            let list = folder.appendingPathComponent("D.xcdatamodeld/.xccurrentversion")
            let handle = try FileHandle(forWritingTo: list)
            try handle.truncate(atOffset: 1 << 40)
            try handle.close()
            #expect(
                try Self.refusal(folder.appendingPathComponent("D.xcdatamodeld")).message.contains(
                    "no property list"))

            try folder.write("bplist00", to: "F.xcdatamodel/elements")
            #expect(
                try Self.refusal(folder.appendingPathComponent("F.xcdatamodel")).message.contains("Xcode 3"))

            try folder.write("", to: "G.xcdatamodel/other")
            #expect(
                try Self.refusal(folder.appendingPathComponent("G.xcdatamodel")).message.contains(
                    "no file “contents”"))

            try folder.write("", to: "H.momd/H.mom")
            #expect(throws: ModelFileError.self) { try ModelFile.load(folder.appendingPathComponent("H.momd")) }
            try folder.write("", to: "I.momd/I.omo")
            #expect(try Self.refusal(folder.appendingPathComponent("I.momd")).message.contains("no version"))
            #expect(try Self.refusal(folder.appendingPathComponent("I.momd/I.omo")).message.contains(".mom beside"))
        }
    }
}
