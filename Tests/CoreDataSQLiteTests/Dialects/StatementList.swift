// All statements about entities that the library makes of a model, each with what it is for.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreDataSQL

/// The model of the field hospital with everything that has statements of its own: derived attributes, indexes with conditions,
/// spatial ones, ordered many-to-manys, values that a history keeps.
enum Ward {
    static let schema: Schema = {
        do { return try Schema(checking: draft) } catch { preconditionFailure("\(error)") }
    }()

    static var draft: SchemaDraft {
        var draft = Triage.draft
        draft.entities = [Triage.assessment, casualty, Triage.injury, place, Triage.station, shelf, label]
        return draft
    }

    private static var casualty: EntityDraft {
        var entity = Triage.casualty
        if let name = entity.attributes.firstIndex(where: { $0.name == "name" }) {
            entity.attributes[name].preservesValueInHistoryOnDeletion = true
        }
        entity.attributes += [
            derived("key", .string, "canonical:(name)"), derived("changed", .date, "now()"),
            derived("worst", .integer64, "injuries.@sum.severity"), derived("place", .string, "station.name"),
            derived("trust", .double, "assessments.@sum.confidence"), derived("wounds", .integer32, "injuries.@count"),
            Triage.attribute("latitude", .double), Triage.attribute("longitude", .double),
        ]
        entity.indexes += [
            FetchIndex(
                name: "where",
                elements: ["latitude", "longitude"].map { FetchIndex.Element(property: $0, isRTree: true) }),
            FetchIndex(
                name: "old", elements: [.init(property: "age")],
                partialPredicate: "age >= 60 AND alive == YES AND (name != 'nobody' OR weight IN {1.5, 2})"),
        ]
        for place in entity.relationships.indices where entity.relationships[place].name == "contacts" {
            entity.relationships[place].deleteRule = .cascade
        }
        return entity
    }

    private static var place: EntityDraft {
        var entity = Triage.place
        for place in entity.relationships.indices {
            entity.relationships[place].deleteRule = entity.relationships[place].name == "visits" ? .cascade : .deny
        }
        entity.uniquenessConstraints = [["name"]]
        return entity
    }

    private static var shelf: EntityDraft {
        var entity = EntityDraft(name: "Shelf")
        entity.attributes = [Triage.attribute("title", .string)]
        entity.relationships = [
            Triage.toMany("labels", "Label", "shelves", ordered: true),
            Triage.toMany("notes", "Assessment", nil, ordered: true),
        ]
        return entity
    }

    private static var label: EntityDraft {
        EntityDraft(
            "Label", [Triage.attribute("order", .integer16)], [Triage.toMany("shelves", "Shelf", "labels")])
    }

    private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> Attribute {
        var attribute = Triage.attribute(name, type)
        attribute.derivationExpression = expression
        return attribute
    }
}

/// The statements in the words of one store.
struct StatementList {
    struct Line {
        /// Whether it defines something, to be executed in this order; else it is one that is prepared.
        var defines = false
        let title: String
        let sql: String
    }

    let map: StoreMap
    private var schema: Schema { map.schema }

    func lines() throws -> [Line] {
        let definitions = try Definitions(map).statements().enumerated().map {
            Line(defines: true, title: "define \($0 + 1)", sql: $1)
        }
        return try definitions + history() + records() + fetches() + values() + relations() + writes() + links()
            + sets() + migration()
    }

    // MARK: Reads

    func entity(_ name: String) throws -> Entity {
        guard let entity = schema.entity(named: name) else { throw StoreError(0, "There is no \(name).") }
        return entity
    }

    private func plan(_ name: String, _ change: (inout FetchPlan) throws -> Void) throws -> FetchPlan {
        var plan = FetchPlan(entity: try entity(name).index)
        try change(&plan)
        return plan
    }

    private func select(_ title: String, _ name: String, _ change: (inout FetchPlan) throws -> Void) throws -> [Line] {
        let plan = try plan(name, change)
        let entity = try entity(name)
        let last = plan.includesSubentities ? entity.last : entity.index
        let shape = try RowShape(map: map, entity: entity, last: last, includesValues: plan.includesValues)
        let query = try Query(plan, in: schema)
        return [
            Line(title: "fetch \(title)", sql: try SelectCompiler(map).select(query, shape: shape).sql),
            Line(title: "count \(title)", sql: try SelectCompiler(map).count(query).sql),
        ]
    }

