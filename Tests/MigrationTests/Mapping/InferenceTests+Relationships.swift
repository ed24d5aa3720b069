// Relationships of every form that lightweight migration infers, each with rows in the store.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

extension InferenceTests {
    @Test("13.1 A to-one becomes a to-many, its inverse staying a to-one or a to-many", arguments: [true, false])
    func toMany(_ isJoined: Bool) throws {
        let back = isJoined ? V.toMany("items", "Item", "tag") : V.toOne("items", "Item", "tag")
        let forth = isJoined ? V.toMany("items", "Item", "tags") : V.toOne("items", "Item", "tags")
        try moved(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", "items"))
                + V.entity("Tag", "", V.attribute("text"), back),
            V.entity("Item", "", V.attribute("title"), V.toMany("tags", "Tag", "items", "elementID=\"tag\""))
                + V.entity("Tag", "", V.attribute("text"), forth),
            fill: { context in
                let tags = (1...2).map { context.make("Tag", ["text": "tag \($0)"]) }
                for number in 1...2 { context.make("Item", ["title": "t\(number)", "tag": tags[number - 1]]) }
                if isJoined { context.make("Item", ["title": "t3", "tag": tags[0]]) }
                context.make("Item", ["title": "t4"])
            }
        ) { context in
            for item in try context.all("Item") {
                let texts = ((item.value(forKey: "tags") as? NSSet)?.allObjects ?? []).compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "text") as? String
                }
                let expected = ["t1": ["tag 1"], "t2": ["tag 2"], "t3": ["tag 1"], "t4": []][
                    item.value(forKey: "title") as? String ?? ""]
                #expect(texts == expected)
            }
        }
    }

    @Test("13.1 A to-one without inverse becomes a to-many without one; a to-many gets an inverse, and loses it")
    func oneWay() throws {
        try moved(
            V.entity(
                "Item", "", V.attribute("title"), V.toOne("tag", "Tag"), V.toMany("notes", "Note"),
                V.toMany("pages", "Page", "item"))
                + V.entity("Tag", "", V.attribute("text")) + V.entity("Note")
                + V.entity("Page", "", V.toOne("item", "Item", "pages")),
            V.entity(
                "Item", "", V.attribute("title"), V.toMany("tag", "Tag"), V.toMany("notes", "Note", "item"),
                V.toMany("pages", "Page"))
                + V.entity("Tag", "", V.attribute("text")) + V.entity("Note", "", V.toOne("item", "Item", "notes"))
                + V.entity("Page"),
            fill: { context in
                for number in 1...2 {
                    context.make(
                        "Item",
                        [
                            "title": "t\(number)", "tag": context.make("Tag", ["text": "t\(number)"]),
                            "notes": NSSet(array: (0..<number).map { _ in context.make("Note") }),
                            "pages": NSSet(array: (0..<number).map { _ in context.make("Page") }),
                        ])
                }
            }
        ) { context in
            for item in try context.all("Item") {
                let title = item.value(forKey: "title") as? String ?? ""
                let tags = ((item.value(forKey: "tag") as? NSSet)?.allObjects ?? []).compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "text") as? String
                }
                #expect(tags == [title])
                let notes = (item.value(forKey: "notes") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
                #expect(
                    notes.count == Int(title.dropFirst())
                        && notes.allSatisfy { $0.value(forKey: "item") as? NSManagedObject === item })
                #expect((item.value(forKey: "pages") as? NSSet)?.count == Int(title.dropFirst()))
            }
        }
    }

    @Test("13.1 A to-one gets an inverse, which is a to-one or a to-many", arguments: [true, false]) func newInverse(
        _ isToMany: Bool
    ) throws {
        let back = isToMany ? V.toMany("items", "Item", "tag") : V.toOne("items", "Item", "tag")
        try moved(
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag")) + V.entity("Tag"),
            V.entity("Item", "", V.attribute("title"), V.toOne("tag", "Tag", "items")) + V.entity("Tag", "", back),
            fill: { context in
                for number in 1...2 { context.make("Item", ["title": "t\(number)", "tag": context.make("Tag")]) }
            }
        ) { context in
            for tag in try context.all("Tag") {
                let item = isToMany ? (tag.value(forKey: "items") as? NSSet)?.anyObject() : tag.value(forKey: "items")
                #expect((item as? NSManagedObject)?.value(forKey: "tag") as? NSManagedObject === tag)
            }
        }
    }

    @Test(
        "13.1 Unordered becomes ordered and ordered unordered; what is ordered in both keeps its order",
        arguments: [false, true])
    func order(_ isJoined: Bool) throws {
        func version(_ first: String, _ second: String, _ third: String) -> String {
            let names = ["a", "b", "c"]
            let lists = zip(names, [first, second, third]).map { V.toMany($0, "Part", "\($0)s", $1) }.joined(
                separator: "\n")
            let parts = names.map { isJoined ? V.toMany("\($0)s", "Item", $0) : V.toOne("\($0)s", "Item", $0) }.joined(
                separator: "\n")
            return V.entity("Item", "", lists) + V.entity("Part", "", V.attribute("n", "Integer 32"), parts)
        }
        let ordered = "ordered=\"YES\""
        try moved(
            version(ordered, ordered, ""), version(ordered, "", ordered),
            fill: { context in
                let parts = (1...4).map { context.make("Part", ["n": $0]) }
                let list = [parts[2], parts[0], parts[3], parts[1]]
                context.make(
                    "Item", ["a": NSOrderedSet(array: list), "b": NSOrderedSet(array: list), "c": NSSet(array: list)])
            }
        ) { context in
            let item = try #require(context.all("Item").first)
            func numbers(_ members: [Any]?) -> [Int] {
                (members ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "n") as? Int }
            }
            #expect(numbers((item.value(forKey: "a") as? NSOrderedSet)?.array) == [3, 1, 4, 2])
            #expect(numbers((item.value(forKey: "b") as? NSSet)?.allObjects).sorted() == [1, 2, 3, 4])
            #expect(numbers((item.value(forKey: "c") as? NSOrderedSet)?.array).sorted() == [1, 2, 3, 4])
        }
    }

    @Test("13.1 A many-to-many keeps its pairs when both entities get other numbers and names") func joins() throws {
        try moved(
            V.entity(
                "Item", "", V.attribute("title"), V.toMany("tags", "Tag", "items"), V.toMany("likes", "Item", "likes"))
                + V.entity("Tag", "", V.attribute("text"), V.toMany("items", "Item", "tags"))
                + V.entity("Zone", "", V.attribute("x")),
            V.entity("Aid")
                + V.entity(
                    "Zware", "elementID=\"Item\"", V.attribute("title"), V.toMany("tags", "Mark", "items"),
                    V.toMany("likes", "Zware", "likes"))
                + V.entity("Mark", "elementID=\"Tag\"", V.attribute("text"), V.toMany("items", "Zware", "tags")),
            fill: { context in
                let tags = (1...3).map { context.make("Tag", ["text": "\($0)"]) }
                let items = (1...3).map { number in
                    context.make("Item", ["title": "t\(number)", "tags": NSSet(array: Array(tags.prefix(number)))])
                }
                items[0].setValue(NSSet(array: [items[1], items[2]]), forKey: "likes")
            }
        ) { context in
            for item in try context.all("Zware") {
                let title = item.value(forKey: "title") as? String ?? ""
                #expect((item.value(forKey: "tags") as? NSSet)?.count == Int(title.dropFirst()))
                #expect((item.value(forKey: "likes") as? NSSet)?.count == (title == "t1" ? 2 : 1))
            }
        }
    }

    @Test("13.1 A program's own atomic store is made anew by its class") func programsStore() throws {
        NSPersistentStoreCoordinator.registerStoreClass(BoxStore.self, forStoreType: BoxStore.type)
        let versions = try V(
            V.entity("Item", "", V.attribute("title"), V.toMany("tags", "Tag", "item"))
                + V.entity("Tag", "", V.toOne("item", "Item", "tags")),
            V.entity(
                "Ware", "elementID=\"Item\"", V.attribute("name", "String", "optional=\"YES\" elementID=\"title\""),
                V.toMany("tags", "Tag", "item"))
                + V.entity(
                    "Tag", "", V.toOne("item", "Ware", "tags"),
                    V.attribute("count", "Integer 32", "defaultValueString=\"4\"")))
        try versions.open(1, BoxStore.type) { context in
            context.make("Item", ["title": "a", "tags": NSSet(array: [context.make("Tag"), context.make("Tag")])])
            try context.save()
        }
        try versions.open(2, BoxStore.type) { context in
            let ware = try #require(context.all("Ware").first)
            let tags = (ware.value(forKey: "tags") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
            #expect(
                ware.value(forKey: "name") as? String == "a" && tags.count == 2
                    && tags.allSatisfy { $0.value(forKey: "count") as? Int == 4 })
        }
    }
}
