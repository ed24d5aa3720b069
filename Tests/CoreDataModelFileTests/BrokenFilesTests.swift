// Broken files: each is refused at the place where it is broken, in words.

import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataModelFile

/// A file, where it is broken, and what is said of it.
struct Broken: CustomTestStringConvertible {
    var text: String
    var line: Int
    var column: Int
    var says: String

    init(_ line: Int, _ column: Int, _ says: String, _ text: String) {
        self.text = text
        self.line = line
        self.column = column
        self.says = says
    }

    var testDescription: String { says }

    /// An attribute on line 3 of a model, with its tag in column 3.
    static func attribute(_ column: Int, _ says: String, _ fields: String) -> Broken {
        Broken(
            3, column, says,
            "<model>\n<entity name=\"E\">\n  <attribute name=\"a\" \(fields)/>\n</entity>\n</model>\n")
    }

    /// A relationship on line 3 of a model, with its tag in column 3.
    static func relationship(_ column: Int, _ says: String, _ fields: String) -> Broken {
        Broken(
            3, column, says,
            "<model>\n<entity name=\"E\">\n  <relationship name=\"r\" \(fields)/>\n</entity>\n</model>\n")
    }

    /// A derived attribute on line 3 of an entity that has the attribute `a`.
    static func derived(_ says: String, _ expression: String) -> Broken {
        .child(
            3, says,
            "<attribute name=\"d\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"\(expression)\"/>")
    }

    /// What stands on line 3 of an entity, with its tag in column 3.
    static func child(_ column: Int, _ says: String, _ text: String) -> Broken {
        Broken(
            3, column, says,
            "<model>\n<entity name=\"E\"><attribute name=\"a\" attributeType=\"String\"/>\n  \(text)\n</entity>\n</model>\n"
        )
    }
}

@Suite("Broken model files")
struct BrokenFilesTests {
    @Test("A file that is no XML is refused where it breaks", arguments: notXML)
    func notWellFormed(_ file: Broken) throws { try check(file) }

    @Test("A value that cannot be is refused at its attribute", arguments: badValues)
    func values(_ file: Broken) throws { try check(file) }

    @Test("What contradicts something else is refused at its element", arguments: contradictions)
    func contradiction(_ file: Broken) throws { try check(file) }

    private func check(_ file: Broken) throws {
        let error = try #require(#expect(throws: SchemaError.self) { try schema(file.text) })
        #expect(error.message.contains(file.says), "\(error)")
        #expect(error.location == SourceLocation(path: "M", line: file.line, column: file.column), "\(error)")
        #expect(error.description == "M:\(file.line):\(file.column): error: \(error.message)")
    }

    static let notXML: [Broken] = [
        Broken(1, 1, "the file is empty", ""),
        Broken(1, 1, "no well-formed XML", "bplist00"),
        Broken(1, 1, "no UTF-8", "<\u{0}m\u{0}"),
        Broken(1, 1, "its root is <plist>", "<plist><dict/></plist>"),
        Broken(
            3, 5, "is not com.apple.IDECoreDataModeler.DataModel",
            "<!-- a -->\n<model\n    type=\"mapping\"/>"),
        Broken(
            2, 1, "no document type declaration",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE model SYSTEM \"a.dtd\"><model/>"),
        Broken(
            1, 1, "no document type declaration",
            "<!DOCTYPE m [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><model name=\"&b;\"/>"),
        Broken(3, 9, "Opening and ending tag mismatch", "<model>\n<entity name=\"E\">\n</model>\n"),
        Broken(2, 26, "Attribute name redefined", "<model>\n<entity name=\"E\" name=\"F\"></entity></model>"),
        Broken(1, 20, "Entity 'who' not defined", "<model name=\"a&who;\"/>"),
        Broken(2, 1, "Extra content", "<model/>\n<model/>"),
        Broken(3, 1, "cut short", "<model>\n<entity name=\"E\">\n"),
        Broken(2, 16, "AttValue", "<model>\n<entity name=\"E"),
        Broken(3, 6, "Comment not terminated", "<model>\n<entity name=\"E\"/>\n<!-- "),
        Broken(1, 16, "Extra content", "<model></model><model/>"),
        Broken(
            1, 449, "lies more than 64 elements deep",
            "<model>" + String(repeating: "<userI>", count: 70) + String(repeating: "</userI>", count: 70)
                + "</model>"),
    ]