    private func fetches() throws -> [Line] {
        var lines = try select("everything", "Injury") { _ in }
        for (place, text) in Self.conditions.enumerated() {
            lines += try select("where \(place + 1)", "Casualty") { $0.predicate = try FormatParser.predicate(text) }
        }
        for (title, value) in Self.constants {
            let path = Expression.keyPath([title])
            lines += try select("\(title) is", "Casualty") {
                $0.predicate = .comparison(Comparison(path, .equal, .constant(value)))
            }
            lines += try select("\(title) is not", "Casualty") {
                $0.predicate = .comparison(Comparison(path, .notEqual, .constant(value)))
            }
            lines += try select("\(title) among", "Casualty") {
                $0.predicate = .comparison(
                    Comparison(path, .in, .list([.constant(value), .constant(value), .constant(value)])))
            }
        }
        lines += try select("one entity", "Place") { $0.includesSubentities = false }
        lines += try select("sub-entities", "Station") { $0.predicate = try FormatParser.predicate("capacity > 3") }
        lines += try select("whole tree", "Place") { $0.predicate = try FormatParser.predicate("name == 'North'") }
        lines += try select("keys", "Casualty") { $0.includesValues = false }
        lines += try select("part", "Casualty") { ($0.limit, $0.offset) = (10, 20) }
        lines += try select("offset", "Casualty") { $0.offset = 20 }
        lines += try select("part that is not shared", "Casualty") {
            ($0.limit, $0.offset) = (10, 20)
            $0.predicate = try FormatParser.predicate("name IN {'a', 'b'}")
        }
        for comparison in [
            SortTerm.Comparison.binary, .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
        ] {
            lines += try select("ordered \(comparison)", "Casualty") {
                $0.sort = [
                    SortTerm(keyPath: ["name"], isAscending: false, comparison: comparison), SortTerm(keyPath: ["age"]),
                ]
            }
        }
        return try lines
            + select("ordered by another's", "Injury") {
                $0.sort = [SortTerm(keyPath: ["casualty", "station", "name"])]
            }
    }

