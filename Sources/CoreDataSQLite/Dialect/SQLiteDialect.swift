// SQLite's words, in the form in which Core Data's own files have them.

import CoreDataSQL
import CoreDataValues
import Foundation

package struct SQLiteDialect: SQLDialect {
    package init() {}

    // MARK: Names, types, constants

    package func quoted(_ name: String) -> String {
        // Looked at first: replacing nothing takes 7,000 instructions a name.
        let plain = name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
        return "\"" + plain + "\""
    }

    /// Bare where Core Data's own files have it bare.
    package func defined(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            byte >= 0x80 || byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte)
        }
        return isPlain ? name : quoted(name)
    }

    package func type(_ kind: SlotKind) -> String {
        switch kind {
        case .int, .bool, .toOne, .entityTag: "INTEGER"
        case .decimal: "DECIMAL"
        case .double, .float: "FLOAT"
        case .date: "TIMESTAMP"
        case .text, .uri: "VARCHAR"
        case .uuid, .data, .externalData, .transformable: "BLOB"
        }
    }

    package func condition(_ holds: Bool) -> String { holds ? "1" : "0" }
    package func literal(_ flag: Bool) -> String { flag ? "1" : "0" }

    // MARK: Parameters

    package func parameter(_ number: Int, like example: Value) -> String { "?\(number)" }
    package func next(_ number: Int) -> String { "?" }
    package func list(_ keys: [Int64]) -> Value { .text(keysAsJSON(keys)) }

    /// Lists of whole numbers and of texts travel as one JSON value, so that the statement is the same for any length. nil where a
    /// value has no JSON form that SQLite reads back unchanged: reals, blobs, texts with a NUL.
    package func list(_ values: [Value]) -> Value? {
        var json = JSONText()
        for value in values {
            switch value {
            case .int(let number): json.add(number)
            case .bool(let flag): json.add(flag ? 1 : 0)
            case .text(let text), .uri(let text): guard json.add(text) else { return nil }
            case .null, .double, .decimal, .date, .data, .uuid, .key: return nil
            }
        }
        return .text(json.array)
    }

    package func mixedList(_ values: [Value]) -> Value? { .text(ListedValue.json(values)) }

    package func isIn(_ list: SQLList) -> String {
        let value = list.kind == .mixed ? "\(ValueFunction.listed)(value)" : "value"
        return "IN (SELECT \(value) FROM json_each(\(list.parameter)))"
    }

    package func rows(of list: SQLList, as alias: String?) -> SQLListRows {
        guard let alias else {
            return SQLListRows(source: "json_each(\(list.parameter))", place: "key", value: "value")
        }
        return SQLListRows(
            source: "json_each(\(list.parameter)) AS \(alias)", place: "\(alias).key", value: "\(alias).value")
    }

    // MARK: Comparisons and functions

    package func isSame(_ a: String, _ b: String) -> String { "\(a) IS \(b)" }
    package func isOther(_ a: String, _ b: String) -> String { "\(a) IS NOT \(b)" }
    package func isPresent(_ value: String) -> String { "\(value) NOT NULL" }
    package func value(_ value: String, or other: String) -> String { "IFNULL(\(value), \(other))" }
    package func risen(_ version: String) -> String { "ifnull(\(version), 0) + 1" }
    package func larger(_ a: String, _ b: String) -> String { "MAX(\(a), \(b))" }

    package func folded(_ text: String, _ options: Comparison.Options) -> String {
        "\(TextFunction.fold)(\(text), \(options.rawValue))"
    }

    package func isLike(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String {
        "\(TextFunction.like)(\(text), \(pattern), \(options.rawValue))"
    }

    package func matches(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String {
        "\(TextFunction.matches)(\(text), \(pattern), \(options.rawValue))"
    }

    package func contains(_ text: String, _ part: String) -> String { "instr(\(text), \(part)) > 0" }

    /// By bytes: `length` and `substr` of a text would stop at a NUL.
    package func hasSuffix(_ text: String, _ suffix: String, bind: (Value) -> String) -> String {
        let bytes = Data(suffix.utf8)
        let needle = bind(.data(bytes))
        return "substr(CAST(\(text) AS BLOB), \(bind(.int(Int64(-bytes.count))))) = \(needle)"
    }

    package func call(_ name: String, _ arguments: [String], result: ValueType?) -> String {
        "\(ValueFunction.call)('\(name)'\(arguments.map { ", " + $0 }.joined()))"
    }

    package func test(_ op: Comparison.Operator, _ options: Comparison.Options, _ a: String, _ b: String) -> String {
        let number = Comparison.Operator.allCases.firstIndex(of: op) ?? 0
        return "\(ValueFunction.test)(\(number), \(options.rawValue), \(a), \(b))"
    }

    package func content(_ cell: String, length: String?) -> String {
        "\(ValueFunction.content)(\(cell)\(length.map { ", " + $0 } ?? ""))"
    }

    package func inlined(_ data: String) -> String { "CAST(x'01' || \(data) AS BLOB)" }

    package var random: String { "((random() + 9223372036854775808.0) / 18446744073709551616.0)" }
    package var now: String { "NSCoreDataNow()" }
    package func decimalSum(_ values: String) -> String { "\(ValueFunction.sum)(\(values))" }
    /// In two halves, which never are too large; as one real number where the whole is.
    package func wideSum(_ values: String) -> String {
        let (high, low) = ("COALESCE(SUM(\(values) >> 32), 0)", "COALESCE(SUM(\(values) & 4294967295), 0)")
        let carried = "(\(high) + (\(low) >> 32))"
        return
            "CASE WHEN \(carried) BETWEEN -2147483648 AND 2147483647 THEN (\(carried) << 32) | (\(low) & 4294967295) "
            + "ELSE \(high) * 4294967296.0 + \(low) END"
    }
    package func wholeSum(_ values: String) -> String { "\(ValueFunction.wholeSum)(\(values))" }
    package func decimalAverage(_ values: String) -> String { "\(ValueFunction.average)(\(values))" }
    package func derived(_ form: Derivation.TextForm, of text: String) -> String {
        "\(DerivedFunctions.name(of: form))(\(text))"
    }

    package func tombstone(_ column: String) -> String { column }

    package func fileReference(_ column: String) -> (condition: String, name: String) {
        (
            "length(\(column)) = \(ExternalReference.size) AND substr(\(column), 1, 1) = x'02'",
            "CAST(substr(\(column), 2, 36) AS TEXT)"
        )
    }

    // MARK: Selecting

    package func collation(_ comparison: SortTerm.Comparison) -> String {
        TextFunction.collation(comparison).map { " COLLATE \($0)" } ?? ""
    }

    package func nullOrder(isAscending: Bool) -> String { "" }
    package func unindexed(_ column: String) -> String { "+" + column }

    /// Each row is counted once more for an offset, be it 0.
    package func part(limit: String, offset: String?) -> String {
        offset.map { " LIMIT \(limit) OFFSET \($0)" } ?? " LIMIT \(limit)"
    }

    package func count(of rows: String) -> String { "SELECT COUNT(*) FROM (\(rows))" }

    package func distinct(_ columns: [String], from source: String, by order: [SQLDistinctOrder]) -> String {
        "SELECT DISTINCT \(columns.joined(separator: ", ")) FROM \(source)"
            + (order.isEmpty ? "" : " ORDER BY " + order.map { $0.text + $0.suffix }.joined(separator: ", "))
    }

    // MARK: Writing

    package func insertNew(into table: String, _ columns: [String], _ values: [String]) -> String {
        "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    package func replace(in table: String, _ columns: [String], _ values: [String]) -> String {
        "INSERT OR REPLACE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    package func held(_ column: String, in table: String) -> String { column }

    // MARK: What there is

    package var metadata: [String: String] { ["NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2"] }
    package var tables: String { "SELECT name FROM sqlite_master WHERE type = 'table'" }
    package func columns(of table: String) -> String {
        "SELECT name, upper(type) FROM pragma_table_info(\(text(table)))"
    }

    package func uniqueIndexes(of table: String) -> String {
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = \(text(table)) AND sql LIKE 'CREATE UNIQUE INDEX%'"
    }

    package func indexes(of table: String) -> String {
        "SELECT i.name, ifnull(c.name, '') FROM pragma_index_list(\(text(table))) i, pragma_index_info(i.name) c WHERE i.origin = 'c'"
    }

    package var triggers: String { "SELECT name FROM sqlite_master WHERE type = 'trigger'" }

    package var definitions: String? {
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('view', 'trigger', 'index') AND sql IS NOT NULL ORDER BY rowid"
    }

    package func renamingAlone(_ renames: [String]) -> [String] {
        renames.isEmpty ? [] : ["PRAGMA legacy_alter_table=ON"] + renames + ["PRAGMA legacy_alter_table=OFF"]
    }

    package var joinColumns: String {
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.\(Self.isJoinTable)"
    }

    /// The definitions of all join tables as one text, for a statement that reads the tables in `sqlite_master`.
    static let joinDefinitions = "group_concat(\(joinDefinition), char(10))"
    /// That of one, null for other tables.
    static let joinDefinition = "CASE WHEN \(isJoinTable) THEN sql END"
    private static let isJoinTable = "name GLOB 'Z_[0-9]*'"

    private func text(_ name: String) -> String { "'\(name.replacing("'", with: "''"))'" }

    // MARK: Defining

    package func indexed(_ column: String, _ kind: SlotKind, isAscending: Bool) -> String {
        "\(column) COLLATE BINARY \(isAscending ? "ASC" : "DESC")"
    }

    /// Core Data's triggers, to the letter.
    package func trigger(_ trigger: SQLTrigger) -> [String] {
        let moment =
            switch trigger.event {
            case .insert: "AFTER INSERT"
            case .update(let columns): "AFTER UPDATE OF " + columns.map(defined).joined(separator: ", ")
            case .delete: "AFTER DELETE"
            }
        let notice = "NSCoreDataDATrigger\(trigger.isInsertion ? "Insert" : "")UpdatedAffectedObjectValue"
        let (table, column) = (defined(trigger.table), defined(trigger.column))
        return [
            "CREATE TRIGGER \(defined(trigger.name)) \(moment) ON \(defined(trigger.watched)) FOR EACH ROW"
                + (trigger.condition.map { " WHEN \($0)" } ?? "")
                + " BEGIN UPDATE \(table) SET \(column) = \(trigger.expression) "
                + "WHERE \(trigger.rows); SELECT \(notice)(\(literal(trigger.table)), Z_ENT, Z_PK, \(literal(trigger.attribute)), "
                + "\(column)) FROM \(table) WHERE \(trigger.rows); END"
        ]
    }

    package func dropTrigger(_ trigger: SQLTrigger) -> String { "DROP TRIGGER IF EXISTS \(defined(trigger.name))" }

    private func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// An R-tree with the triggers that keep it: at most five numbers, which SQLite keeps with 32 bits.
    package func spatialIndex(_ index: SQLSpatialIndex) -> [String] {
        let (name, rows, columns) = (defined(index.name), defined(index.table), index.columns.map(defined))
        let bounds = columns.flatMap { [bounded($0, "_MIN"), bounded($0, "_MAX")] }
        let values = columns.map { "NEW.\($0) ,NEW.\($0)" }.joined(separator: ", ")
        let insertion = "INTO \(name) (Z_PK, \(bounds.joined(separator: ", "))) VALUES (NEW.Z_PK, \(values)) ; END"
        func trigger(_ event: String, _ body: String) -> String {
            "CREATE TRIGGER \(defined("\(index.name)_\(event)")) AFTER \(event) ON \(rows) FOR EACH ROW BEGIN \(body)"
        }
        return [
            "CREATE VIRTUAL TABLE \(name) USING RTREE (Z_PK INTEGER PRIMARY KEY, "
                + bounds.map { "\($0) FLOAT" }.joined(separator: ", ") + ")",
            trigger("INSERT", "INSERT OR REPLACE " + insertion),
            trigger("UPDATE", "DELETE FROM \(name) WHERE Z_PK = NEW.Z_PK ; INSERT " + insertion),
            trigger("DELETE", "DELETE FROM \(name) WHERE Z_PK = OLD.Z_PK ; END"),
        ]
    }

    package func dropSpatialIndex(_ index: SQLSpatialIndex) -> [String] {
        ["INSERT", "UPDATE", "DELETE"].map { "DROP TRIGGER IF EXISTS \(defined("\(index.name)_\($0)"))" }
            + ["DROP TABLE IF EXISTS \(defined(index.name))"]
    }

    /// Beyond what 32 bits hold, both ends of a number are kept as infinite: there a bound asks nothing.
    package func keys(in index: SQLSpatialIndex, _ bounds: [(column: String, bounds: SQLSpatialBounds<String>)])
        -> String?
    {
        let tests = bounds.flatMap { column, bounds in
            let name = defined(column)
            // What is nearer to 0 than any of 32 bits is kept as 0.
            return [
                bounds.low.map {
                    "\(bounded(name, "_MAX")) >= CASE WHEN \($0) < -3.4e38 THEN -9e999 ELSE \($0) - 1.5e-45 END"
                },
                bounds.high.map {
                    "\(bounded(name, "_MIN")) <= CASE WHEN \($0) > 3.4e38 THEN 9e999 ELSE \($0) + 1.5e-45 END"
                },
            ].compactMap { $0 }
        }
        return "SELECT Z_PK FROM \(defined(index.name)) WHERE \(tests.joined(separator: " AND "))"
    }

    private func bounded(_ column: String, _ end: String) -> String {
        column.hasSuffix("\"") ? column.dropLast() + end + "\"" : column + end
    }
}

extension StoreMap {
    /// A schema as tables of a SQLite file.
    package convenience init(schema: Schema, configuration: String?) throws {
        try self.init(schema: schema, configuration: configuration, dialect: SQLiteDialect())
    }
}

/// `[1,2,3]`
func keysAsJSON(_ keys: some Sequence<Int64>) -> String {
    "[" + keys.map(String.init).joined(separator: ",") + "]"
}
