// The Swift text that is made of a model.

import CoreDataModelFile
import CoreDataSeeds
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataGeneration

/// The classes of a model given as the entities of its file.
func classes(_ entities: String, _ options: GenerationOptions = GenerationOptions()) throws -> ModelClasses {
    let text = "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\n\(entities)\n</model>"
    return try ModelClasses(
        Schema(checking: ModelFile.draft(contents: Array(text.utf8), path: "Model/contents")), model: "M",
        options: options)
}

private func entity(_ name: String, _ attributes: String = "", _ inside: String = "") -> String {
    "<entity name=\"\(name)\" representedClassName=\"\(name)\" codeGenerationType=\"class\" \(attributes)>\(inside)</entity>"
}

private func attribute(_ name: String, _ type: String, _ more: String = "") -> String {
    "<attribute name=\"\(name)\" attributeType=\"\(type)\" \(more)/>"
}

@Suite struct GeneratedTextTests {
    @Test("A class and its accessors, the whole text")
    func whole() throws {
        let text = try classes(
            entity(
                "Patient", "",
                attribute("age", "Integer 64", "usesScalarValueType=\"YES\"") + attribute("name", "String"))
        )
        .source
        #expect(
            text == """
                // Made from the model M: its classes. Made again when the model changes; do not edit.

                public import CoreData

                nonisolated public enum _MClasses {
                    nonisolated public final class _CoreDataGenerated: _GeneratedClasses {
                        override public class var classes: [_GeneratedClass] {
                            [
                                _GeneratedClass(Patient.self, named: "Patient") {
                                    [
                                        "age:int",
                                        "name:text",
                                    ]
                                },
                            ]
                        }
                    }
                }

                nonisolated public class Patient: NSManagedObject {}

                nonisolated extension Patient {
                    @nonobjc public class func fetchRequest() -> NSFetchRequest<Patient> {
                        NSFetchRequest<Patient>(entityName: "Patient")
                    }

                    public var age: Int64 {
                        get { _int(0) }
                        set { _setInt(0, newValue) }
                    }

                    public var name: String? {
                        get { _text(1) }
                        set { _setText(1, newValue) }
                    }
                }

                """)
    }

    @Test("Types as Xcode has them, and as Swift has them")
    func types() throws {
        let kinds = [
            ("Integer 16", "Int16"), ("Integer 32", "Int32"), ("Integer 64", "Int64"), ("Float", "Float"),
            ("Double", "Double"),
            ("Boolean", "Bool"), ("String", "String"), ("Date", "Date"), ("Binary", "Data"), ("UUID", "UUID"),
            ("URI", "URL"),
            ("Decimal", "Decimal"), ("Transformable", "NSObject"),
        ]
        for (kind, type) in kinds {
            let isNumber = ["Int16", "Int32", "Int64", "Float", "Double", "Bool"].contains(type)
            for isOptional in [true, false] {
                func declared(_ style: GenerationOptions.Style, _ more: String) throws -> String {
                    let inside = attribute("a", kind, more + (isOptional ? " optional=\"YES\"" : ""))
                    let text = try classes(entity("E", "", inside), GenerationOptions(style: style)).source
                    return String(
                        try #require(text.split(separator: "\n").first { $0.contains("var a:") }).trimmingPrefix(
                            "    public var a: "))
                }
                let boxed = isNumber ? "NSNumber?" : type == "Decimal" ? "NSDecimalNumber?" : type + "?"
                #expect(try declared(.xcode, "") == boxed + " {")
                #expect(try declared(.xcode, "usesScalarValueType=\"NO\"") == boxed + " {")
                let scalar = isNumber ? type : type == "Date" ? "TimeInterval" : boxed
                #expect(try declared(.xcode, "usesScalarValueType=\"YES\"") == scalar + " {")
                #expect(try declared(.swift, "") == type + (isOptional || type == "NSObject" ? "? {" : " {"))
            }
        }
    }

    @Test(
        "Category/Extension makes accessors only, Manual/None nothing, and all is made where the file beside the model says so"
    )
    func codeGeneration() throws {
        let text = """
            <entity name="A" representedClassName=".A" codeGenerationType="category"/>
            <entity name="B" representedClassName="Shop.B"/><entity name="C" codeGenerationType="class"/>
            """
        let chosen = try classes(text).source
        #expect(
            !chosen.contains("class A") && chosen.contains("extension A {") && !chosen.contains("B")
                && !chosen.contains("extension C"))
        let all = try classes(text, GenerationOptions(scope: .all, access: .internal)).source
        #expect(
            all.contains("\nnonisolated class B: NSManagedObject {}") && all.contains("named: \"Shop.B\"")
                && !all.contains("extension C"))
        #expect(!all.contains("public") && !all.contains("class A"))
    }

    @Test("A subclass declares its own properties, and those of ancestors that have no class")
    func inheritance() throws {
        let text = try classes(
            "<entity name=\"Root\">\(attribute("id", "UUID"))</entity>"
                + entity("Middle", "parentEntity=\"Root\"", attribute("m", "String"))
                + entity("Leaf", "parentEntity=\"Middle\"", attribute("l", "String"))
        ).source
        #expect(text.contains("class Middle: NSManagedObject {}") && text.contains("class Leaf: Middle {}"))
        #expect(
            text.components(separatedBy: "var id: UUID?").count == 2
                && text.components(separatedBy: "var m:").count == 2)
        #expect(
            text.contains("get { _uuid(0) }") && text.contains("get { _text(1) }") && text.contains("get { _text(2) }"))
        #expect(text.contains("extension Middle: Identifiable {}") && !text.contains("extension Leaf: Identifiable"))
        #expect(
            text.contains(
                "_GeneratedClass(Leaf.self, named: \"Leaf\") {\n                    [\n                        \"id:uuid\",\n"
            ))
    }

    @Test("A class that an entity shares with a parent under Manual/None has the properties of both")
    func shared() throws {
        let parent = "<entity name=\"P\" representedClassName=\"C\">\(attribute("p", "String"))</entity>"
        let child = "<entity name=\"Q\" representedClassName=\"C\" parentEntity=\"P\" codeGenerationType=\"class\">"
        let text = try classes(parent + child + attribute("q", "String") + "</entity>").source
        #expect(
            text.contains("class C: NSManagedObject {}") && text.contains("get { _text(0) }")
                && text.contains("get { _text(1) }"))
    }

    @Test("Words of Swift stand in backticks, and types that a class or property hides are named with their module")
    func names() throws {
        let text = try classes(
            entity(
                "Date", "",
                attribute("default", "String") + attribute("when", "Date")
                    + attribute("a b", "String", "optional=\"YES\""))
        ).source
        #expect(
            text.contains("var `default`: String?") && text.contains("var when: Foundation.Date?")
                && text.contains("var `a b`: String?"))
    }

    @Test("What no class can have is told at its place in the file")
    func refusals() throws {
        func refusal(_ text: String) -> String {
            do { _ = try classes(text).source } catch { return String(describing: error) }
            return "none"
        }
        #expect(
            refusal("\n" + entity("E", "", attribute("isProxy", "String"))).hasPrefix("Model/contents:3:")
                || refusal(entity("E", "", attribute("isProxy", "String"))).contains("NSObject"))
        let shared = refusal(
            "<entity name=\"A\" representedClassName=\"A\" codeGenerationType=\"class\"/>\n"
                + "<entity name=\"B\" representedClassName=\"A\" codeGenerationType=\"class\">\(attribute("b", "String"))</entity>"
        )
        #expect(shared.hasPrefix("Model/contents:3:1: error: “B” and “A” both name the class A"))
        #expect(refusal(entity("E", "", attribute("`", "String"))).contains("is no name that Swift can declare"))
        #expect(
            refusal("<entity name=\"E\" representedClassName=\"a-b\" codeGenerationType=\"class\"/>").contains(
                "Rename the class"))
    }

    @Test(
        "A class whose name Swift keeps for itself is told at its line, and so is such a type of an attribute's values",
        arguments: ["import", "default", "Self", "any", "some"])
    func keptNames(_ name: String) throws {
        func refusal(_ text: String, _ style: GenerationOptions.Style = .swift) -> String {
            do { _ = try classes(text, GenerationOptions(style: style)).source } catch {
                return String(describing: error)
            }
            return "none"
        }
        for kind in ["class", "category"] {
            let named = "<entity name=\"E\" representedClassName=\"Zoo.\(name)\" codeGenerationType=\"\(kind)\"/>"
            #expect(
                refusal("\n" + named).hasPrefix(
                    "Model/contents:3:1: error: “E” names the class “\(name)”, which Swift cannot declare"))
        }
        func enumeration(_ type: String) -> String {
            let info = "<userInfo><entry key=\"enum\" value=\"\(type)\"/></userInfo>"
            return entity(
                "E", "", "\n<attribute name=\"a\" attributeType=\"Integer 16\" optional=\"YES\">\(info)</attribute>")
        }
        for type in [name, "Zoo.\(name)"] {
            let said = refusal(enumeration(type))
            #expect(
                said.hasPrefix("Model/contents:3:") && said.contains("has the class “\(type)”, which is no Swift type"))
            #expect(refusal(enumeration(type), .xcode) == "none")
        }
        #expect(refusal(enumeration("Zoo.Defaults")) == "none")
        for type in ["My Mood", "1Mood", "Zoo..Mood"] {
            #expect(refusal(enumeration(type)).contains("which is no Swift type"))
        }
    }

    @Test("A transformable's class may have the words that types have in them, and no others of the language")
    func keptClasses() throws {
        func refusal(_ type: String) -> String {
            let transformable = attribute("a", "Transformable", "optional=\"YES\" customClassName=\"\(type)\"")
            do { _ = try classes(entity("E", "", transformable)).source } catch { return String(describing: error) }
            return "none"
        }
        for type in ["[String: Any]", "any Shape", "Zoo.Shape"] { #expect(refusal(type) == "none") }
        for type in ["import", "Zoo.default"] { #expect(refusal(type).contains("which is no Swift type")) }
    }

    @Test("Accessors and classes stand in files of their own where they are written into the sources")
    func files() throws {
        let sources = try classes(
            entity("A") + "<entity name=\"B\" representedClassName=\"B\" codeGenerationType=\"category\"/>"
        ).sources
        #expect(
            sources.map(\.name) == [
                "A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataProperties.swift",
                "M+CoreDataClasses.swift",
            ])
        #expect(sources.map(\.isOwned) == [true, false, false, false])
        let below = try classes(entity("A") + entity("B", "parentEntity=\"A\"")).sources
        // A public import that nothing public uses would be warned of.
        #expect(below.first { $0.name == "A+CoreDataClass.swift" }?.text.hasPrefix("public import CoreData\n") == true)
        #expect(below.first { $0.name == "B+CoreDataClass.swift" }?.text.hasPrefix("import CoreData\n") == true)
    }

    @Test("The file beside a model says how its classes are made, and errors in it name the file")
    func options() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appendingPathComponent("M.xcdatamodeld")
        #expect(try GenerationOptions(besideModel: model) == GenerationOptions())
        let file = folder.appendingPathComponent(GenerationOptions.fileName)
        try Data("{ \"style\": \"swift\", \"classes\": \"all\", \"access\": \"internal\" }".utf8).write(to: file)
        #expect(
            try GenerationOptions(besideModel: model)
                == GenerationOptions(style: .swift, scope: .all, access: .internal))
        for text in ["[]", "{ \"style\": \"C\" }", "{ \"styles\": \"swift\" }", "{ \"access\": 1 }"] {
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: ModelFileError.self) { try GenerationOptions(besideModel: model) }
            #expect(error?.description.hasPrefix("\(file.path):1:1: error: ") == true)
        }
    }

    @Test(
        "Classes are made of the current version of every model of other projects that loads",
        .enabled(if: Corpus.isPresent))
    func corpus() throws {
        let packages = try Corpus.files(below: "models") { $0.hasSuffix(".xcdatamodeld") }
        var classes = 0
        for package in packages {
            // Some are broken, or of the days before models were XML.
            guard let schema = try? ModelFile.load(package) else { continue }
            for style in GenerationOptions.Style.allCases {
                let made = try ModelClasses(
                    schema, model: "Model", options: GenerationOptions(style: style, scope: .all))
                classes += made.sources.filter { $0.isOwned }.count
                #expect(!made.source.isEmpty)
            }
        }
        #expect(classes > 3_000)
    }
}
