// The words of PostgreSQL 15: no store yet, but a second dialect, which shows that nothing of SQLite's is left in the statements.

import CoreDataValues
import Foundation

@testable import CoreDataSQL

/// Booleans are small numbers, as predicates count and add them; texts compare by their bytes, as memory does; computed values of no
/// one type travel as JSON. `Scripts/postgres-words` has a PostgreSQL prepare what is made of this, and says which functions it needs.
struct PostgresDialect: SQLDialect {
    // MARK: Names, types, constants

    /// Of longer names PostgreSQL would drop the end, and two could become one.
    func quoted(_ name: String) -> String {
        let plain = name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
        guard plain.utf8.count > 63 else { return "\"" + plain + "\"" }
        let mark = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\"" + name.unicodeScalars.prefix(15).map(String.init).joined() + "~" + String(mark, radix: 36) + "\""
    }

    func defined(_ name: String) -> String { quoted(name) }

    func type(_ kind: SlotKind) -> String {
        switch kind {
        case .int, .toOne, .entityTag: "BIGINT"
        case .bool: "SMALLINT"
        case .decimal: "NUMERIC"
        case .double, .date: "DOUBLE PRECISION"
        case .float: "REAL"
        case .text, .uri: "TEXT COLLATE \"C\""
        case .uuid: "UUID"
        case .data, .externalData, .transformable: "BYTEA"
        }
    }

    func condition(_ holds: Bool) -> String { holds ? "TRUE" : "FALSE" }
    func literal(_ flag: Bool) -> String { flag ? "CAST(1 AS SMALLINT)" : "CAST(0 AS SMALLINT)" }

    // MARK: Parameters

    func parameter(_ number: Int, like example: Value) -> String {
        switch example {
        case .null: "$\(number)"
        case .bool: "$\(number)::smallint"
        case .int, .key: "$\(number)::bigint"
        case .double, .date: "$\(number)::double precision"
        case .decimal: "$\(number)::numeric"
        case .text, .uri: "$\(number)::text"
        case .data: "$\(number)::bytea"
        case .uuid: "$\(number)::uuid"
        }
    }

    func next(_ number: Int) -> String { "$\(number)" }
    func list(_ keys: [Int64]) -> Value { .text("{" + keys.map(String.init).joined(separator: ",") + "}") }

