// `@NSManaged` is found where it would not link, and nowhere else; what the page says to write instead works.

import CoreData
import Foundation
import Testing

@testable import CoreDataGeneration

@Suite struct ManagedAttributeTests {
    private func places(_ text: String) -> [String] {
        ManagedAttributes.findings(in: text, path: "P.swift").map { "\($0.line):\($0.column)" }
    }

    @Test("Properties and methods, at line and column")
    func found() {
        let text = """
            class Patient: NSManagedObject {
                @NSManaged public var name: String?
                @objc @NSManaged
                var age: Int16
                @NSManaged func addToInjuries(_ value: Injury)
            }
            let count = "é".count; class B: NSManagedObject { @NSManaged/* so */ var b: Int }
            """
        #expect(places(text) == ["2:5", "3:11", "5:5", "7:52"])
    }

    @Test("Not in comments, in literals, under a condition, or as the beginning of another name")
    func notFound() {
        let text = ##"""
            // @NSManaged
            /* @NSManaged /* @NSManaged */ @NSManaged
               @NSManaged */
            let a = "@NSManaged \" @NSManaged"
            let b = #"@NSManaged " @NSManaged"#
            let c = """
                @NSManaged " ""
                @NSManaged
                """
            let d = "\(values["@NSManaged"] ?? other("@NSManaged")) @NSManaged"
            let e = #"\#(values["@NSManaged"] ?? "") \(" @NSManaged"#
            #if canImport(ObjectiveC)
            #if DEBUG
            @NSManaged var e: Int
            #endif
            @NSManaged var e: Int
            #else
            var e: Int { 1 }
            #endif
            @NSManagedThing var f: Int
            """##
        #expect(places(text) == [])
        #expect(places(text + "\n@NSManaged var g: Int") == ["21:1"])
        #expect(places("\"\n@NSManaged") == ["2:1"])
    }

    @Test("Broken ends of a text end the search")
    func ends() {
        for text in [
            "", "@", "@NSManage", "/*", "/", "\"", "\"\"\"", "#", "#\"", "\"\\", "\"\"\"\\", "\"\\(", "#\"\\#",
        ] {
            #expect(places(text) == [])
        }
        #expect(places("@NSManaged") == ["1:1"])
    }

    @Test("The message is a compiler's, and the page that it names is there")
    func message() throws {
        let message = try #require(ManagedAttributes.findings(in: "@NSManaged", path: "/a/P.swift").first).description
        #expect(message.hasPrefix("/a/P.swift:1:1: error: @NSManaged "))
        let page = try #require(message.split(separator: " ").last)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        #expect(FileManager.default.fileExists(atPath: root.appendingPathComponent(String(page)).path))
    }

    @Test("A class written as the page says is saved and read")
    func written() throws {
        let context = try stack("Clinic") { model in
            let entity = model.entitiesByName["Outpatient"]
            entity?.managedObjectClassName = "HandWritten"
            entity?.attributesByName.values.forEach { $0.isOptional = true }
        }
        try context.step { context in
            let patient = HandWritten(context: context)
            #expect(patient.name == nil && patient.small == 0)
            patient.name = "Ada"
            patient.small = 3
        }
        try context.step { context in
            let patient = try context.only(NSFetchRequest<HandWritten>(entityName: "Outpatient"))
            #expect(patient.name == "Ada" && patient.small == 3)
            #expect(patient.value(forKey: "name") as? String == "Ada")
            patient.name = nil
        }
        try context.step { context in
            let patient = try context.only(NSFetchRequest<HandWritten>(entityName: "Outpatient"))
            #expect(patient.name == nil)
        }
    }
}

/// As the page has it.
private final class HandWritten: NSManagedObject {
    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
    var small: Int16 {
        get { value(forKey: "small") as? Int16 ?? 0 }
        set { setValue(newValue, forKey: "small") }
    }
}
