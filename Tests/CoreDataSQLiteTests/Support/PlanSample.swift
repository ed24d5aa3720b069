// A store whose plans are looked at.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQL
@testable import CoreDataSQLite

/// Things with relationships of every kind, and what SQLite plans to do about a query of them.
struct PlanSample {
    private let folder = Folder()
    let store: SQLiteStore
    let map: StoreMap

    /// Every attribute has an index of its own but those named `free` and `size`.
    static var schema: Schema {
        get throws {
            let types: [(String, AttributeType)] = [
                ("text", .string), ("int", .integer32), ("big", .integer64), ("double", .double), ("float", .float),
                ("date", .date),
                ("flag", .boolean), ("decimal", .decimal), ("uuid", .uuid), ("uri", .uri), ("bytes", .binary),
                ("free", .string),
            ]
            var thing = entity("Thing", types)
            thing.indexes.append(
                FetchIndex(name: "both", elements: [.init(property: "flag"), .init(property: "date")]))
            thing.relationships = [
                Triage.toOne("owner", "Owner", "things"), Triage.toMany("marks", "Mark", "things"),
                Triage.toMany("labels", "Label", "things", ordered: true),
                Triage.toMany("parts", "Part", "thing", ordered: true),
                Triage.toMany("visits", "Visit", "thing"),
            ]
            var book = entity("Book", [("pages", .integer32)])
            book.parentName = "Thing"
            book.relationships = [Triage.toOne("keeper", "Owner", "books"), Triage.toMany("shelves", "Shelf", "books")]
            var (volume, disc) = (EntityDraft(name: "Volume"), EntityDraft(name: "Disc"))
            (volume.parentName, disc.parentName) = ("Book", "Thing")
            var owner = entity("Owner", [("name", .string), ("code", .integer32), ("free", .string)])
            owner.relationships = [
                Triage.toMany("things", "Thing", "owner"), Triage.toMany("books", "Book", "keeper"),
                Triage.toOne("city", "City", "owners"),
            ]
            var city = entity("City", [("name", .string)])
            city.relationships = [Triage.toMany("owners", "Owner", "city"), Triage.toOne("land", "Land", "cities")]
            var land = entity("Land", [("name", .string)])
            land.relationships = [Triage.toMany("cities", "City", "land")]
            var mark = entity("Mark", [("name", .string), ("free", .string)])
            mark.relationships = [Triage.toMany("things", "Thing", "marks")]
            var label = entity("Label", [("name", .string)])
            label.relationships = [Triage.toMany("things", "Thing", "labels")]
            var part = entity("Part", [("name", .string), ("free", .string), ("size", .integer32)])
            part.relationships = [Triage.toOne("thing", "Thing", "parts"), Triage.toOne("maker", "Owner", nil)]
            var visit = entity("Visit", [("date", .date)])
            visit.relationships = [Triage.toOne("thing", "Thing", "visits")]
            var shelf = entity("Shelf", [("name", .string)])
            shelf.relationships = [Triage.toMany("books", "Book", "shelves")]
            return try Schema(
                checking: SchemaDraft(thing, book, volume, disc, owner, city, land, mark, label, part, visit, shelf))
        }
    }

    private static func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> EntityDraft {
        var entity = EntityDraft(name: name)
        entity.attributes = attributes.map { Triage.attribute($0.0, $0.1) }
        entity.indexes = attributes.filter { $0.0 != "free" && $0.0 != "size" }.map {
            FetchIndex(name: "by" + $0.0, elements: [.init(property: $0.0)])
        }
        return entity
    }

    init() throws {
        store = try folder.store(Self.schema)
        map = try StoreMap(schema: store.schema, configuration: nil)
        // What SQLite guesses of tables that were never analysed does not depend on their rows.
        try store.insert("Thing", [(1, ["text": .text("a"), "int": .int(1)])])
    }

    func query(_ entity: String, _ predicate: Predicate?, _ sort: [SortTerm] = [], limit: Int = 0) throws -> Query {
        var plan = FetchPlan(entity: try store.entity(entity).index)
        plan.predicate = predicate
        plan.sort = sort
        plan.limit = limit
        return try Query(plan, in: store.schema)
    }

    func selection(_ query: Query) throws -> Selection {
        let shape = try RowShape(map: map, entity: query.bound.entity, last: query.bound.last, includesValues: true)
        return try SelectCompiler(map).select(query, shape: shape)
    }

    /// The steps, a line each.
    func plan(_ entity: String, _ predicate: Predicate?, _ sort: [SortTerm] = [], limit: Int = 0) throws -> String {
        let query = try query(entity, predicate, sort, limit: limit)
        let selection = try selection(query)
        return try steps(selection.sql, selection.values(for: query))
    }

    func plan(_ entity: String, asking text: String?, _ sort: [SortTerm] = [], limit: Int = 0) throws -> String {
        try plan(entity, text.map(Self.predicate), sort, limit: limit)
    }

    func steps(_ sql: String, _ values: [Value]) throws -> String {
        let connection = try Connection(
            path: folder.file.path, access: .read, options: SQLiteOptions(), counter: StatementCounter())
        let statement = try connection.statement("EXPLAIN QUERY PLAN " + sql)
        defer { statement.finish() }
        try statement.bind(values)
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3) ?? "") }
        return lines.joined(separator: "\n")
    }

    static func predicate(_ text: String) throws -> Predicate {
        try FormatParser.predicate(text) { _, _ in throw PredicateError("no argument") }
    }

    /// Expects these words in the plan, and that no table is read from its first row to its last.
    func expect(
        _ entity: String, _ text: String, _ words: [String], _ location: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let plan = try plan(entity, asking: text)
        for word in words { #expect(plan.contains(word), "\(entity): \(text): \(plan)", sourceLocation: location) }
        #expect(
            !plan.contains("SCAN t") && !plan.contains("Z_ENT_INDEX"), "\(entity): \(text): \(plan)",
            sourceLocation: location)
    }
}
