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
        let names = members.map(name)
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

    /// What a relationship and its inverse lead to.
    enum Ends: String, CaseIterable, CustomTestStringConvertible {
        case oneToOne, oneToMany, manyToOne, manyToMany
        var testDescription: String { rawValue }

        fileprivate var moving: String {
            switch self {
            case .oneToOne, .oneToMany: Versions.toOne("own", "Owner", "subs")
            case .manyToOne, .manyToMany: Versions.toMany("own", "Owner", "subs")
            }
        }

        fileprivate func back(to entity: String) -> String {
            switch self {
            case .oneToOne, .manyToOne: Versions.toOne("subs", entity, "own")
            case .oneToMany, .manyToMany: Versions.toMany("subs", entity, "own")
            }
        }

        fileprivate func value(_ object: NSManagedObject) -> Any {
            switch self {
            case .oneToOne, .oneToMany: object
            case .manyToOne, .manyToMany: NSSet(object: object)
            }
        }
    }

    /// A relationship of a parent, or of one of its two children, and the other end.
    private func hierarchy(_ ends: Ends, _ owner: String) -> String {
        func own(_ entity: String) -> String { entity == owner ? ends.moving : "" }
        return Versions.entity("Base", "", Versions.attribute("n"), own("Base"))
            + Versions.entity("Sub", "parentEntity=\"Base\"", Versions.attribute("m"), own("Sub"))
            + Versions.entity("Side", "parentEntity=\"Base\"", Versions.attribute("k"))
            + Versions.entity("Owner", "", Versions.attribute("n"), ends.back(to: owner))
    }

    private func name(_ object: NSManagedObject) -> String { "\(object.value(forKey: "n") ?? "")" }

    /// The names at the other end of a relationship of either kind.
    private func names(_ object: NSManagedObject, _ key: String) -> [String] {
        if let target = object.value(forKey: key) as? NSManagedObject { return [name(target)] }
        return members(object, key)
    }

    @Test("A relationship with an inverse moves up to a parent that is there already", arguments: types, Ends.allCases)
    func toKnownParent(_ type: String, _ ends: Ends) throws {
        let versions = try Versions(hierarchy(ends, "Sub"), hierarchy(ends, "Base"))
        try versions.open(1, type) { context in
            context.make("Sub", ["n": "s", "own": ends.value(context.make("Owner", ["n": "o"]))])
            for entity in ["Sub", "Base", "Side"] { context.make(entity, ["n": entity]) }
            try context.save()
        }
        try versions.open(2, type) { context in
            let owners = try context.all("Owner")
            #expect(owners.map { names($0, "subs") } == [["s"]])
            let led = try context.all("Base").filter { !names($0, "own").isEmpty }
            #expect(led.map { [name($0)] + names($0, "own") } == [["s", "o"]])
            let side = try context.all("Side")[0]
            side.setValue(ends.value(context.make("Owner", ["n": "new"])), forKey: "own")
            try context.save()
            #expect(names(side, "own") == ["new"])
        }
    }

    @Test(
        "A relationship with an inverse moves down, and objects that have it no longer let go of what it led to",
        arguments: types + ["manager"], Ends.allCases)
    func down(_ way: String, _ ends: Ends) throws {
        let type = way == "manager" ? NSSQLiteStoreType : way
        let versions = try Versions(hierarchy(ends, "Base"), hierarchy(ends, "Sub"))
        try versions.open(1, type) { context in
            for entity in ["Sub", "Base", "Side"] {
                context.make(entity, ["n": entity, "own": ends.value(context.make("Owner", ["n": "\(entity)’s"]))])
            }
            try context.save()
        }
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: versions.model(1)).migrationPlan(
            at: versions.store, toVersionsOf: versions.url, type: NSPersistentStore.StoreType(rawValue: type))
        let lost = plan.lost.map { "\($0.entity).\($0.property ?? "") \($0.rows)" }.sorted()
        #expect(lost == ["Base.own 1", "Owner.subs 2", "Side.own 1"])
        #expect(try plan.rehearse() == [])
        if way == "manager" {
            let (from, to) = (try versions.model(1), try versions.model(2))
            let manager = NSMigrationManager(sourceModel: from, destinationModel: to)
            manager.usesStoreSpecificMigrationManager = false
            let place = versions.folder.file("moved.sqlite")
            try manager.migrateStore(
                from: versions.store, type: .sqlite,
                mapping: NSMappingModel.inferredMappingModel(forSourceModel: from, destinationModel: to), to: place,
                type: .sqlite)
            try FileManager.default.removeItem(at: versions.store)
            try FileManager.default.moveItem(at: place, to: versions.store)
        }
        try versions.open(2, type) { context in
            let owners = try context.all("Owner").map { [name($0)] + names($0, "subs") }
            #expect(Set(owners) == [["Base’s"], ["Side’s"], ["Sub’s", "Sub"]])
            let subs = try context.all("Sub").map { names($0, "own") }
            #expect(subs == [["Sub’s"]])
            let count = try context.all("Base").count
            #expect(count == 3)
        }
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
        let refusal = caught { try versions.open(2) { _ in } }
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
