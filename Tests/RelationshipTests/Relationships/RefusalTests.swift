// What may not be related, and how many may be.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct RefusalTests {
    @Test("4.7 Relating objects of two contexts ends the process with what to do instead")
    func contexts() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            stack.context.make("Node").setValue(stack.another().make("Node"), forKey: "parent")
        }
        #expect(said(result?.standardErrorContent, "Node.parent was given an object of another context", "objectID"))
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            stack.context.make("Node").mutableSetValue(forKey: "friends").add(stack.another().make("Node"))
        }
        #expect(said(many?.standardErrorContent, "Node.friends was given an object of another context"))
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Node"])
            stack.context.make("Node").setValue(NSManagedObject(entity: entity, insertInto: nil), forKey: "parent")
        }
        #expect(said(none?.standardErrorContent, "Node.parent", "belongs to no context", "insert"))
    }

    @Test("4.7 Relating objects of two stores is the error 133010 of the save, with both objects; the next save works")
    func stores() throws {
        var draft = Web.draft()
        draft.configurations = ["one": ["Node", "Boss", "Step", "Badge", "Animal", "Dog", "Cat"], "two": ["Tag"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
        for configuration in ["one", "two"] {
            _ = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: configuration, at: nil)
        }
        let context = coordinator.context()
        let (node, tag) = (context.make("Node", ["n": 1]), context.make("Tag", ["n": 2]))
        node.mutableSetValue(forKey: "likes").add(tag)
        let error = caught { try context.save() }
        #expect(error?.code.rawValue == 133010)
        #expect(error?.validationKey == "likes")
        #expect(error?.affectedObjects?.count == 2)
        #expect(node.isInserted && node.objectID.isTemporaryID)
        node.setValue(nil, forKey: "likes")
        try context.save()
        node.mutableSetValue(forKey: "tags").add(tag)
        #expect(caught { try context.save() } != nil)
        context.rollback()
        node.setValue(context.make("Node"), forKey: "parent")
        try context.save()
        #expect(try context.all("Node").count == 2)
    }

    @Test("A target of another entity, or no object at all, ends the process with entity and property")
    func wrongTargets() async {
        let entity = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            stack.context.make("Node").setValue(stack.context.make("Tag"), forKey: "parent")
        }
        #expect(said(entity?.standardErrorContent, "Node.parent leads to Node, not to Tag"))
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            stack.context.make("Node").setValue("someone", forKey: "parent")
        }
        #expect(said(text?.standardErrorContent, "Node.parent is a to-one relationship and was given String"))
        let member = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Web.stack()
            stack.context.make("Node").setValue(NSSet(array: ["someone"]), forKey: "children")
        }
        #expect(said(member?.standardErrorContent, "Node.children is a to-many relationship"))
    }

    /// A box with two to five parts, or none if it may be empty.
    private func box(optional: Bool) throws -> Stack {
        var box = EntityDraft(name: "Box")
        var parts = Clinic.toMany("parts", "Part", inverse: "box")
        parts.isOptional = optional
        parts.minCount = 2
        parts.maxCount = 5
        box.relationships = [parts]
        let part = EntityDraft("Part", [], [Clinic.toOne("box", "Box", inverse: "parts")])
        return try Stack(model: NSManagedObjectModel(box, part))
    }

    @Test("4.10 Counts are checked when there are members, and always if the relationship is required")
    func counts() throws {
        let stack = try box(optional: true)
        let box = stack.context.make("Box")
        try stack.context.save()
        func code(_ count: Int) -> Int? {
            box.setValue(NSSet(array: (0..<count).map { _ in stack.context.make("Part") }), forKey: "parts")
            return caught { try stack.context.save() }?.code.rawValue
        }
        #expect(code(1) == 1580)
        #expect(code(2) == nil)
        #expect(code(6) == 1590)
        #expect(code(5) == nil)
        #expect(code(0) == nil)
        let strict = try self.box(optional: false)
        _ = strict.context.make("Box")
        #expect(caught { try strict.context.save() }?.code.rawValue == 1580)
    }

    @Test("4.10 A member that moves away is counted at the box that it left")
    func countsAtLoss() throws {
        let stack = try box(optional: true)
        let boxes = (0..<2).map { _ in stack.context.make("Box") }
        let parts = (0..<4).map { stack.context.make("Part", ["box": boxes[$0 / 2]]) }
        try stack.context.save()
        let other = stack.another()
        other.object(with: parts[0].objectID).setValue(other.object(with: boxes[1].objectID), forKey: "box")
        let error = caught { try other.save() }
        #expect(error?.code.rawValue == 1580)
        #expect((error?.validationObject as? NSManagedObject)?.objectID == boxes[0].objectID)
    }

    @Test(
        "15.2 A property named like a member of every object is refused with entity and property",
        arguments: ["hash", "description", "self", "objectID", "isDeleted", "managedObjectContext", "willSave", "copy"])
    func names(_ name: String) throws {
        for kind in 0..<3 {
            var draft = Web.draft()
            switch kind {
            case 0: draft.entities[0].attributes.append(Clinic.attribute(name, .string))
            case 1: draft.entities[0].relationships.append(Clinic.toOne(name, "Tag", inverse: nil))
            default:
                draft.entities[0].fetchedProperties.append(
                    FetchedProperty(name: name, request: FetchTemplate(name: "", entityName: "Tag")))
            }
            let error = #expect(throws: SchemaError.self) { try Schema(checking: draft) }
            #expect(error?.entity == "Node" && error?.property == name)
            #expect(error?.message.contains("is a member of every NS") == true)
        }
    }

    @Test("15.2 A model file with such a name does not load, and says where; names that only look alike do")
    func file() throws {
        let folder = Folder()
        let url = folder.file("Test.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        func load(_ name: String) throws -> NSManagedObjectModel {
            let text = """
                <?xml version="1.0" encoding="UTF-8"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                    <entity name="Item" representedClassName="Item">
                        <attribute name="\(name)" optional="YES" attributeType="String"/>
                    </entity>
                </model>
                """
            try Data(text.utf8).write(to: url.appendingPathComponent("contents"))
            return try NSManagedObjectModel(loading: url)
        }
        let error = caught { _ = try load("hash") }
        #expect(error?.code.rawValue == 134020)
        #expect(error?.localizedDescription.contains("“Item” declares the property “hash”") == true)
        #expect(error?.userInfo[NSModelLineErrorKey] as? Int == 4)
        for name in ["hashes", "Description", "deleted", "version", "updated", "new"] {
            #expect(try load(name).entities.count == 1)
        }
    }
}
