// What no projection can ask, in the same words for every store.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// A projection that means nothing, and what is said of it.
struct ValueRefusal: Sendable, CustomTestStringConvertible {
    let sentence: String
    var entity = "Item"
    var columns = [column("serial")]
    var grouping: [Expression] = []
    var having: Predicate?
    var isDistinct = false
    var sort: [SortTerm] = []
    var testDescription: String { sentence }

    private static let ungrouped = "a value that is neither grouped nor an aggregate; group by it or aggregate it"
    private static let count = column("n", path("@count"))

    static let all = [
        ValueRefusal(
            sentence:
                "keypath colour not found in entity Item: it names “colour”, which Item does not have as a stored property; correct "
                + "the key path.", columns: [column("colour")]),
        ValueRefusal(
            sentence:
                "keypath colour not found in entity Item: it names “colour”, which Item does not have as a stored property; correct "
                + "the key path.", grouping: [path("colour")]),
        ValueRefusal(
            sentence:
                "keypath owner.colour not found in entity Item: it names “colour”, which Person does not have as a stored property; "
                + "correct the key path.", columns: [column("s", call("sum:", path("owner.colour")))]),
        ValueRefusal(
            sentence: "The column “labels” of Item uses the to-many labels as a whole in a column.",
            columns: [column("labels")]),
        ValueRefusal(
            sentence: "The column “labels.name” of Item uses the to-many labels as a whole in a column.",
            columns: [column("labels.name")]),
        ValueRefusal(
            sentence: "The projection of Item uses the to-many labels as a whole in a grouping.", columns: [count],
            grouping: [path("labels")]),
        ValueRefusal(
            sentence: "The column “s” of Item uses “sum:(label)”, which adds up what are no numbers.",
            columns: [column("s", call("sum:", path("label")))]),
        ValueRefusal(
            sentence: "The column “s” of Item uses “@avg(owner)”, which adds up what are no numbers.",
            columns: [column("s", path("@avg.owner"))]),
        ValueRefusal(
            sentence: "The column “s” of Item uses “max:(owner)”, which compares what has no order.",
            columns: [column("s", call("max:", path("owner")))]),
        ValueRefusal(
            sentence: "The column “s” of Item uses sum: inside another aggregate.",
            columns: [column("s", call("max:", call("sum:", path("serial"))))]),
        ValueRefusal(
            sentence: "The column “s” of Item uses “@sum”: @count stands alone, other operators before a key path.",
            columns: [column("s", path("@sum"))]),
        ValueRefusal(
            sentence:
                "The column “s” of Item uses “@median.serial”, which asks for the unknown collection operator @median.",
            columns: [column("s", path("@median.serial"))]),
        ValueRefusal(sentence: "The column “serial” of Item uses \(ungrouped).", columns: [column("serial"), count]),
        ValueRefusal(
            sentence: "The column “serial” of Item uses \(ungrouped).", columns: [column("serial"), count],
            grouping: [path("label")]),
        ValueRefusal(
            sentence: "The column “n” of Item uses \(ungrouped).", columns: [column("n", path("labels.@count"))],
            grouping: [path("label")]),
        ValueRefusal(
            sentence: "The having predicate on Item uses \(ungrouped).", columns: [count], grouping: [path("label")],
            having: test(path("serial"), .equal, .int(1))),
        ValueRefusal(
            sentence: "The having predicate on Item uses the variable $sum, which names none of the columns.",
            columns: [count],
            grouping: [path("label")], having: test(.variable("sum"), .equal, .int(1))),
        ValueRefusal(
            sentence: "The projection of Item uses having without a grouping; use a predicate instead.",
            columns: [count],
            having: test(path("@count"), .greater, .int(1))),
        ValueRefusal(
            sentence:
                "A fetch of Item cannot be sorted by “serial”: it is neither grouped nor an aggregate; group by it or aggregate it.",
            columns: [count], sort: [by("serial")]),
        ValueRefusal(
            sentence:
                "A fetch of Item cannot be sorted by “serial”: it is no column of the distinct rows; add it, or sort by a column.",
            columns: [column("label")], isDistinct: true, sort: [by("serial")]),
        ValueRefusal(
            sentence:
                "A fetch of Item cannot be sorted by “labels.name”: it leads through the to-many “labels”, which has no one value to sort "
                + "by; sort by attributes, to-ones and @count.", sort: [by("labels.name")]),
        ValueRefusal(
            sentence: "The projection of Item uses an aggregate to group by.", columns: [count],
            grouping: [call("sum:", path("serial"))]),
        ValueRefusal(
            sentence: "The projection of Item uses a constant to group by, which is no property.", columns: [count],
            grouping: [.constant(.int(1))]),
        ValueRefusal(sentence: "The projection of Item uses no columns; name one at least.", columns: []),
        ValueRefusal(
            sentence: "The projection of Item uses the name “serial” for two columns.",
            columns: [column("serial"), column("serial")]),
        ValueRefusal(
            sentence: "The column “x” of Item uses a constant, whose values have no one type.",
            columns: [column("x", .constant(.null))]),
        ValueRefusal(
            sentence: "The column “x” of Item uses the function min:, whose values have no one type.",
            columns: [column("x", call("min:", path("serial"), path("label")))]),
        ValueRefusal(
            sentence: "The column “x” of Item uses the function add:to: of label, which is no number.",
            columns: [column("x", call("add:to:", path("serial"), path("label")))]),
        ValueRefusal(
            sentence: "The column “x” of Item uses a list in a column.",
            columns: [column("x", .list([path("serial"), path("label")]))]),
        ValueRefusal(
            sentence: "The column “x” of Item uses the variable $a, which has no value; substitute it first.",
            columns: [column("x", .variable("a"))]),
        ValueRefusal(
            sentence:
                "The column “x” of Item uses the function median of with 1 arguments, which no store supports. Fetch without it and "
                + "filter in memory.", columns: [column("x", call("median of", path("serial")))]),
        ValueRefusal(
            sentence:
                "The column “x” of Item uses the function stddev: over rows, which no store supports. Fetch without it and filter in "
                + "memory.", columns: [column("x", call("stddev:", path("serial")))]),
        ValueRefusal(
            sentence: "The column “first” of Folder uses a member by its place; name one of its properties.",
            entity: "Folder",
            columns: [column("first", .function("objectFrom:withIndex:", [path("entries"), .constant(.int(0))]))]),
        ValueRefusal(
            sentence: "The projection of Item has 501 columns and groupings, of which 500 are the most.",
            columns: (0..<501).map { column("c\($0)", path("serial")) }),
    ]
}

