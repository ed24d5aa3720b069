// What calculations come to at their edges: the same in stores, beside unsaved changes, for objects and for dictionaries.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Arithmetic of predicates") struct PredicateArithmeticTests {
    /// True of the one work there is: i16 is 7, i32 -3, i64 the largest number, b true, d 2.5, f and dec 0.1, date the 60th second, s "abc",
    /// t empty, no author, no chapters, and three tags of ranks 1, nil and 3.
    static let holding = [
        "i16 / 2 == 3", "i16 / 2.0 == 3.5", "i32 / 2 == -1", "modulus:by:(i32, 2) == -1", "modulus:by:(d, 2) == 0.5",
        // by zero
        "i16 / 0 == nil", "modulus:by:(i16, 0) == nil", "modulus:by:(d, 0) == nil", "d / 0 > 1e308",
        "-(d / 0) < -1e308", "(d - d) / 0 == nil",
        "0 ** -1 > 1e308", "ln:(0) < -1e308",
        // beyond 64 bits
        "i64 + 1 == 9223372036854775808.0", "i64 + 1 > i64", "i64 * i64 > 1e37",
        "-(0 - i64 - 1) == 9223372036854775808.0", "i64 + 0 == i64",
        "abs:(0 - i64 - 1) == 9223372036854775808.0", "(0 - i64 - 1) / -1 == 9223372036854775808.0",
        // powers and signs
        "i16 ** 2 == 49", "2 ** 3 ** 2 == 64", "-2 ** 2 == 4", "(0 - 8) ** 0.5 == nil", "i16 ** 0 == 1", "-i16 == -7",
        "-i32 == 3",
        "2 + 3 * 2 ** 2 == 14", "10 - 2 - 3 == 5", "1 + 2 | 4 == 7", "i16 & 2 == 2",
        "sqrt:(i32) == nil", "ln:(i32) == nil", "sqrt:(-0.0) == 0", "trunc:(-2.5) == -2", "floor:(-2.5) == -3",
        "ceiling:(d) == 3",
        // nil
        "author.age + 1 == nil", "NOT author.age + 1 > 0", "author.age + 1 != 5", "-author.age == nil",
        "abs:(author.age) == nil",
        "NOT author.age BETWEEN {0, 1}", "uppercase:(author.name) == nil",
        // nothing, and nil among members
        "chapters.@avg.pos == nil", "chapters.@sum.pos == 0", "chapters.@min.pos == nil", "chapters.@max.pos == nil",
        "chapters.@count == 0",
        "tags.@avg.rank == 2", "tags.@sum.rank == 4", "tags.@min.rank == 1", "tags.@max.rank == 3", "tags.@count == 3",
        "author.works.@sum.i16 == nil", "author.works.@count == nil", "sum:({1, nil, 2}) == 3",
        "average:({nil, 4}) == 4", "max:({nil, 2}) == 2",
        "min:({3, nil}) == 3", "SUBQUERY(tags, $t, $t.rank > 5).@avg.rank == nil",
        // the sign of zero
        "d * 0 == -0.0", "-0.0 == 0", "d / -0.0 > 1e308", "1 / (d * 0 * i32) > 1e308",
        "CAST(d * 0 * i32, 'NSString') == '0.0'", "(d * -0.0) ** -1 > 1e308",
        // dates are numbers of seconds since 2001
        "date == 60", "date > 59.5", "date - 60 == 0", "date + 0.5 > date", "date / 7 > 8.57", "date BETWEEN {60, 61}",
        "date IN {59, 60}",
        "date == CAST(60, 'NSDate')", "date != '60'",
        // bytes are ordered one by one
        "uuid > CAST('00000000-0000-0000-0000-000000000000', 'NSUUID')",
        "uuid < CAST('03000000-0000-0000-0000-000000000000', 'NSUUID')",
        "uuid <= uuid",
        "uuid BETWEEN {CAST('01000000-0000-0000-0000-000000000000', 'NSUUID'), CAST('02000000-0000-0000-0000-000000000001', 'NSUUID')}",
        // the empty text
        "s CONTAINS ''", "s BEGINSWITH ''", "s ENDSWITH ''", "t CONTAINS ''", "t BEGINSWITH[cd] ''", "'' IN s",
        "NOT author.name CONTAINS ''",
        "s LIKE '*'", "NOT s MATCHES ''", "t MATCHES ''", "t LIKE ''", "NOT s LIKE ''", "s CONTAINS t",
        "s BEGINSWITH t",
        // bits
        "i16 << 1 == 14", "i16 >> 1 == 3", "~i16 == -8", "d | 1 == 3", "i16 << 64 == 0", "i16 << -1 == 3",
        "i16 ^ 2 == 5", "i32 >> 70 == -1",
        "(d / 0) & 1 == nil", "author.age | 1 == nil",
        // one of two values
        "TERNARY(i16 > 3, d, i16) == 2.5", "TERNARY(author.age > 3, 'x', s) == 'abc'",
        "TERNARY(i16 > 3, nil, d) == nil",
        "TERNARY(ANY tags.rank == 3, s, t) BEGINSWITH 'a'", "TERNARY(dec < 1, dec, 5) * 10 == 1",
        "TERNARY(tags.@count > 2, f, f) == 0.1",
        "TERNARY(i16 > 3, date, date) > 59", "TERNARY(b == YES, uuid, nil) == uuid",
        "TERNARY(i16 == 7, TERNARY(b == NO, 1, 2), 3) == 2",
        "TERNARY(s != nil, s, '').length == 3", "TERNARY(i16 > 9, i16, i32) IN {-3}",
        "TERNARY(SUBQUERY(tags, $t, $t.rank == 3).@count == 1, i16, i32) == 7",
        // others
        "FUNCTION(s, 'uppercaseString') == 'ABC'", "FUNCTION(i16, 'pow:', 2) == 49", "b + 1 == 2", "abs:(i32) == 3",
        "CAST(i16, 'NSString') == '7'",
        "CAST('12', 'NSNumber') == 12", "CAST('x', 'NSNumber') == nil",
    ]
    /// No store answers these.
    static let inMemory = [
        "stddev:({2, 4}) == 1", "median:({5, 1, 3}) == 3", "mode:({1, 2, 2}) == {2}",
        "TERNARY(TRUEPREDICATE, i16, s) == 7", "random:(1) == 0",
        "tags.rank UNION {5} CONTAINS 5", "{1, 2} INTERSECT {2, 3} == {2}", "{1, 2} MINUS {2} == {1}",
        "distinct:({1, 1, 2}) == {1, 2}",
    ]

    @Test(
        "Calculations come to the same at their edges for every store, beside unsaved changes, for objects and for dictionaries",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType, ShelfStore.type])
    func edges(type: String) throws {
        let one = try OneWork(type)
        for text in Self.holding { one.expect(text) }
    }

    @Test(
        "Expressions have the values for a managed object that a fetch compares",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func expressions(type: String) throws {
        for (state, context) in try OneWork(type).contexts {
            let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")).first)
            for text in Self.holding + Self.inMemory {
                guard let comparison = NSPredicate(format: text) as? NSComparisonPredicate,
                    comparison.comparisonPredicateModifier == .direct,
                    !text.contains("f == 0.1"), !text.contains("f, f)")
                else { continue }
                let sides = [comparison.leftExpression, comparison.rightExpression].map {
                    NSExpression(forConstantValue: $0.expressionValue(with: object, context: nil))
                }
                let values = NSComparisonPredicate(
                    leftExpression: sides[0], rightExpression: sides[1], modifier: .direct,
                    type: comparison.predicateOperatorType,
                    options: comparison.options)
                #expect(values.evaluate(with: nil), "\(text), \(type), \(state): \(values)")
            }
        }
    }

    @Test("A dictionary is judged as an object with the same values is")
    func dictionaries() throws {
        for text in Self.holding + Self.inMemory {
            #expect(try NSPredicate(validating: text).evaluate(with: OneWork.subject()), "\(text)")
        }
    }
}
