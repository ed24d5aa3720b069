// What a predicate means is decided once: by stores, beside unsaved changes and for objects alike.

import CoreDataAgreement
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Meaning of predicates") struct PredicateMeaningTests {
    private let sides: [PredicateSide]

    init() throws {
        sides = try [NSSQLiteStoreType, NSInMemoryStoreType, ShelfStore.type].flatMap {
            try PredicateSide.all($0, Library.world(seed: 1))
        }
    }

    /// What all sides and their objects answer, once.
    private func answers(_ format: String, _ arguments: RandomPredicate.Argument...) throws -> [String] {
        let text = RandomPredicate.Text(format: format, arguments: arguments)
        return Set(
            try sides.flatMap { side in
                let predicate = try side.predicate(text)
                let fetched = side.fetched(predicate)
                return fetched.hasPrefix("refused") ? [fetched] : [fetched, side.evaluated(predicate)]
            }
        ).sorted()
    }

    private func expectSame(_ formats: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for format in formats {
            let found = try answers(format)
            #expect(
                found.count == 1 && !found[0].hasPrefix("refused"), "\(format): \(found)",
                sourceLocation: sourceLocation)
        }
    }

    private func expectRefused(_ formats: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for format in formats {
            let found = try answers(format)
            #expect(
                found.count == 1 && found[0].hasPrefix("refused"), "\(format): \(found)", sourceLocation: sourceLocation
            )
        }
    }

    @Test("A constant on the left of ANY, ALL and NONE means the same as on the right, for stores and for objects")
    func leftConstants() throws {
        for (left, right) in [
            ("ANY 0 == tags.rank", "ANY tags.rank == 0"), ("ALL 0 <= tags.rank", "ALL tags.rank >= 0"),
            ("NONE 0 == tags.rank", "NONE tags.rank == 0"), ("ANY 1 < chapters.pos", "ANY chapters.pos > 1"),
            ("NOT ANY 0 == tags.rank", "NOT ANY tags.rank == 0"),
            ("ALL 0 == sequel.tags.rank", "ALL sequel.tags.rank == 0"),
        ] {
            let (a, b) = (try answers(left), try answers(right))
            #expect(a == b && a.count == 1, "\(left): \(a), \(right): \(b)")
        }
        try expectSame([
            "ANY 'xaby' CONTAINS tags.name", "ANY 0 IN tags.rank", "0 IN tags.rank", "ANY {0, 1} CONTAINS tags.rank",
            "SUBQUERY(tags, $t, ANY 0 == $t.works.i16).@count > 0",
        ])
    }

    @Test("Objects of entities without a common ancestor are never the same, whatever their numbers are")
    func differentTables() throws {
        try expectSame([
            "editor IN tags", "NOT editor IN tags", "ANY tags == editor", "NONE tags == editor", "ALL tags == editor",
            "editor == sequel", "editor != sequel", "SELF IN tags", "SUBQUERY(tags, $t, $t == editor).@count == 0",
        ])
    }

    @Test("What begins at nothing has no members, for stores and for objects")
    func nothing() throws {
        try expectSame([
            "author IN {nil}", "author == nil", "NOT (author IN {nil})",
            "SUBQUERY(sequel.chapters, $c, TRUEPREDICATE).@count == 0",
            "sequel.chapters.@count == 0", "sum:(sequel.chapters.pos) == 0", "sequel.chapters.@sum.pos == 0",
            "sum:(i16) == 0",
            "ALL author.works.tags.rank != 77", "NOT ANY editor.boss.staff.boss.boss.staff.money != -3",
            "ALL author.works.tags == nil",
            "ANY author.works.sequel.chapters.pos == nil", "ANY author.works.author.boss.name == nil",
        ])
        #expect(try answers("author IN {nil}") == answers("author == nil"))
    }

    @Test("An object is asked as it is, before and after its first save")
    func unsavedConstants() throws {
        let rig = Rig(Library.model())
        try rig.add()
        let context = rig.context()
        let (person, other, work) = (context.make("Person"), context.make("Person"), context.make("Work"))
        let isTheirs = NSPredicate(format: "author == %@", person)
        let isNobodys = NSPredicate(format: "NOT (author IN %@)", [person, other])
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            for owner in [nil, person, other] {
                work.setValue(owner, forKey: "author")
                #expect(isTheirs.evaluate(with: work) == (owner === person))
                #expect(isNobodys.evaluate(with: work) == (owner == nil))
            }
        }
        // Another coordinator's object has the same number in its store.
        let elsewhere = Rig(Library.model())
        try elsewhere.add()
        let stranger = elsewhere.context()
        let second = stranger.make("Work")
        second.setValue(stranger.make("Person"), forKey: "author")
        try stranger.save()
        #expect(!isTheirs.evaluate(with: second))
    }

    @Test("Functions stand in functions as deep as a fetch takes, and are refused in words beyond")
    func nestedFunctions() throws {
        for (name, start, end) in [
            ("abs:", "i16", "1"), ("lowercase:", "s", "'a'"), ("ceiling:", "d", "1"), ("noindex:", "i16", "1"),
        ] {
            func nested(_ depth: Int) -> String {
                String(repeating: "\(name)(", count: depth) + start + String(repeating: ")", count: depth)
                    + " == \(end)"
            }
            try expectSame([nested(16)])
            let deep = try answers(nested(140))
            #expect(deep.count == 1 && (name == "noindex:" || deep[0].contains("nested")), "\(name): \(deep)")
        }
    }

    @Test("A Float is what a constant beside it makes of it, and beside another column the number that it is")
    func floats() throws {
        try expectSame([
            "f == 0.1", "f != 0.1", "f IN {0.1, 0.2}", "NOT (f IN {0.1, 0.2, 1.5, -2, 7})", "f BETWEEN {0.1, 0.2}",
            "f == d", "f != dec", "f < d",
            "f >= d", "f + 0 == d", "f IN {d, 1.5}", "f BETWEEN {d, 2}", "ANY chapters.fl == 0.1",
            "ANY chapters.fl == d", "ALL chapters.fl != f",
            "chapters.@max.fl == 0.1", "chapters[0].fl == 0.1", "chapters[0].fl == f", "chapters.@sum.fl == 0.3",
            "abs:(f) == 0.2",
            "max:(f, f) == 0.1", "f == 0.1 OR f == 0.2 OR f == 1.5 OR f == -2",
            "f != 0.1 AND f != 0.2 AND f != 1.5 AND f != 9",
        ])
        #expect(try answers("chapters[0].fl == 0.1") != ["[]"])
    }

    @Test("What is no number is nil, made by a function or given as a constant")
    func noNumbers() throws {
        try expectSame([
            "sqrt:(i16) == nil", "sqrt:(d) != 3", "ln:(i32) < 0", "(d * 0) / 0 == nil", "(d / 0) == nil",
            "modulus:by:(d, 0) == nil",
            "modulus:by:(i16, 0) == nil", "average:(sqrt:(i32)) == nil", "sqrt:(i16) > 1", "NOT (sqrt:(i16) > 1)",
        ])
        for format in [
            "d == %@", "d != %@", "d < %@", "NOT (d < %@)", "d IN {%@, 1}", "NOT (d IN {%@, 1})", "d BETWEEN {%@, 5}",
            "f == %@", "f != %@",
            "ANY chapters.score != %@", "d == 1 OR d == 2 OR d == 3 OR d == %@",
            "d > 0 AND d > -1 AND d > -2 AND d != %@",
        ] {
            let (none, null) = (
                try answers(format, .value(Double.nan)), try answers(format.replacing("%@", with: "nil"))
            )
            #expect(none.count == 1 && none == null, "\(format): \(none), nil: \(null)")
        }
    }

    @Test("BETWEEN holds for nothing where a bound is nil")
    func nilBounds() throws {
        let none = try answers("FALSEPREDICATE")
        for format in ["i16 BETWEEN {nil, 3}", "i16 BETWEEN {-3, nil}", "nil BETWEEN {1, 2}", "d BETWEEN {nil, nil}"] {
            #expect(try answers(format) == none, "\(format)")
        }
    }

    @Test("Functions and lists of what they mean nothing for are refused in the same words by every side")
    func nonsense() throws {
        try expectRefused([
            "ln:(author) > 1", "max:(author) == 1", "min:(author, editor) == nil", "CAST(author, 'NSNumber') == 1",
            "uppercase:(i16) == '1'",
            "length:(i16) == 1", "abs:(s) > 1", "s + 1 == 2", "i16 + author == 2", "uuid * 2 == 2", "s BETWEEN {1, 2}",
            "i16 BETWEEN {'a', 'b'}",
            "ANYKEY == 1", "FETCH(1, 2, NO) == 1", "s UNION t == s", "tags MINUS tags == nil", "distinct:(i16) == 1",
            "random:(i16) > 0",
            "TERNARY(i16 > 1, author, editor) == nil", "TERNARY(i16 > 1, tags, tags) == nil",
            "TERNARY(i16 > 1, s, i16) == 2",
            "TERNARY(nosuch > 1, s, t) == 'a'", "TERNARY(author > 1, 1, 2) == 1",
            "distanceToLocation:fromLocation:(i16, i32) > 1",
            "1 BETWEEN {'a', 'b'}", "tags CONTAINS 'a'", "tags CONTAINS 3", "3 IN tags",
            "FUNCTION(i16, 'uppercaseString') == '1'",
        ])
        try expectSame([
            "date + 60 > date", "b + 1 == 2", "length:(url) == 3", "uppercase:(url) == 'X:1'",
            "CAST(i16, 'NSString') == '1'", "i16 BETWEEN {nil, 3}",
            "max:(i16, i32) == 2", "count:(i16) == 1", "tags CONTAINS nil", "tags.name CONTAINS 'a'",
            "nil BETWEEN {1, 2}", "s == 10", "s < 1",
        ])
    }

    @Test("Texts that a cast or a choice made are folded in lists and ranges too")
    func foldedCasts() throws {
        try expectSame([
            "CAST(s, 'NSString') IN[c] {'AB', 'É'}", "CAST(s, 'NSString') IN[cd] {'e'}",
            "NOT (CAST(s, 'NSString') IN[c] {'AB', 'É'})",
            "max:(s, t) IN[c] {'AB', 'Z'}", "CAST(author.name, 'NSString') ==[c] 'AB'",
            "CAST(s, 'NSString') BETWEEN[c] {'A', 'B'}",
            "TERNARY(i16 > 0, s, t) IN[cd] {'AB', 'E'}", "ANY tags.name IN[c] {'AB', 'Z'}",
            "CAST(s, 'NSString') IN {'ab', 'é'}",
            "'a' IN[c] CAST(s, 'NSString')", "s IN CAST(t, 'NSString')", "'1' IN CAST(i16, 'NSString')",
            "NOT ('1' IN CAST(i16, 'NSNumber'))",
        ])
        #expect(try answers("CAST(s, 'NSString') IN[c] {'AB', 'É'}") == answers("s IN[c] {'AB', 'É'}"))
    }

    @Test("A sum of whole numbers that does not fit is a real one, for every side")
    func overflow() throws {
        try expectSame([
            "author.works.@sum.i64 > 0", "tags.works.@sum.i64 > 0", "tags.works.@sum.i64 == 9223372036854775807",
        ])
    }
}
