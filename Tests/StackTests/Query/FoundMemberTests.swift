// Conditions by which rows are found over relationships, and their negations, in a database and in memory.

import CoreDataAgreement
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Rows that are found over relationships") struct FoundMemberTests {
    /// Names and ranks of tags and names of people have indexes; one in five has no value, and many works have no tag or author.
    private static let asked = [
        "ANY tags.name == 'a'", "ANY tags.name IN {'a', 'b', 'é'}", "ANY tags.name BEGINSWITH 'a'",
        "ANY tags.name BETWEEN {'a', 'i'}",
        "ANY tags.weight > 0", "ANY tags.name == nil", "ANY tags.name != 'a'", "ANY chapters.title > 'a'",
        "ANY chapters.topics.name > 'a'",
        "ANY author.works.s == 'a'", "ANY author.works.i16 > 1", "ANY author.staff.name > 'a'",
        "ANY sequel.tags.name > 'a'",
        "author.name > 'a'", "author.name IN {'a', 'b', 'z'}", "author.name == 'a' OR author.name > 'i'",
        "author.name == 'a' OR author.age > 0",
        "author.name == 'a' OR author.boss.name == 'z'", "author.boss.name > 'a'",
        "author.boss.name IN {'a', 'b', 'z', '9'}", "author.boss.boss.name >= ''",
        "author.name > 'a' OR sequel.s > 'a'", "author.name != 'a'", "author.name == nil", "author.name == editor.name",
        "author.age < editor.age",
        "i16 > 0 AND ANY tags.name > 'a'", "i16 == 1 AND ANY tags.name > 'a'", "i16 == 1 OR ANY tags.name > 'a'",
        "i32 == 1 OR ANY tags.name > 'a'",
        "SUBQUERY(tags, $t, $t.name > 'a' AND $t.rank > 0).@count > 0", "SUBQUERY(tags, $t, $t.name > s).@count > 0",
        "SUBQUERY(chapters, $c, ANY $c.topics.name > 'a').@count > 0",
        "SUBQUERY(author.works, $w, $w.i16 > 0).@count > 0",
        "SUBQUERY(chapters, $c, $c.title > 'a').@count >= 1", "SUBQUERY(chapters, $c, $c.title > 'a').@count != 0",
        "SUBQUERY(chapters, $c, $c.title > 'a').@count == 0", "SUBQUERY(author.works, $w, $w.i16 > 0).@count != 0",
        "SUBQUERY(author.works, $w, $w.i16 > 0).@count == 0", "SUBQUERY(chapters, $c, $c.title > 'a').@count < 1",
        "SUBQUERY(chapters, $c, $c.work.author.name > 'a').@count > 1", "NONE tags.name == 'a'", "ALL tags.name > 'a'",
        "NOT ANY tags.name > 'a'",
        "NONE chapters.topics.name > 'a'", "ALL author.works.i16 > 0", "NONE author.works.i16 > 2",
        "TERNARY(ANY tags.name > 'a', i32, i16) > 0",
    ]

    @Test("A database answers as memory does, and so do negations", arguments: [1])
    func answers(seed: UInt64) throws {
        let sides =
            try PredicateSide.all(NSSQLiteStoreType, Library.world(seed: seed))
            + PredicateSide.all(NSInMemoryStoreType, Library.world(seed: seed))
        for text in Self.asked.flatMap({ [$0, "NOT (\($0))", "(\($0)) AND i64 >= 0"] }) {
            let found = sides.map { $0.fetched(NSPredicate(format: text)) }
            #expect(Set(found).count == 1 && !found[0].hasPrefix("refused"), "\(text): \(found)")
        }
    }

    @Test("A sub-entity answers alike, too")
    func subentities() throws {
        let sides = try [NSSQLiteStoreType, NSInMemoryStoreType].map {
            try PredicateSide.all($0, Library.world(seed: 4))[0]
        }
        for text in Self.asked + ["s > 'a'", "s IN {'a', nil}", "author == nil", "pages == nil OR i16 == 1"] {
            let found = try sides.map { side in
                return try side.context.fetch(NSFetchRequest<NSManagedObject>("Book", text)).compactMap {
                    $0.value(forKey: "serial") as? Int
                }.sorted()
            }
            #expect(found[0] == found[1], "\(text): \(found)")
        }
    }
}