@Suite struct ValueRefusalTests {
    @Test("What a projection cannot ask is refused in the same words by every store", arguments: StoreMaker.all)
    func refusals(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        for refusal in ValueRefusal.all {
            let error = #expect(throws: StoreError.self, "\(refusal.sentence)") {
                try subject.values(
                    refusal.entity, refusal.columns, grouping: refusal.grouping, having: refusal.having,
                    isDistinct: refusal.isDistinct
                ) { $0.sort = refusal.sort }
            }
            #expect(error?.sentence == refusal.sentence)
            #expect(error?.code == 134060)
        }
        let big = #expect(throws: StoreError.self) {
            try subject.values("Item", [column("n", call("min:", path("big")))])
        }
        let sum = #expect(throws: StoreError.self) {
            try subject.values("Item", [column("n", call("count:", path("big")))])
        }
        for error in [big, sum] {
            #expect(error?.sentence.contains("in a file of their own") == true, "\(error?.sentence ?? "")")
        }
    }

    @Test("Rows and values are each asked by their own method", arguments: StoreMaker.all)
    func doors(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        var plan = FetchPlan(entity: try subject.entity("Note").index)
        let rows = #expect(throws: StoreError.self) { try subject.values(plan) }
        #expect(rows?.sentence == "The projection of Note uses no columns; ask for its rows or their number instead.")
        plan.projection = .values(ValueProjection([column("text")]))
        let values = #expect(throws: StoreError.self) { try subject.fetch(plan) }
        #expect(
            values?.sentence == "Rows of Note were asked for by a plan for columns of values; read it by fetchValues.")
        try subject.store.close()
        #expect(throws: StoreError.self) { try subject.values(plan) }
    }
}
