// Relationships that change their order or move up the tree of entities.

@testable import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Relationships that move") struct MovedRelationshipTests {
    private static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

    private func members(_ object: NSManagedObject, _ key: String) -> [String] {
        let members: [NSManagedObject]
        switch object.value(forKey: key) {
        case let ordered as NSOrderedSet: members = ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: members = set.allObjects.compactMap { $0 as? NSManagedObject }
        default: members = []
        }
        let names = members.map { "\($0.value(forKey: "n") ?? "")" }
        return object.value(forKey: key) is NSSet ? names.sorted() : names
    }

    @Test(
        "A many-to-many gets or loses an order on either side",
        arguments: types, ["tags", "photos"])
    func order(_ type: String, _ side: String) throws {
        func model(_ tags: String, _ photos: String) -> String {
            let names = Versions.attribute("n")
            return Versions.entity("Photo", "", names, Versions.toMany("tags", "Tag", "photos", tags))
                + Versions.entity("Tag", "", names, Versions.toMany("photos", "Photo", "tags", photos))
        }
        let ordered = "ordered=\"YES\""
        let changed = side == "tags" ? model(ordered, "") : model("", ordered)
        let versions = try Versions(model("", ""), changed, model("", ""))
        try versions.open(1, type) { context in
            let tags = ["t0", "t1", "t2"].map { context.make("Tag", ["n": $0]) }
            context.make("Photo", ["n": "p0", "tags": NSSet(array: tags)])
            context.make("Photo", ["n": "p1", "tags": NSSet(array: [tags[1]])])
            try context.save()
        }
        for version in [2, 2, 3, 3] {
            try versions.open(version, type) { context in
                let tagged = try context.all("Photo").map { members($0, "tags").sorted() }
                #expect(tagged == [["t0", "t1", "t2"], ["t1"]])
                let photos = try context.all("Tag").map { members($0, "photos").sorted() }
                #expect(photos == [["p0"], ["p0", "p1"], ["p0"]])
                let photo = try context.all("Photo")[0]
                photo.setValue("p0", forKey: "n")
                let tag = try context.all("Tag")[2]
                let tags = photo.members(of: "tags", side == "tags" && version == 2)
                tags.remove(tag)
                try context.save()
                tags.add(tag)
                try context.save()
            }
        }
    }

    @Test("A to-many that moves to the parent keeps its members and their order", arguments: types)
    func pulledUp(_ type: String) throws {
        func model(_ up: Bool) -> String {
            let moving = [
                Versions.toMany("kids", "Kid", "owner", "ordered=\"YES\""), Versions.toMany("tags", "Tag"),
                Versions.toMany("peers", "Peer", "subs"),
            ].joined(separator: "\n")
            let owner = up ? "Base" : "Sub"
            return Versions.entity("Base", "", Versions.attribute("n"), up ? moving : "")
                + Versions.entity("Sub", "parentEntity=\"Base\"", Versions.attribute("m"), up ? "" : moving)
                + Versions.entity("Kid", "", Versions.attribute("n"), Versions.toOne("owner", owner, "kids"))
                + Versions.entity("Tag", "", Versions.attribute("n"))
                + Versions.entity("Peer", "", Versions.attribute("n"), Versions.toMany("subs", owner, "peers"))
        }
        let versions = try Versions(model(false), model(true))
        try versions.open(1, type) { context in
            let kids = ["k3", "k1", "k2"].map { context.make("Kid", ["n": $0]) }
            let values: [String: Any] = [
                "n": "s", "kids": NSOrderedSet(array: kids), "tags": NSSet(object: context.make("Tag", ["n": "t"])),
                "peers": NSSet(array: ["p", "q"].map { context.make("Peer", ["n": $0]) }),
            ]
            context.make("Sub", values)
            try context.save()
        }
        try versions.open(2, type) { context in
            let sub = try context.all("Sub")[0]
            #expect(members(sub, "kids") == ["k3", "k1", "k2"])
            #expect(members(sub, "tags") == ["t"])
            #expect(members(sub, "peers") == ["p", "q"])
        }
    }

    @Test("An abstract parent that is new takes over its only child's relationships", arguments: types)
    func newParent(_ type: String) throws {
        let tag = { (owner: String) in
            Versions.entity("Tag", "", Versions.attribute("n"), Versions.toMany("subs", owner, "tags"))
        }
        let many = Versions.toMany("tags", "Tag", "subs")
        let versions = try Versions(
            Versions.entity("Sub", "", Versions.attribute("n"), many) + tag("Sub"),
            Versions.entity("Base", "isAbstract=\"YES\"", many)
                + Versions.entity("Sub", "parentEntity=\"Base\"", Versions.attribute("n")) + tag("Base"))
        try versions.open(1, type) { context in
            context.make("Sub", ["n": "s", "tags": NSSet(object: context.make("Tag", ["n": "t"]))])
            try context.save()
        }
        let tags = try versions.open(2, type) { try $0.all("Sub").map { members($0, "tags") } }
        #expect(tags == [["t"]])
    }

    @Test("Members that two children had apart are not united by a guess")
    func united() throws {
        func model(_ up: Bool) -> String {
            let many = Versions.toMany("tags", "Tag")
            return Versions.entity("Base", "", Versions.attribute("n"), up ? many : "")
                + Versions.entity("One", "parentEntity=\"Base\"", Versions.attribute("a"), up ? "" : many)
                + Versions.entity("Two", "parentEntity=\"Base\"", Versions.attribute("b"), up ? "" : many)
                + Versions.entity("Tag", "", Versions.attribute("n"))
        }
        let versions = try Versions(model(false), model(true))
        try versions.open(1) { context in
            context.make("One", ["tags": NSSet(object: context.make("Tag"))])
            try context.save()
        }
        let refusal = failure { try versions.open(2) { _ in } }
        #expect(refusal?.code.rawValue == 134190)
        #expect(refusal?.localizedDescription.contains("would unite the members of One.tags and Two.tags") == true)
        let count = try versions.open(1) { try $0.all("One").count }
        #expect(count == 1)
    }
}

extension NSManagedObject {
    fileprivate func members(of key: String, _ isOrdered: Bool) -> (
        add: (NSManagedObject) -> Void, remove: (NSManagedObject) -> Void
    ) {
        if isOrdered {
            let set = mutableOrderedSetValue(forKey: key)
            return ({ set.add($0) }, { set.remove($0) })
        }
        let set = mutableSetValue(forKey: key)
        return ({ set.add($0) }, { set.remove($0) })
    }
}