    static let badValues: [Broken] = [
        Broken(2, 2, "<entity> has no name", "<model>\n <entity/></model>"),
        Broken(2, 10, "name of <entity> is empty", "<model>\n <entity name=\"\"/></model>"),
        Broken(2, 18, "neither YES nor NO", "<model>\n<entity name=\"E\" isAbstract=\"yes\"/></model>"),
        Broken(1, 8, "neither YES nor NO", "<model usedWithCloudKit=\"maybe\"/>"),
        .attribute(23, "“E.a” is no attribute type", "attributeType=\"Int\""),
        .attribute(23, "neither YES nor NO", "optional=\"true\" attributeType=\"String\""),
        .attribute(38, "neither YES nor NO", "optional=\"YES\" transient=\"1\" attributeType=\"String\""),
        .attribute(50, "is no Integer 16", "attributeType=\"Integer 16\" defaultValueString=\"many\""),
        .attribute(
            50, "is out of the range of Integer 16",
            "attributeType=\"Integer 16\" defaultValueString=\"40000\""),
        .attribute(50, "is no whole number", "attributeType=\"Integer 16\" defaultValueString=\"0.5\""),
        .attribute(47, "is no Boolean", "attributeType=\"Boolean\" defaultValueString=\"maybe\""),
        .attribute(46, "is no number", "attributeType=\"Double\" defaultValueString=\"0x10\""),
        .attribute(47, "is no decimal number", "attributeType=\"Decimal\" defaultValueString=\"12abc\""),
        .attribute(44, "is no UUID", "attributeType=\"UUID\" defaultValueString=\"123\""),
        .attribute(
            44, "is no number of seconds", "attributeType=\"Date\" defaultDateTimeInterval=\"2001-01-01\""),
        .attribute(44, "is no number of seconds", "attributeType=\"Date\" minDateTimeInterval=\"1e999\""),
        .attribute(46, "is no length", "attributeType=\"String\" minValueString=\"-1\""),
        .attribute(50, "is no number", "attributeType=\"Integer 32\" maxValueString=\"lots\""),
        .attribute(3, "has no derivationExpression", "attributeType=\"Integer 32\" derived=\"YES\""),
        .relationship(3, "has no destinationEntity", "toMany=\"YES\""),
        .relationship(48, "is no whole number", "destinationEntity=\"E\" maxCount=\"x\""),
        .relationship(48, "is below 0", "destinationEntity=\"E\" minCount=\"-1\""),
        .relationship(48, "is no deletion rule", "destinationEntity=\"E\" deletionRule=\"Delete\""),
        .relationship(48, "neither YES nor NO", "destinationEntity=\"E\" ordered=\"\""),
        .child(
            43, "neither Binary nor RTree",
            "<fetchIndex name=\"i\"><fetchIndexElement type=\"Hash\" property=\"a\"/></fetchIndex>"),
        .child(
            56, "neither ascending nor",
            "<fetchIndex name=\"i\"><fetchIndexElement property=\"a\" order=\"up\"/></fetchIndex>"),
        .child(
            24, "neither property nor expression", "<fetchIndex name=\"i\"><fetchIndexElement/></fetchIndex>"),
        .child(3, "holds 0 fetch requests", "<fetchedProperty name=\"f\"/>"),
        .child(13, "has no key", "<userInfo><entry value=\"v\"/></userInfo>"),
        Broken(
            2, 35, "is no result type",
            "<model>\n<fetchRequest name=\"t\" entity=\"E\" resultType=\"9\"/></model>"),
        Broken(
            3, 1, "the configuration “C” is declared twice",
            "<model>\n<configuration name=\"C\"/>\n<configuration name=\"C\"/></model>"),
    ]

    static let contradictions: [Broken] = [
        Broken(3, 1, "“E” is declared twice", "<model>\n<entity name=\"E\"/>\n<entity name=\"E\"/></model>"),
        Broken(2, 1, "has the parent “F”", "<model>\n<entity name=\"E\" parentEntity=\"F\"/></model>"),
        Broken(
            2, 1, "inherits from itself",
            "<model>\n<entity name=\"E\" parentEntity=\"F\"/>\n<entity name=\"F\" parentEntity=\"E\"/></model>"
        ),
        .child(3, "declares the property “a” twice", "<attribute name=\"a\" attributeType=\"String\"/>"),
        .attribute(3, "does not compile", "attributeType=\"String\" regularExpressionString=\"[a\""),
        .attribute(
            3, "is above its maximum",
            "attributeType=\"Integer 16\" minValueString=\"9\" maxValueString=\"1\""),
        .attribute(
            3, "is below its minimum",
            "attributeType=\"Double\" minValueString=\"9\" defaultValueString=\"1\""),
        .attribute(3, "of the composite “C”", "attributeType=\"Composite\" composite=\"C\""),
        .relationship(3, "leads to “F”", "destinationEntity=\"F\""),
        .relationship(3, "is no relationship of “E”", "destinationEntity=\"E\" inverseName=\"s\""),
        .relationship(
            3, "has the minimum count 5",
            "destinationEntity=\"E\" toMany=\"YES\" minCount=\"5\" maxCount=\"3\""),
        .relationship(3, "is ordered and leads to one", "destinationEntity=\"E\" ordered=\"YES\""),
        .child(
            26, "names “z”, which is no property",
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"z\"/></uniquenessConstraint></uniquenessConstraints>"
        ),
        .child(
            3, "names “z”, which is no property",
            "<fetchIndex name=\"i\"><fetchIndexElement property=\"z\"/></fetchIndex>"),
        .child(3, "has no element", "<fetchIndex name=\"i\"/>"),
        .child(
            3, "the condition of the index “i” of “E” cannot be read",
            "<fetchIndex name=\"i\" partialIndexPredicate=\"a ==\"><fetchIndexElement property=\"a\"/></fetchIndex>"),
        .child(
            3, "names “b”, which is no property of “E”",
            "<fetchIndex name=\"i\" partialIndexPredicate=\"b == 1\"><fetchIndexElement property=\"a\"/></fetchIndex>"),
        .derived("“E.d” cannot be read", "((("),
        .derived("names “nosuch”, which is no property of “E”", "nosuch.@count"),
        .derived("names “nosuch”, which is no property of “E”", "canonical:(nosuch)"),
        .derived("names “b” of “E.a”, which is an attribute", "a.b"),
        .child(
            3, "fetches “F”",
            "<fetchedProperty name=\"f\"><fetchRequest name=\"r\" entity=\"F\"/></fetchedProperty>"),
        Broken(2, 1, "fetches “F”", "<model>\n<fetchRequest name=\"t\" entity=\"F\"/></model>"),
        Broken(
            2, 1, "holds the entity “F”",
            "<model>\n<configuration name=\"C\"><memberEntity name=\"F\"/></configuration></model>"),
        Broken(
            2, 1, "“C” holds itself",
            "<model>\n<composite name=\"C\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"C\"/></composite></model>"
        ),
    ]