    func list(_ values: [Value]) -> Value? {
        var parts: [String] = []
        for value in values {
            switch value {
            case .int(let number): parts.append(String(number))
            case .text(let text), .uri(let text):
                parts.append("\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"")
            case .null, .bool, .double, .decimal, .date, .data, .uuid, .key: return nil
            }
        }
        return .text("{" + parts.joined(separator: ",") + "}")
    }

    func mixedList(_ values: [Value]) -> Value? { nil }

    private func array(_ list: SQLList) -> String {
        let parameter = list.parameter.prefix { $0 != ":" }
        return "\(parameter)::\(list.kind == .texts ? "text" : "bigint")[]"
    }

    func isIn(_ list: SQLList) -> String { "= ANY (\(array(list)))" }

    func rows(of list: SQLList, as alias: String?) -> SQLListRows {
        let name = alias ?? "listed"
        return SQLListRows(
            source: "unnest(\(array(list))) WITH ORDINALITY AS \(name)(item, place)", place: "\(name).place - 1",
            value: "\(name).item")
    }

    // MARK: Comparisons and functions

    func isSame(_ a: String, _ b: String) -> String { "\(a) IS NOT DISTINCT FROM \(b)" }
    func isOther(_ a: String, _ b: String) -> String { "\(a) IS DISTINCT FROM \(b)" }
    func isPresent(_ value: String) -> String { "\(value) IS NOT NULL" }
    func value(_ value: String, or other: String) -> String { "COALESCE(\(value), \(other))" }
    func risen(_ version: String) -> String { "COALESCE(\(version), 0) + 1" }
    func larger(_ a: String, _ b: String) -> String { "GREATEST(\(a), \(b))" }
    func folded(_ text: String, _ options: Comparison.Options) -> String {
        "coredata.fold(\(text), \(options.rawValue))"
    }

    func isLike(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String {
        "coredata.is_like(\(text), \(pattern), \(options.rawValue))"
    }

    func matches(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String {
        "coredata.matches(\(text), \(pattern), \(options.rawValue))"
    }

    func contains(_ text: String, _ part: String) -> String { "strpos(\(text), \(part)) > 0" }

    func hasSuffix(_ text: String, _ suffix: String, bind: (Value) -> String) -> String {
        "right(\(text), \(suffix.unicodeScalars.count)) = \(bind(.text(suffix)))"
    }

    func content(_ cell: String, length: String?) -> String {
        "coredata.content(\(cell)\(length.map { ", " + $0 } ?? ""))"
    }

    func inlined(_ data: String) -> String { "'\\x01'::bytea || \(data)" }

    func call(_ name: String, _ arguments: [String], result: ValueType?) -> String {
        let call = "coredata.call('\(name)'\(arguments.map { ", to_jsonb(\($0))" }.joined()))"
        guard let result else { return call }
        let text = "(\(call) #>> '{}')"
        return switch result {
        case .int, .key: "\(text)::bigint"
        case .bool: "\(text)::smallint"
        case .double, .float, .date: "\(text)::double precision"
        case .decimal: "\(text)::numeric"
        case .text, .uri: "\(text) COLLATE \"C\""
        case .uuid: "\(text)::uuid"
        case .data: "decode(\(text), 'base64')"
        }
    }

    func test(_ op: Comparison.Operator, _ options: Comparison.Options, _ a: String, _ b: String) -> String {
        "coredata.test('\(op)', \(options.rawValue), to_jsonb(\(a)), to_jsonb(\(b)))"
    }

    var random: String { "random()" }
    var now: String { "(extract(epoch FROM clock_timestamp())::double precision - 978307200)" }
    func decimalSum(_ values: String) -> String { "COALESCE(SUM(\(values)), 0)" }
    func decimalAverage(_ values: String) -> String { "AVG(\(values))" }
    func derived(_ form: Derivation.TextForm, of text: String) -> String { "coredata.\(form)_text(\(text))" }
    func tombstone(_ column: String) -> String { "convert_to(\(column)::text, 'UTF8')" }

    func fileReference(_ column: String) -> (condition: String, name: String) {
        (
            "octet_length(\(column)) = \(ExternalReference.size) AND get_byte(\(column), 0) = 2",
            "convert_from(substring(\(column) FROM 2 FOR 36), 'UTF8')"
        )
    }

    // MARK: Selecting

    func collation(_ comparison: SortTerm.Comparison) -> String {
        switch comparison {
        case .binary: " COLLATE \"C\""
        case .caseInsensitive: " COLLATE coredata.without_case"
        case .localized: " COLLATE \"und-x-icu\""
        case .localizedCaseInsensitive: " COLLATE coredata.localized_without_case"
        case .localizedStandard: " COLLATE coredata.localized_standard"
        }
    }

    func nullOrder(isAscending: Bool) -> String { isAscending ? " NULLS FIRST" : " NULLS LAST" }
    func unindexed(_ column: String) -> String { "(SELECT \(column))" }

    func part(limit: String, offset: String?) -> String {
        " LIMIT NULLIF(\(limit), -1)" + (offset.map { " OFFSET \($0)" } ?? "")
    }

    func count(of rows: String) -> String { "SELECT COUNT(*) FROM (\(rows)) AS part" }

    /// What different rows are ordered by must be among their columns, collation and all.
    func distinct(_ columns: [String], from source: String, by order: [SQLDistinctOrder]) -> String {
        let named = columns.enumerated().map { "\($1) AS c\($0)" }.joined(separator: ", ")
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        let keys = order.map { "c\($0.column)\($0.suffix)" }.joined(separator: ", ")
        return "SELECT \(names) FROM (SELECT DISTINCT \(named) FROM \(source)) AS different"
            + (order.isEmpty ? "" : " ORDER BY \(keys)")
    }

    // MARK: Writing

    func insertNew(into table: String, _ columns: [String], _ values: [String]) -> String {
        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", "))) ON CONFLICT DO NOTHING"
    }

