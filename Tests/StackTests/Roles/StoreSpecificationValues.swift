// What every store must do: rows of typed values without an entity.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreSpecificationValues {
    private let tag = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    /// Two owners, one of them with a boss; five items, one of them of nobody, one special.
    private func fill(_ subject: Subject) throws -> (people: [RowKey], items: [RowKey]) {
        let boss = try subject.insert("Employee", [["name": .text("Zoe")]])[0]
        let ann = try subject.insert("Person", [["name": .text("Ann"), "boss": target(boss)]])[0]
        let items = try subject.insert(
            "Item",
            [
                [
                    "serial": .int(1), "owner": target(ann), "label": .text("a"), "price": .decimal(Decimal(0.1)),
                    "number": .double(0.5),
                ],
                [
                    "serial": .int(2), "owner": target(ann), "label": .text("b"), "price": .decimal(Decimal(0.2)),
                    "flag": .bool(true),
                ],
                [
                    "serial": .int(3), "owner": target(boss), "label": .text("a"), "price": .decimal(5),
                    "day": .date(100),
                ],
                [
                    "serial": .int(4), "tag": .uuid(tag), "link": .uri("x:1"), "blob": .data(Data([1, 2])),
                    "ratio": .double(0.25),
                ],
            ])
        let special = try subject.insert(
            "SpecialItem", [["serial": .int(5), "owner": target(boss), "label": .text("b"), "extra": .text("x")]])
        return ([boss, ann], items + special)
    }

    private func texts(_ values: String?...) -> [Value] { values.map { $0.map(Value.text) ?? .null } }

    @Test("Columns come back with the schema's types, nulls as nulls", arguments: StoreMaker.all(for: .uriTexts))
    func types(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let (people, items) = try fill(subject)
        let names = [
            "serial", "flag", "number", "ratio", "day", "label", "link", "blob", "tag", "price", "owner", "objectID",
        ]
        let rows = try subject.values("Item", names.map { column($0) }) { $0.sort = [by("serial")] }
        #expect(
            rows[0] == [
                .int(1), .null, .double(0.5), .null, .null, .text("a"), .null, .null, .null, .decimal(Decimal(0.1)),
                target(people[1]),
                target(items[0]),
            ])
        #expect(
            rows[2] == [
                .int(3), .null, .null, .null, .date(100), .text("a"), .null, .null, .null, .decimal(5),
                target(people[0]), target(items[2]),
            ])
        #expect(
            rows[3] == [
                .int(4), .null, .null, .double(0.25), .null, .null, .uri("x:1"), .data(Data([1, 2])), .uuid(tag), .null,
                .null,
                target(items[3]),
            ])
        #expect(rows[1][1] == .bool(true))
        #expect(rows[4][11] == target(items[4]), "a key tells the row's own entity")
        let types = try subject.schema.columnTypes("Item", names)
        let item = try subject.entity("Item").index
        #expect(
            types == [
                .int, .bool, .double, .float, .date, .text, .uri, .data, .uuid, .decimal,
                .key(try subject.entity("Person").index), .key(item),
            ])
    }

    @Test("Columns lead through to-ones and count members of to-manys", arguments: StoreMaker.all)
    func paths(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let (people, _) = try fill(subject)
        let rows = try subject.values(
            "Item",
            [
                column("serial"), column("owner.name"), column("owner.boss.name"), column("owner.boss"),
                column("n", path("owner.items.@count")),
                column("sum", path("owner.items.@sum.serial")),
                column("double", call("multiply:by:", path("serial"), .constant(.int(2)))),
                column("upper", call("uppercase:", path("label"))),
            ]
        ) { $0.sort = [by("serial")] }
        #expect(
            rows[0] == [
                .int(1), .text("Ann"), .text("Zoe"), target(people[0]), .int(2), .int(3), .int(2), .text("A"),
            ])
        #expect(rows[2] == [.int(3), .text("Zoe"), .null, .null, .int(2), .int(8), .int(6), .text("A")])
        #expect(rows[3] == [.int(4), .null, .null, .null, .null, .null, .int(8), .null])
    }

    @Test("Aggregates of all rows are one row, and skip nulls", arguments: StoreMaker.all)
    func aggregates(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        _ = try fill(subject)
        let rows = try subject.values("Item", Self.aggregates)
        #expect(
            rows == [
                [
                    .int(5), .int(5), .int(4), .int(2), .int(15), .decimal(Decimal(string: "5.3") ?? 0), .double(3),
                    .text("a"), .text("b"),
                    .date(100), .int(2), .double(1.5),
                ]
            ])
    }

    @Test("Decimals are added up as decimals, of a group and of members", arguments: StoreMaker.all)
    func decimals(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let ann = try subject.insert("Person", [["name": .text("Ann")]])[0]
        let tenth = try #require(Decimal(string: "0.1"))
        try subject.insert("Item", (0..<3).map { _ in ["price": .decimal(tenth), "owner": target(ann)] })
        let sum = Value.decimal(try #require(Decimal(string: "0.3")))
        let one = Value.decimal(tenth)
        #expect(
            try subject.values("Item", [column("s", path("@sum.price")), column("a", path("@avg.price"))]) == [
                [sum, one]
            ])
        #expect(try subject.values("Person", [column("s", path("items.@sum.price"))]) == [[sum]])
        #expect(try subject.values("Person", [column("s", call("max:", path("items.@sum.price")))]) == [[sum]])
        #expect(try subject.values("Item", [column("s", call("sum:", call("distinct:", path("price"))))]) == [[one]])
    }

    private static let aggregates = [
        column("rows", path("@count")), column("self", call("count:", .this)),
        column("labels", call("count:", path("label"))),
        column("different", call("count:", call("distinct:", path("label")))),
        column("sum", call("sum:", path("serial"))),
        column("price", path("@sum.price")), column("average", call("average:", path("serial"))),
        column("min", path("@min.label")),
        column("max", call("max:", path("label"))), column("day", call("average:", path("day"))),
        column("most", call("max:", path("owner.items.@count"))),
        column(
            "mix",
            call(
                "divide:by:", call("sum:", path("serial")),
                call("multiply:by:", call("count:", path("owner")), .constant(.double(2.5))))),
    ]

    @Test(
        "Of no rows counts and sums are 0 and other aggregates null; of no groups there is no row",
        arguments: StoreMaker.all)
    func empty(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        #expect(
            try subject.values("Item", Self.aggregates) == [
                [
                    .int(0), .int(0), .int(0), .int(0), .int(0), .decimal(0), .null, .null, .null, .null, .null, .null,
                ]
            ])
        #expect(
            try subject.values("Item", [column("label"), column("n", path("@count"))], grouping: [path("label")])
                .isEmpty)
        #expect(try subject.values("Item", [column("label")]).isEmpty)
        _ = try fill(subject)
        let none = try subject.values(
            "Item", [column("label"), column("s", path("@sum.number"))], grouping: [path("label")]
        ) {
            $0.predicate = test(path("serial"), .equal, .int(4))
        }
        #expect(none == [[.null, .double(0)]], "the sum of nulls")
    }

    @Test("Rows group by attributes, to-ones and paths; null is a group", arguments: StoreMaker.all)
    func grouping(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let (people, _) = try fill(subject)
        let columns = [column("owner"), column("n", path("@count")), column("sum", call("sum:", path("serial")))]
        let owners = try subject.values("Item", columns, grouping: [path("owner")]) {
            $0.sort = [by("n", false), by("sum")]
        }
        #expect(
            owners == [
                [target(people[1]), .int(2), .int(3)], [target(people[0]), .int(2), .int(8)],
                [.null, .int(1), .int(4)],
            ])
        let names = try subject.values(
            "Item", [column("label"), column("owner.name"), column("n", path("@count"))],
            grouping: [path("owner.name"), path("SELF.label")]
        ) { $0.sort = [by("owner.name"), by("label", false)] }
        #expect(
            names == [
                [.null, .null, .int(1)], [.text("b"), .text("Ann"), .int(1)], [.text("a"), .text("Ann"), .int(1)],
                [.text("b"), .text("Zoe"), .int(1)], [.text("a"), .text("Zoe"), .int(1)],
            ])
        let computed = try subject.values(
            "Item",
            [column("even", call("modulus:by:", path("serial"), .constant(.int(2)))), column("n", path("@count"))],
            grouping: [call("modulus:by:", path("serial"), .constant(.int(2)))]
        ) { $0.sort = [by("even")] }
        #expect(computed == [[.int(0), .int(2)], [.int(1), .int(3)]])
        let entities = try subject.values(
            "SpecialItem", [column("objectID"), column("n", path("@count"))], grouping: [.this])
        #expect(entities.count == 1 && entities[0][1] == .int(1))
    }

    @Test("Texts group and compare by their scalars", arguments: StoreMaker.all)
    func scalars(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Note", ["\u{e9}", "e\u{301}", "\u{c9}", "\u{e9}", "B", "a"].map { ["text": .text($0)] })
        let groups = try subject.values(
            "Note", [column("text"), column("n", path("@count"))], grouping: [path("text")]
        ) {
            $0.sort = [by("text")]
        }
        let bytes = groups.map { row -> [UInt8] in if case .text(let text) = row[0] { Array(text.utf8) } else { [] } }
        #expect(bytes == ["B", "a", "e\u{301}", "\u{c9}", "\u{e9}"].map { Array($0.utf8) })
        #expect(groups.map { $0[1] } == [1, 1, 1, 1, 2].map { .int($0) })
        #expect(try subject.values("Note", [column("text")], isDistinct: true).count == 5)
    }

    @Test("Having keeps groups by keys, by aggregates and by the names of columns", arguments: StoreMaker.all)
    func having(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        _ = try fill(subject)
        let columns = [column("label"), column("total", call("sum:", path("serial")))]
        func labels(_ having: Predicate) throws -> [Value] {
            try subject.values("Item", columns, grouping: [path("label")], having: having) { $0.sort = [by("label")] }
                .map { $0[0] }
        }
        #expect(try labels(test(.variable("total"), .greater, .int(4))) == texts("b"))
        #expect(try labels(test(path("@count"), .equal, .int(2))) == texts("a", "b"))
        #expect(try labels(test(call("max:", path("serial")), .less, .int(5))) == texts(nil, "a"))
        #expect(try labels(.not(test(path("label"), .equal, .text("a")))) == texts(nil, "b"))
        #expect(
            try labels(.or([test(path("label"), .equal, .null), test(.variable("total"), .equal, .int(7))]))
                == texts(nil, "b"))
        #expect(
            try labels(.comparison(Comparison(path("label"), .equal, .constant(.text("B")), options: .caseInsensitive)))
                == texts("b"))
        #expect(
            try labels(
                .comparison(Comparison(.variable("total"), .in, .list([.constant(.int(4)), .constant(.int(7))]))))
                == texts(nil, "a", "b"))
        let price = try subject.values(
            "Item", [column("label")], grouping: [path("label")],
            having: test(path("@sum.price"), .greater, .double(0.1))
        ) {
            $0.sort = [by("label")]
        }
        #expect(price == [texts("a"), texts("b")])
    }

    @Test("Distinct rows come once, nulls too", arguments: StoreMaker.all)
    func distinct(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        let (people, _) = try fill(subject)
        let labels = try subject.values("Item", [column("label")], isDistinct: true) { $0.sort = [by("label", false)] }
        #expect(labels == [texts("b"), texts("a"), texts(nil)])
        let owners = try subject.values("Item", [column("owner"), column("owner.name")], isDistinct: true) {
            $0.sort = [by("owner.name")]
        }
        #expect(owners == [[.null, .null], [target(people[1]), .text("Ann")], [target(people[0]), .text("Zoe")]])
        let sizes = try subject.values(
            "Item", [column("n", path("@count"))], grouping: [path("owner")], isDistinct: true
        ) { $0.sort = [by("n")] }
        #expect(sizes == [[.int(1)], [.int(2)]])
    }

    @Test("A window cuts groups and distinct rows after they are made, ties by the keys", arguments: StoreMaker.all)
    func windows(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Item", (0..<40).map { ["serial": .int($0 % 7), "label": .text("\($0 % 5)")] })
        let counts = [column("label"), column("n", path("@count"))]
        let groups = try subject.values("Item", counts, grouping: [path("label")]) {
            $0.sort = [by("n", false)]
            ($0.limit, $0.offset) = (2, 1)
        }
        #expect(groups == [[.text("3"), .int(8)], [.text("2"), .int(8)]])
        let unsorted = try subject.values("Item", counts, grouping: [path("label")]) { ($0.limit, $0.offset) = (9, 3) }
        #expect(unsorted == [[.text("3"), .int(8)], [.text("4"), .int(8)]])
        let distinct = try subject.values("Item", [column("serial"), column("label")], isDistinct: true) {
            $0.sort = [by("serial")]
            ($0.limit, $0.offset) = (3, 4)
        }
        #expect(distinct == [[.int(0), .text("4")], [.int(1), .text("0")], [.int(1), .text("1")]])
        let rows = try subject.values("Item", [column("serial")]) {
            $0.sort = [by("label", false), by("serial")]
            $0.limit = 3
        }
        #expect(rows == [[.int(0)], [.int(1)], [.int(2)]])
    }

    @Test("A predicate, sub-entities and the entity itself decide which rows are looked at", arguments: StoreMaker.all)
    func entities(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        _ = try fill(subject)
        let count = [column("n", path("@count")), column("s", path("@sum.serial"))]
        #expect(try subject.values("Item", count) == [[.int(5), .int(15)]])
        #expect(try subject.values("Item", count) { $0.includesSubentities = false } == [[.int(4), .int(10)]])
        #expect(
            try subject.values("SpecialItem", count + [column("x", path("@max.extra"))]) == [
                [.int(1), .int(5), .text("x")]
            ])
        let anns = try subject.values("Item", count) { $0.predicate = test(path("owner.name"), .equal, .text("Ann")) }
        #expect(anns == [[.int(2), .int(3)]])
    }

    @Test("Large results come in batches, in order, and stop when told", arguments: StoreMaker.all)
    func batches(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Note", (0..<2500).map { ["text": .text("\($0 + 10_000)")] })
        var plan = FetchPlan(entity: try subject.entity("Note").index)
        plan.projection = .values(ValueProjection([column("text")]))
        plan.sort = [by("text", false)]
        let rows = try subject.values(plan)
        #expect(rows == (0..<2500).reversed().map { [.text("\($0 + 10_000)")] })
        var calls = 0
        try subject.store.fetchValues(plan, .latest) { _ in
            calls += 1
            return .stop
        }
        #expect(calls == 1)
    }

    @Test(
        "A sum of whole numbers that does not fit is a real number, exact as long as it fits", arguments: StoreMaker.all
    )
    func overflow(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Item", [["serial": .int(.max)], ["serial": .int(1)], ["serial": .int(1)]])
        func next(_ number: Int64) -> Expression { call("add:to:", path("serial"), .constant(.int(number))) }
        #expect(try subject.values("Item", [column("s", path("@sum.serial"))]) == [[.double(0x1p63)]])
        #expect(try subject.values("Item", [column("s", call("sum:", next(1)))]) == [[.double(0x1p63)]])
        #expect(try subject.values("Item", [column("s", call("sum:", next(-1)))]) == [[.int(.max - 1)]])
        #expect(
            try subject.values("Item", [column("s", call("sum:", call("distinct:", path("serial"))))]) == [
                [.double(0x1p63)]
            ])
        let each = try subject.values("Item", [column("s", next(1))]) { $0.sort = [by("serial", false)] }
        #expect(each == [[.double(0x1p63)], [.int(2)], [.int(2)]])
        let groups = try subject.values(
            "Item", [column("s", next(1)), column("n", call("count:", path("serial")))], grouping: [next(1)]
        ) {
            $0.sort = [by("s", false)]
        }
        #expect(groups == [[.double(0x1p63), .int(1)], [.int(2), .int(2)]])
        try subject.insert("Item", [["serial": .int(-5)]])
        #expect(try subject.values("Item", [column("s", path("@sum.serial"))]) == [[.int(.max - 3)]])
        let real = try subject.values(
            "Item", [column("s", call("sum:", call("multiply:by:", path("serial"), .constant(.double(1)))))])
        #expect(real == [[.double(0x1p63)]])
    }

    @Test("Functions calculate with decimals and dates alike everywhere", arguments: StoreMaker.all)
    func calculations(_ maker: StoreMaker) throws {
        let subject = try Subject(maker)
        try subject.insert("Item", [["price": .decimal(5), "day": .date(101), "serial": .int(7)]])
        func half(_ key: String) -> Expression { call("divide:by:", path(key), .constant(.int(2))) }
        let rows = try subject.values(
            "Item",
            [
                column("price", half("price")), column("day", half("day")), column("serial", half("serial")),
                column("later", call("add:to:", path("day"), .constant(.double(0.5)))),
                column("abs", call("abs:", path("price"))),
                column("text", call("castObject:toType:", path("day"), .constant(.text("NSString")))),
            ])
        #expect(rows == [[.double(2.5), .double(50.5), .int(3), .date(101.5), .decimal(5), .text("101.0")]])
        let found = try subject.fetch("Item") { $0.predicate = test(half("price"), .greater, .int(2)) }
        #expect(found.count == 1, "a predicate says the same")
    }
}

extension Schema {
    /// The types of columns over key paths.
    fileprivate func columnTypes(_ entity: String, _ names: [String]) throws -> [ValueType] {
        var plan = FetchPlan(entity: try #require(index(ofEntity: entity)))
        plan.projection = .values(ValueProjection(names.map { column($0) }))
        return try #require(try Query(valuesOf: plan, in: self).bound.projection).columns.map(\.type)
    }
}