    @Test(
        "A message quotes at most 120 characters of a text in the file",
        arguments: [
            "<fetchRequest name=\"t\" entity=\"E\" predicateString=\"LONG ==\"/>",
            "<fetchRequest name=\"t\" entity=\"E\" resultType=\"LONG\"/>",
            "<entity name=\"F\"><attribute name=\"d\" derived=\"YES\" derivationExpression=\"LONG\"/></entity>",
            "<entity name=\"F\"><attribute name=\"d\" attributeType=\"LONG\"/></entity>",
        ])
    func quotes(_ element: String) throws {
        let long = element.replacingOccurrences(of: "LONG", with: String(repeating: "a", count: 200_000))
        let error = try #require(
            #expect(throws: SchemaError.self) { try schema("<model>\n<entity name=\"E\"/>\n\(long)</model>") })
        #expect(error.message.contains("…"))
        #expect(error.message.count < 700, "\(error.message.count)")
        #expect(error.location?.line == 3)
    }

    @Test("A tag has at most a thousand attributes, and more are refused before they take time")
    func crowdedTag() throws {
        func model(_ count: Int) -> String {
            "<model>\n<entity name=\"E\"" + (0..<count).map { " a\($0)=\"1\"" }.joined() + "/></model>"
        }
        let full = model(999)
        let warnings = try schema(full).warnings
        #expect(warnings.count == 999)
        let last = try #require(full.range(of: "a998"))
        let line = try #require(full.range(of: "<entity"))
        #expect(warnings.last?.location?.column == full.distance(from: line.lowerBound, to: last.lowerBound) + 1)
        for count in [1_000, 100_000] {
            let error = try #require(#expect(throws: SchemaError.self) { try schema(model(count)) })
            #expect(error.message.contains("more than 1000 attributes"))
            #expect(error.location == SourceLocation(path: "M", line: 2, column: 1))
        }
    }

    @Test("A model cut short at any byte is refused or whole, and never traps")
    func truncation() throws {
        let url = Corpus.package.appendingPathComponent(
            "Models/FooTriage.xcdatamodeld/FooTriage 2.xcdatamodel/contents")
        let bytes = Array(try Data(contentsOf: url))
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
        for count in stride(from: 0, to: end, by: 37) {
            let error = #expect(throws: SchemaError.self) {
                try ModelFile.draft(contents: Array(bytes[..<count]), path: "M")
            }
            #expect(error?.location != nil)
        }
        _ = try ModelFile.draft(contents: Array(bytes[...end]), path: "M")
    }

    @Test("A model with bytes changed at random is read or refused, and never traps")
    func noise() throws {
        let url = Corpus.package.appendingPathComponent(
            "Models/FooTriage.xcdatamodeld/FooTriage 2.xcdatamodel/contents")
        let bytes = Array(try Data(contentsOf: url))
        var seed: UInt64 = 20_010_101
        func next(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        var refused = 0
        for _ in 0..<300 {
            var changed = bytes
            for _ in 0...next(3) { changed[next(changed.count)] = UInt8(next(256)) }
            do {
                _ = try Schema(checking: ModelFile.draft(contents: changed, path: "M"))
            } catch {
                #expect(error.location != nil)
                refused += 1
            }
        }
        #expect(refused > 100)
    }
}