    func replace(in table: String, _ columns: [String], _ values: [String]) -> String {
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", "))) "
            + "ON CONFLICT (\(columns[0])) DO UPDATE SET \(changes)"
    }

    func held(_ column: String, in table: String) -> String { "\(table).\(column)" }

    // MARK: What there is

    var metadata: [String: String] { ["NSStoreType": "PostgreSQL"] }
    var tables: String { "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()" }

    func columns(of table: String) -> String {
        "SELECT attname, CASE WHEN atttypid = 'text'::regtype THEN '\(type(.text))' ELSE upper(format_type(atttypid, atttypmod)) END "
            + "FROM pg_attribute WHERE attrelid = \(oid(of: table)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
    }

    func indexes(of table: String) -> String {
        "SELECT i.relname, COALESCE(a.attname, '') FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
            + "LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey) "
            + "WHERE x.indrelid = \(oid(of: table)) AND NOT x.indisprimary"
    }

    func uniqueIndexes(of table: String) -> String {
        "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
            + "WHERE indrelid = \(oid(of: table)) AND indisunique AND NOT indisprimary"
    }

    var triggers: String { "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal" }

    var definitions: String? { nil }
    func renamingAlone(_ renames: [String]) -> [String] { renames }

    var joinColumns: String {
        "SELECT table_name, column_name FROM information_schema.columns "
            + "WHERE table_schema = current_schema() AND table_name ~ '^Z_[0-9]' ORDER BY table_name, ordinal_position"
    }

    private func oid(of table: String) -> String { "to_regclass('\(defined(table).replacing("'", with: "''"))')" }

    // MARK: Defining

    func indexed(_ column: String, _ kind: SlotKind, isAscending: Bool) -> String {
        "\(column)\(isAscending ? " NULLS FIRST" : " DESC NULLS LAST")"
    }

    func trigger(_ trigger: SQLTrigger) -> [String] {
        let moment =
            switch trigger.event {
            case .insert: "AFTER INSERT"
            case .update(let columns): "AFTER UPDATE OF " + columns.map(defined).joined(separator: ", ")
            case .delete: "AFTER DELETE"
            }
        let (table, column) = (defined(trigger.table), defined(trigger.column))
        let notice =
            "coredata.note('\(trigger.table)', \(defined("Z_ENT")), \(defined("Z_PK")), \(trigger.isInsertion))"
        return [
            "CREATE FUNCTION \(defined(trigger.name))() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE \(table) SET \(column) = "
                + "\(trigger.expression) WHERE \(trigger.rows); PERFORM \(notice) FROM \(table) WHERE \(trigger.rows); RETURN NULL; END $$",
            "CREATE TRIGGER \(defined(trigger.name)) \(moment) ON \(defined(trigger.watched)) FOR EACH ROW "
                + (trigger.condition.map { "WHEN (\($0)) " } ?? "") + "EXECUTE FUNCTION \(defined(trigger.name))()",
        ]
    }

    /// The function goes, and the trigger with it.
    func dropTrigger(_ trigger: SQLTrigger) -> String { "DROP FUNCTION IF EXISTS \(defined(trigger.name))() CASCADE" }
    func dropSpatialIndex(_ index: SQLSpatialIndex) -> [String] { ["DROP INDEX IF EXISTS \(defined(index.name))"] }

    /// Two numbers are a point; of more or fewer the first leads.
    func spatialIndex(_ index: SQLSpatialIndex) -> [String] {
        let (name, columns) = (defined(index.name), index.columns.map(defined))
        return columns.count == 2
            ? ["CREATE INDEX \(name) ON \(defined(index.table)) USING gist (point(\(columns.joined(separator: ", "))))"]
            : ["CREATE INDEX \(name) ON \(defined(index.table)) (\(columns.joined(separator: ", ")))"]
    }
}
