// A model with every kind of relationship and value, filled at random, for predicates that nobody wrote down.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

import CoreData

/// Works by authors, with tags and chapters; all but ordered many-to-many relationships lead in circles.
package enum Library {
    /// The same seed gives the same graph.
    package static func world(seed: UInt64) -> PredicateWorld {
        PredicateWorld(model: model(), root: "Work") { LibraryFilling.fill($0, seed: seed) }
    }

    package static func model() -> NSManagedObjectModel {
        NSManagedObjectModel(
            work, below("Book", "pages", .integer32), below("Song", "length", .double), person, chapter, tag)
    }

    private static func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> EntityDraft {
        var entity = EntityDraft(name: name)
        entity.attributes = ([("serial", .integer64), ("touch", .integer32)] + attributes).map {
            Clinic.attribute($0.0, $0.1)
        }
        // Every other attribute has an index, so that rows are found in both ways.
        entity.indexes = attributes.enumerated().filter { $0.offset % 2 == 0 }.map {
            FetchIndex(name: "by" + $0.element.0, elements: [FetchIndex.Element(property: $0.element.0)])
        }
        return entity
    }

    private static func below(_ name: String, _ key: String, _ type: AttributeType) -> EntityDraft {
        EntityDraft(name, [Clinic.attribute(key, type)], parent: "Work")
    }

    private static var work: EntityDraft {
        var work = entity(
            "Work",
            [
                ("i16", .integer16), ("i32", .integer32), ("i64", .integer64), ("b", .boolean), ("d", .double),
                ("f", .float),
                ("dec", .decimal), ("date", .date), ("s", .string), ("t", .string), ("uuid", .uuid), ("url", .uri),
            ])
        work.relationships = [
            Clinic.toOne("author", "Person", inverse: "works"), Clinic.toMany("tags", "Tag", inverse: "works"),
            Clinic.toMany("chapters", "Chapter", inverse: "work", ordered: true),
            Clinic.toOne("sequel", "Work", inverse: "prequel"), Clinic.toOne("prequel", "Work", inverse: "sequel"),
            Clinic.toOne("editor", "Person", inverse: nil),
        ]
        return work
    }

    private static var person: EntityDraft {
        var person = entity("Person", [("name", .string), ("age", .integer32), ("money", .decimal), ("born", .date)])
        person.relationships = [
            Clinic.toMany("works", "Work", inverse: "author"), Clinic.toOne("boss", "Person", inverse: "staff"),
            Clinic.toMany("staff", "Person", inverse: "boss"),
        ]
        return person
    }

    private static var chapter: EntityDraft {
        var chapter = entity(
            "Chapter",
            [("title", .string), ("pos", .integer32), ("score", .double), ("cost", .decimal), ("fl", .float)])
        chapter.relationships = [
            Clinic.toOne("work", "Work", inverse: "chapters"),
            Clinic.toMany("topics", "Tag", inverse: "chapters", ordered: true),
        ]
        return chapter
    }

    private static var tag: EntityDraft {
        var tag = entity("Tag", [("name", .string), ("rank", .integer16), ("weight", .double), ("since", .date)])
        tag.relationships = [
            Clinic.toMany("works", "Work", inverse: "tags"), Clinic.toMany("chapters", "Chapter", inverse: "topics"),
        ]
        return tag
    }

    package static let texts = [
        "", "a", "A", "ab", "Ab", "b", "é", "e\u{301}", "É", "ß", "SS", "ss", "😀", "\u{ffff}", "z", "İ", "i", "ﬁ", "fi",
        "a*b", "10", "9",
        "a\nb", "it's", "\u{1F468}\u{200D}\u{1F469}",
        "a\u{0}b", "\u{0}",
    ]
    package static func uuid(_ number: Int) -> UUID {
        UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    package static func url(_ number: Int) -> URL { URL(string: "x:\(number)")! }
}

/// Fills a context; the same seed gives the same graph.
struct LibraryFilling {
    private let context: NSManagedObjectContext
    private var random: SplitMix
    private var serial = 0

    static func fill(_ context: NSManagedObjectContext, seed: UInt64) {
        var filling = LibraryFilling(context: context, random: SplitMix(seed))
        let people = filling.people()
        let tags = filling.tags()
        let works = filling.works(people, tags)
        filling.chapters(works, tags)
    }

    private mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func pick<T>(_ all: [T]) -> T { all[int(0...all.count - 1)] }
    /// nil one time in five.
    private mutating func maybe<T>(_ all: [T]) -> T? { int(0...4) == 0 ? nil : pick(all) }

    private static let decimals = ["0.1", "0.2", "1.25", "-3", "100.01", "0"].map { NSDecimalNumber(string: $0) }
    private static let dates = (-4...4).map { Date(timeIntervalSinceReferenceDate: Double($0) / 4) }
    /// Whose sums are exact: members of a set come in no order, and an inexact sum depends on it.
    private static let doubles = [0.25, 0.5, 0.75, -0.5, 4096, 1, 2, -4096, 1.25, 3.5]
    private static let floats: [Float] = [0.1, 0.2, 1.5, -2, 16_777_216]
    private static let wide = [Int.max, Int.min, 1 << 53, (1 << 53) + 1, 0, 1, 2]
    private static let small = Array(-3...3)

    private mutating func make(_ entity: String, _ values: [(String, Any?)]) -> NSManagedObject {
        serial += 1
        let object = context.make(entity, ["serial": serial])
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private mutating func some(_ tags: [NSManagedObject]) -> [NSManagedObject] {
        (0..<int(0...3)).map { _ in pick(tags) }
    }

    private mutating func people() -> [NSManagedObject] {
        var people: [NSManagedObject] = []
        for _ in 0..<8 {
            let values: [(String, Any?)] = [
                ("name", maybe(Library.texts)), ("age", maybe(Self.small)), ("money", maybe(Self.decimals)),
                ("born", maybe(Self.dates)),
            ]
            people.append(make("Person", values))
        }
        for person in people { person.setValue(maybe(people), forKey: "boss") }
        return people
    }

    private mutating func tags() -> [NSManagedObject] {
        (0..<10).map { _ in
            let values: [(String, Any?)] = [
                ("name", maybe(Library.texts)), ("rank", maybe(Self.small)), ("weight", maybe(Self.doubles)),
                ("since", maybe(Self.dates)),
            ]
            return make("Tag", values)
        }
    }

    private mutating func works(_ people: [NSManagedObject], _ tags: [NSManagedObject]) -> [NSManagedObject] {
        var works: [NSManagedObject] = []
        for number in 0..<36 {
            let values: [(String, Any?)] = [
                ("i16", maybe(Self.small)), ("i32", maybe(Self.small)), ("i64", maybe(Self.wide)),
                ("b", maybe([true, false])),
                ("d", maybe(Self.doubles)), ("f", maybe(Self.floats)), ("dec", maybe(Self.decimals)),
                ("date", maybe(Self.dates)),
                ("s", maybe(Library.texts)), ("t", maybe(Library.texts)), ("uuid", maybe((0...3).map(Library.uuid))),
                ("url", maybe((0...3).map(Library.url))), ("author", maybe(people)), ("editor", maybe(people)),
                ("tags", NSSet(array: some(tags))),
            ]
            works.append(make(["Work", "Book", "Song"][number % 3], values))
        }
        for number in 0..<10 { works[number].setValue(works[int(10...35)], forKey: "sequel") }
        return works
    }

    private mutating func chapters(_ works: [NSManagedObject], _ tags: [NSManagedObject]) {
        for _ in 0..<60 {
            let values: [(String, Any?)] = [
                ("title", maybe(Library.texts)), ("pos", maybe(Self.small)), ("score", maybe(Self.doubles)),
                ("cost", maybe(Self.decimals)),
                ("fl", maybe(Array(Self.floats[..<3]))), ("topics", NSOrderedSet(array: some(tags))),
            ]
            let chapter = make("Chapter", values)
            if int(0...8) > 0 { works[int(0...20)].mutableOrderedSetValue(forKey: "chapters").add(chapter) }
        }
    }
}