    private static var constants: [(String, Value)] {
        [
            ("name", .text("a")), ("age", .int(4)), ("alive", .bool(true)), ("admittedAt", .date(7)),
            ("weight", .decimal(1.5)),
            ("link", .uri("https://a.b")), ("tag", .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))),
            ("latitude", .double(1.5)), ("photo", .data(Data([1, 2]))),
        ]
    }

    private static let conditions = [
        "TRUEPREDICATE", "FALSEPREDICATE", "name == nil", "name != nil", "NOT (name == 'a' OR age > 3)",
        "name == 'a' AND (age < 3 OR age >= 60) AND alive == YES", "age BETWEEN {1, 5}", "latitude < longitude",
        "name == station.name",
        "name != station.name", "age IN {1, 2, 3}", "name IN {'a', 'b'}", "name IN[c] {'a', 'b'}",
        "latitude IN {1.5, 2.5, 3.5}",
        "name ==[cd] 'é'", "name <[c] 'm'", "name CONTAINS 'x'", "name CONTAINS[cd] 'x'", "name BEGINSWITH 'x'",
        "name BEGINSWITH[c] 'x'",
        "name ENDSWITH 'x'", "name ENDSWITH[d] 'x'", "name LIKE 'x*'", "name MATCHES[c] 'x.*'", "name CONTAINS link",
        "station.name == 'North'", "station == nil", "station.name > 'a'", "ANY injuries.severity > 3",
        "ALL injuries.severity > 3",
        "NONE injuries.kind == 'cut'", "ANY assessments.note BEGINSWITH 'x'", "ANY contacts.name == 'a'",
        "ANY assessments.casualties.name == 'a'", "injuries.@count == 0", "injuries.@sum.severity > 3",
        "contacts.@sum.worst > 3", "injuries.@avg.severity > 3",
        "injuries.@max.severity == 3", "injuries.@min.severity == 3", "station.casualties.@count > 2",
        "SUBQUERY(injuries, $x, $x.severity > 3 AND $x.kind == 'cut').@count > 1", "age + 1 > 3",
        "age * 2 - latitude / 3 < 7",
        "lowercase(name) == 'a'", "length(name) > 3", "random() < latitude", "abs(age) == 4",
        "modulus:by:(age, 2) == 1", "age & 1 == 1",
        "now() > admittedAt", "uppercase(name) IN {'A', 'B'}", "injuries[FIRST].severity == 3",
        "injuries[LAST].kind == 'cut'",
        "injuries[2].kind == 'cut'", "CAST(age, 'NSString') == '4'", "photo == nil",
        "station.entity.name BEGINSWITH 'S'",
        "latitude IN {\((0..<65).map { "\($0).5" }.joined(separator: ", "))}",
    ]

    private func values() throws -> [Line] {
        typealias Column = ValueProjection.Column
        func path(_ text: String) -> Expression { .keyPath(text.split(separator: ".").map(String.init)) }
        func line(_ title: String, _ projection: ValueProjection, _ change: (inout FetchPlan) -> Void = { _ in }) throws
            -> Line
        {
            let plan = try plan("Casualty") {
                $0.projection = .values(projection)
                change(&$0)
            }
            let query = try Query(valuesOf: plan, in: schema)
            guard let bound = query.bound.projection else { throw StoreError(0, "No projection.") }
            return Line(title: "values \(title)", sql: try SelectCompiler(map).values(query, bound).selection.sql)
        }
        let half = Expression.function("divide:by:", [path("age"), .constant(.int(2))])
        return [
            try line(
                "columns",
                ValueProjection([
                    Column("n", path("name")), Column("s", path("station.name")), Column("k", path("station")),
                ])
            ) {
                $0.sort = [SortTerm(keyPath: ["name"], isAscending: false)]
                ($0.limit, $0.offset) = (3, 4)
            },
            try line(
                "groups",
                ValueProjection(
                    [
                        Column("half", half), Column("station", path("station")), Column("rows", path("@count")),
                        Column("weight", .function("sum:", [path("weight")])),
                        Column("ages", .function("count:", [.function("distinct:", [path("age")])])),
                    ], grouping: [half, path("station")],
                    having: .comparison(Comparison(.variable("rows"), .greater, .constant(.int(1)))))
            ) { $0.sort = [SortTerm(keyPath: ["weight"])] },
            try line(
                "aggregates",
                ValueProjection([
                    Column("a", path("@sum.age")), Column("b", path("@avg.age")), Column("c", path("@avg.weight")),
                    Column("d", path("@min.name")), Column("e", path("@max.admittedAt")),
                    Column("f", path("@sum.weight")),
                    Column("g", .function("sum:", [path("worst")])),
                ])),
            try line(
                "distinct", ValueProjection([Column("a", path("name")), Column("b", path("age"))], isDistinct: true)
            ) {
                $0.sort = [SortTerm(keyPath: ["a"])]
            },
            try line("distinct, ordered without case", ValueProjection([Column("a", path("name"))], isDistinct: true)) {
                $0.sort = [SortTerm(keyPath: ["a"], isAscending: true, comparison: .caseInsensitive)]
            },
        ]
    }

    private func relations() throws -> [Line] {
        let selects = SelectCompiler(map)
        var lines: [Line] = []
        for table in map.tables {
            let root = schema[table.root]
            let shape = try RowShape(map: map, entity: root, last: root.last, includesValues: true)
            lines.append(Line(title: "row of \(root.name)", sql: try selects.row(in: root, shape: shape)))
            lines.append(Line(title: "rows of \(root.name)", sql: try selects.rows(in: root, shape: shape)))
        }
        for relationship in schema.relationships where relationship.isToMany {
            let name = "\(schema[relationship.owner].name).\(relationship.name)"
            let entity = schema[relationship.destination]
            let shape = try RowShape(map: map, entity: entity, last: entity.last, includesValues: true)
            lines.append(Line(title: "members of \(name)", sql: try selects.members(of: relationship, shape: shape)))
            lines.append(Line(title: "membership in \(name)", sql: try selects.membership(in: relationship)))
            lines.append(Line(title: "targets of \(name)", sql: try selects.targets(of: relationship, shape: shape)))
            if try selects.ownerSlotOfAll(relationship) != nil {
                lines.append(
                    Line(title: "targets of all \(name)", sql: try selects.targetsOfAll(of: relationship, shape: shape))
                )
            }
        }
        return lines
    }

    // MARK: Writes

    private func writes() throws -> [Line] {
        let writes = WriteCompiler(map)
        var lines: [Line] = []
        for entity in map.entities {
            let slots = writes.stored(of: entity.index)
            func add(_ title: String, _ sql: String) { lines.append(Line(title: "\(title) \(entity.name)", sql: sql)) }
            add("insert 1", try writes.insert(entity, rows: 1))
            add("insert 2", try writes.insert(entity, rows: 2))
            add("update", try writes.update(entity, slots: Array(slots.prefix(2))))
            add("raise", try writes.update(entity, slots: []))
            add("touch 1", try writes.touch(entity, isSingle: true))
            add("touch", try writes.touch(entity, isSingle: false))
            add("delete 1", try writes.delete(entity, rows: 1))
            add("delete 2", try writes.delete(entity, rows: 2))
            add("version", try writes.version(entity))
            add("clear", try writes.clear(entity, slots: Array(slots.prefix(2))))
            for sql in writes.unlink(entity) { add("unlink", sql) }
            if entity.parent == nil { add("allocate", try writes.allocate(entity)) }
            for sql in try DerivedTexts(map).statements(for: entity.index, slots: nil) { add("derive", sql) }
        }
        return lines
    }

    private func links() throws -> [Line] {
        let writes = WriteCompiler(map)
        var lines: [Line] = []
        for relationship in schema.relationships where relationship.isToMany {
            let name = "\(schema[relationship.owner].name).\(relationship.name)"
            func add(_ title: String, _ sql: String) { lines.append(Line(title: "\(title) \(name)", sql: sql)) }
            if let table = map.join(of: relationship.index) {
                let side = table.side(of: relationship.index)
                add("link", writes.link(side, other: side == table.side ? table.inverseSide : table.side, in: table))
                add("unlink", writes.unlink(side, in: table))
            }
            if let columns = try map.positions(of: relationship.index) {
                add("last position", writes.lastPosition(columns))
                add("positions", writes.positions(columns))
                add("position", writes.position(columns))
                add("order", writes.order(columns))
            }
            let table = try map.table(of: relationship.destination)
            if let column = table.ownerColumn(of: relationship.index) {
                add("adopt", writes.adopt(column, in: table))
                add("release", writes.release(column, in: table))
            }
        }
        return lines
    }

    /// Of what the store says about itself, and of values in files.
    private func records() throws -> [Line] {
        let (records, files) = (MetadataStatements(map.dialect), FileStatements(map.dialect))
        let casualty = try map.table(of: entity("Casualty").index)
        return [
            Line(title: "read metadata", sql: records.read(limit: 1000)),
            Line(title: "write metadata", sql: records.write),
            Line(title: "change metadata", sql: records.change),
            Line(title: "forget the model", sql: records.forgetModel),
            Line(title: "keep the model", sql: records.keepModel),
            Line(title: "add an entity's number", sql: records.addEntity),
            Line(title: "parents of entities", sql: records.parents),
            Line(title: "tables", sql: map.dialect.tables),
            Line(title: "columns", sql: map.dialect.columns(of: casualty.name)),
            Line(title: "unique indexes", sql: map.dialect.uniqueIndexes(of: casualty.name)),
            Line(title: "indexes with their columns", sql: map.dialect.indexes(of: casualty.name)),
            Line(title: "triggers", sql: map.dialect.triggers),
            Line(title: "columns of join tables", sql: map.dialect.joinColumns),
            Line(title: "files of rows", sql: files.names(in: "ZPHOTO", of: casualty.name)),
            Line(title: "files of all rows", sql: files.allNames(in: "ZPHOTO", of: casualty.name)),
            Line(title: "rows of a file", sql: files.isReferred(in: "ZPHOTO", of: casualty.name)),
        ]
    }

    private func history() throws -> [Line] {
        let tables = HistoryTables(tombstones: 1, dialect: map.dialect)
        let statements = HistoryStatements(map.dialect)
        let definitions = HistoryTables.Table.allCases.map(tables.definition) + tables.indexes
        let casualty = try map.table(of: entity("Casualty").index)
        return definitions.enumerated().map { Line(defines: true, title: "define history \($0 + 1)", sql: $1) }
            + HistoryTables.Table.allCases.map { Line(title: "take numbers of \($0)", sql: statements.allocate($0)) }
            + [
                Line(title: "find a text", sql: statements.findString),
                Line(title: "add a text", sql: statements.addString),
                Line(title: "add a transaction", sql: statements.addTransaction),
                Line(title: "add changes", sql: statements.addChanges),
                Line(title: "add deletions", sql: statements.addDeletions(keeping: ["ZNAME"], of: casualty.name)),
                Line(title: "last transaction", sql: statements.lastTransaction),
            ] + historyReading() + (try ourHistory())
            + HistoryReading(map.dialect).shortening.enumerated().map {
                Line(title: "shorten history \($0 + 1)", sql: $1)
            }
    }

    private func historyReading() -> [Line] {
        let reading = HistoryReading(map.dialect, HistoryLayout(tombstones: 1))
        let former = HistoryReading(map.dialect, HistoryLayout(tombstones: 0, hasNumbers: false))
        return [
            Line(title: "transactions after one", sql: reading.transactions(.after)),
            Line(title: "transactions of a list", sql: reading.transactions(.transactions)),
            Line(title: "transactions that write out their texts", sql: former.transactions(.after)),
            Line(title: "changes after a transaction", sql: reading.changes(.after)),
            Line(title: "changes of transactions", sql: reading.changes(.transactions)),
            Line(title: "changes of a list", sql: reading.changes(.changes)),
            Line(title: "transactions of changes", sql: reading.owners),
            Line(title: "first transaction", sql: reading.first),
            Line(title: "first transaction since", sql: reading.firstSince),
            Line(title: "first transaction not before", sql: reading.firstNotBefore),
            Line(title: "how far rows are numbered", sql: reading.numbering),
        ]
    }

    /// Tables of ours beside the history's.
    private func ourHistory() throws -> [Line] {
        let (values, marks) = (FormerValueTable(map.dialect), HistoryMarkTable(map.dialect))
        let casualty = try map.table(of: entity("Casualty").index)
        let members = MemberColumns(
            table: "Z_4SHELVES", owner: "Z_7SHELVES", member: "Z_4LABELS", position: "Z_FOK_4LABELS")
        let lost = MemberColumns(table: "ZINJURY", owner: "ZCASUALTY", member: "Z_PK", position: nil)
        let placed = MemberColumns(table: "ZINJURY", owner: "ZCASUALTY", member: "Z_PK", position: "Z_FOK_CASUALTY")
        return values.definitions.enumerated().map {
            Line(defines: true, title: "define former values \($0 + 1)", sql: $1)
        } + [
            Line(title: "mark former values", sql: values.mark),
            Line(title: "keep a column", sql: values.keep(casualty.columns[0], of: casualty.name, rows: .listed)),
            Line(
                title: "keep a column of found rows",
                sql: values.keep(casualty.columns[0], of: casualty.name, rows: .selected("(SELECT 1)"))),
            Line(title: "keep members", sql: values.keep(members, rows: .listed)),
            Line(
                title: "keep lost members",
                sql: values.keepLost(lost, of: casualty.name, entity: 1, rows: .selected("(SELECT 1)"))),
            Line(
                title: "keep lost members with their places",
                sql: values.keepLost(placed, of: casualty.name, entity: nil, rows: .listed)),
            Line(title: "former values", sql: values.values),
            Line(title: "shorten former values", sql: values.shortening),
            Line(title: "properties of former values", sql: values.properties),
            Line(title: "move former values", sql: values.move),
            Line(title: "drop former values", sql: values.moved[0]),
            Line(title: "number former values", sql: values.moved[1]),
            Line(defines: true, title: "define cursors", sql: marks.definition),
            Line(title: "move a cursor", sql: marks.move),
            Line(title: "remove a cursor that is ahead", sql: marks.removeAhead),
            Line(title: "remove a cursor", sql: marks.remove), Line(title: "cursors", sql: marks.all),
            Line(title: "last cursor since", sql: marks.last),
        ]
    }
}
