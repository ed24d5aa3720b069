// What a save through a merge policy reports of objects whose unique values are taken.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct UpsertReportTests {
    /// A person's code and tax number are unique.
    private func rig(_ type: String) throws -> Rig {
        var person = EntityDraft(name: "Person")
        person.attributes = [
            Clinic.attribute("code", .integer64), Clinic.attribute("tax", .string), Clinic.attribute("name", .string),
        ]
        person.uniquenessConstraints = [["code"], ["tax"]]
        let rig = Rig(NSManagedObjectModel(person))
        try rig.add(type)
        let context = rig.context()
        _ = context.make("Person", ["code": 1, "tax": "a", "name": "Ada"])
        _ = context.make("Person", ["code": 2, "tax": "b", "name": "Bea"])
        try context.save()
        return rig
    }

    /// Code and name of the row that each effect names, and the effect; then all rows.
    private func report(_ context: NSManagedObjectContext, _ rig: Rig) throws -> [String] {
        let effects = try context.saveReportingEffects()
        let other = rig.context()
        let rows = try effects.map { id, effect in
            let row = try other.existingObject(with: id)
            return "\(row.value(forKey: "code") ?? "-") \(row.value(forKey: "name") ?? "-") \(effect)"
        }
        return rows + ["\(try other.all("Person").count) rows"]
    }

    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType]
    private static let cases: [(policy: NSMergePolicyType, report: [String])] = [
        (
            .mergeByPropertyObjectTrumpMergePolicyType,
            ["3 Cay inserted", "1 Abe updated", "2 Bob updated", "4 Dan inserted", "4 rows"]
        ),
        (.overwriteMergePolicyType, ["3 Cay inserted", "1 Abe updated", "2 Bob updated", "4 Dan inserted", "4 rows"]),
        (
            .mergeByPropertyStoreTrumpMergePolicyType,
            ["3 Cay inserted", "1 Ada kept", "2 Bea kept", "4 Dan inserted", "4 rows"]
        ),
        (.rollbackMergePolicyType, ["3 Cay inserted", "1 Ada kept", "2 Bea kept", "4 Dan inserted", "4 rows"]),
    ]

    @Test(
        "Each inserted object is told, in its order: inserted, updated or kept, by the row that has its values",
        arguments: types)
    func each(type: String) throws {
        for (policy, expected) in Self.cases {
            let rig = try rig(type)
            let context = rig.context()
            context.mergePolicy = NSMergePolicy(merge: policy)
            for (code, name) in [(3, "Cay"), (1, "Abe"), (2, "Bob"), (4, "Dan")] {
                _ = context.make("Person", ["code": code, "name": name])
            }
            #expect(try report(context, rig) == expected, "\(policy)")
            #expect(context.saveReport == nil)
        }
    }

    @Test("A save without conflicts, one of no insertions, and one that fails", arguments: types)
    func others(type: String) throws {
        let rig = try rig(type)
        let context = rig.context()
        #expect(try context.saveReportingEffects().isEmpty)
        _ = context.make("Person", ["code": 3, "name": "Cay"])
        #expect(try report(context, rig) == ["3 Cay inserted", "3 rows"])
        try context.all("Person").first?.setValue("new", forKey: "name")
        #expect(try context.saveReportingEffects().isEmpty)
        _ = context.make("Person", ["code": 3, "name": "Cid"])
        #expect(code { _ = try context.saveReportingEffects() } == 133021)
        #expect(context.saveReport == nil)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        #expect(try report(context, rig) == ["3 Cid updated", "3 rows"])
    }

    @Test(
        "Two new objects with the same values are one row: the first is inserted, the other tells whose values it has",
        arguments: types)
    func twins(type: String) throws {
        for (policy, effect) in [
            (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "updated"),
            (.mergeByPropertyStoreTrumpMergePolicyType, "kept"),
        ] {
            let rig = try rig(type)
            let context = rig.context()
            context.mergePolicy = NSMergePolicy(merge: policy)
            for name in ["Eve", "Eva"] { _ = context.make("Person", ["code": 5, "name": name]) }
            let told = try report(context, rig)
            #expect(
                told.map { $0.split(separator: " ").last.map(String.init) } == ["inserted", effect, "rows"], "\(told)")
            #expect(told.last == "3 rows")
        }
    }

    @Test("A row that broke two constraints is told once, by the row that is left", arguments: types)
    func twice(type: String) throws {
        let rig = try rig(type)
        let context = rig.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        _ = context.make("Person", ["code": 1, "tax": "b", "name": "Zoe"])
        let told = try report(context, rig)
        #expect(told.count == 2 && told[0].hasSuffix("Zoe updated") && told[1] == "1 rows", "\(told)")
    }

    @Test("A child hands its objects to its parent, whose save tells what became of them")
    func child() throws {
        let rig = try rig(NSSQLiteStoreType)
        let context = rig.context()
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        let child = context.child()
        _ = child.make("Person", ["code": 1, "name": "Abe"])
        #expect(try child.saveReportingEffects().map(\.effect) == [.inserted])
        #expect(try report(context, rig) == ["1 Ada kept", "2 rows"])
    }
}
