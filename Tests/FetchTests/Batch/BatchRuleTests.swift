// Delete rules and side files of batch requests, where rows of one table lead to each other.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Rules of batch requests") struct BatchRuleTests {
    /// Nodes with children, which deny their parent's deletion, with friends of their own kind, and with a photo in a file.
    private func stack(_ type: String) throws -> Stack {
        var node = EntityDraft(name: "Node")
        node.attributes = [Clinic.attribute("name", .string), Clinic.attribute("photo", .binary, external: true)]
        node.relationships = [
            Clinic.toOne("parent", "Node", inverse: "children"),
            Clinic.toMany("children", "Node", inverse: "parent", rule: .deny),
            Clinic.toMany("friends", "Node", inverse: "friends"),
        ]
        node.uniquenessConstraints = [["name"]]
        return try Stack(type, model: NSManagedObjectModel(node), undo: false)
    }

    private func delete(_ format: String, _ stack: Stack) throws {
        _ = try stack.another().execute(
            NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>("Node", format)))
    }

    private func count(_ format: String, _ stack: Stack) throws -> Int {
        return try stack.another().count(for: NSFetchRequest<any NSFetchRequestResult>("Node", format))
    }

    @Test(
        "9.2 A rule that denies lets go of members that go too, and of no others",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func denial(_ type: String) throws {
        let stack = try stack(type)
        let parent = stack.context.make("Node", ["name": "p"])
        for name in ["a", "b"] { stack.context.make("Node", ["name": name]).setValue(parent, forKey: "parent") }
        try stack.context.save()
        #expect(throws: CocoaError.self) { try delete("name IN {'p', 'a'}", stack) }
        #expect(try count("TRUEPREDICATE", stack) == 3, "nothing was deleted")
        try delete("name IN {'p', 'a', 'b'}", stack)
        #expect(try count("TRUEPREDICATE", stack) == 0)
    }

    @Test(
        "9.2 Who is at either end of a pair of one kind takes the pair along",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func pairs(_ type: String) throws {
        for gone in ["a", "b"] {
            let stack = try stack(type)
            let (a, b) = (stack.context.make("Node", ["name": "a"]), stack.context.make("Node", ["name": "b"]))
            a.setValue(NSSet(object: b), forKey: "friends")
            try stack.context.save()
            #expect(try count("friends.@count > 0", stack) == 2)
            try delete("name == '\(gone)'", stack)
            #expect(try count("friends.@count > 0", stack) == 0)
        }
    }

    @Test("9.4 A row that is left out, since its unique value is taken, leaves no file behind")
    func files() throws {
        let stack = try stack(NSSQLiteStoreType)
        _ = stack.context.make("Node", ["name": "a", "photo": Data(repeating: 1, count: 300_000)])
        try stack.context.save()
        func files() throws -> Int {
            let folder = stack.folder.url
            let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
            return (walk?.allObjects as? [URL] ?? []).filter { $0.path.contains("_EXTERNAL_DATA/") }.count
        }
        #expect(try files() == 1)
        for policy in [NSMergePolicyType.errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType] {
            stack.context.mergePolicy = NSMergePolicy(merge: policy)
            _ = try stack.context.execute(
                NSBatchInsertRequest(
                    entityName: "Node", objects: [["name": "a", "photo": Data(repeating: 2, count: 300_000)]]))
            #expect(try files() == 1)
        }
    }

    @Test("A sequence takes over what others have saved where its request says so", arguments: [true, false])
    func refreshing(_ refreshes: Bool) async throws {
        let stack = try stack(NSSQLiteStoreType)
        let context = stack.context
        let held = context.make("Node", ["name": "before"])
        try context.save()
        let other = stack.another()
        try other.all("Node").first?.setValue("after", forKey: "name")
        try other.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.shouldRefreshRefetchedObjects = refreshes
        nonisolated(unsafe) let wanted = request
        var names: [String] = []
        for try await name in context.values(of: wanted, { $0.value(forKey: "name") as? String }) {
            names.append(name ?? "")
        }
        #expect(names == [refreshes ? "after" : "before"])
        withExtendedLifetime(held) {}
    }
}
