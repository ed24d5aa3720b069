// The functions that triggers of derived attributes call.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// Registers what Core Data's own triggers call: notices of changed rows, and the time. They are INNOCUOUS,
/// because triggers run with an untrusted schema; they read nothing and change nothing in the database.
enum DerivedFunctions {
    /// Names that occur in Apple-written stores, with the number of their arguments.
    private static let notices = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue",
    ]

    /// - Parameter touched: kept alive by the connection for as long as its handle is open.
    static func register(on handle: OpaquePointer, touched: TouchedRows) {
        let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
        for name in notices {
            sqlite3_create_function_v2(
                handle, name, 5, flags, Unmanaged.passUnretained(touched).toOpaque(),
                { context, _, arguments in
                    guard let arguments, let kept = sqlite3_user_data(context) else { return }
                    Unmanaged<TouchedRows>.fromOpaque(kept).takeUnretainedValue().insert(
                        TouchedRows.Row(
                            entity: sqlite3_value_int64(arguments[1]), number: sqlite3_value_int64(arguments[2])))
                }, nil, nil, nil)
        }
        sqlite3_create_function_v2(
            handle, "NSCoreDataNow", 0, flags, nil,
            { context, _, _ in sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate) }, nil, nil, nil)
        for form in Derivation.TextForm.allCases {
            register(form, named: name(of: form), on: handle, flags: SQLITE_UTF8 | SQLITE_DIRECTONLY)
        }
    }

    static func name(of form: Derivation.TextForm) -> String {
        switch form {
        case .canonical: "CoreDataCanonical"
        case .uppercase: "CoreDataUppercase"
        case .lowercase: "CoreDataLowercase"
        }
    }

    /// Registers a function of one text, whatever further arguments it is given.
    static func register(_ form: Derivation.TextForm, named name: String, on handle: OpaquePointer, flags: Int32) {
        let flags = flags | SQLITE_DETERMINISTIC
        switch form {
        case .canonical:
            sqlite3_create_function_v2(
                handle, name, -1, flags, nil,
                { DerivedFunctions.answer($0, $1, $2, .canonical) }, nil, nil, nil)
        case .uppercase:
            sqlite3_create_function_v2(
                handle, name, -1, flags, nil,
                { DerivedFunctions.answer($0, $1, $2, .uppercase) }, nil, nil, nil)
        case .lowercase:
            sqlite3_create_function_v2(
                handle, name, -1, flags, nil,
                { DerivedFunctions.answer($0, $1, $2, .lowercase) }, nil, nil, nil)
        }
    }

    private static func answer(
        _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
        _ form: Derivation.TextForm
    ) {
        guard let context, count > 0, let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL,
            let bytes = sqlite3_value_text(value)
        else { return }
        let size = Int(sqlite3_value_bytes(value))
        var text = form.text(String(decoding: UnsafeBufferPointer(start: bytes, count: size), as: UTF8.self))
        text.withUTF8 { bytes in
            let base = UnsafeRawPointer(bytes.baseAddress ?? UnsafePointer(emptyByte))
            coredata_sqlite_result_text(
                context, base.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count))
        }
    }
}

/// Gives meaning to the text functions of triggers that somebody else wrote: a trigger of `canonical:(name)`
/// calls some function of the name's column, and what that function has to answer is in the model.
struct ForeignTextTriggers {
    let map: StoreMap

    /// Without this a write to such a table would fail: SQLite knows no function of that name.
    func register(on connection: Connection) throws {
        for derived in map.derived {
            guard case .text(let form, let slot) = derived.derivation else { continue }
            let table = try map.table(of: derived.entity)
            guard let column = table.column(of: slot, in: derived.entity) else { continue }
            let prefix = "Z_DA_\(table.name)_\(map.schema[derived.entity].name)_\(derived.name)_"
            let statement = try Statement(
                "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1",
                on: connection)
            defer { statement.finish() }
            try statement.bind(1, .text(prefix))
            while try statement.step() {
                for name in functions(of: table.columns[column].name, in: statement.text(0) ?? "") {
                    if try isKnown(name, connection) { continue }
                    DerivedFunctions.register(
                        form, named: name, on: connection.handle, flags: SQLITE_UTF8 | SQLITE_INNOCUOUS)
                }
            }
        }
    }

    private func functions(of column: String, in sql: String) -> Set<String> {
        let name = NSRegularExpression.escapedPattern(for: column)
        guard
            let pattern = try? NSRegularExpression(
                pattern: "([A-Za-z_][A-Za-z0-9_]*)\\s*\\(\\s*(?:NEW\\s*\\.\\s*)?\"?\(name)\"?\\s*[,)]")
        else { return [] }
        let text = sql as NSString
        let found = pattern.matches(in: sql, range: NSRange(location: 0, length: text.length))
        return Set(found.map { text.substring(with: $0.range(at: 1)) })
    }

    private func isKnown(_ name: String, _ connection: Connection) throws -> Bool {
        let words: Set<String> = [
            "ON", "OF", "IN", "VALUES", "SET", "FROM", "WHEN", "WHERE", "AND", "OR", "NOT", "SELECT",
        ]
        if words.contains(name.uppercased()) { return true }
        let statement = try Statement(
            "SELECT 1 FROM pragma_function_list WHERE name = lower(?) OR name = ?", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(name))
        try statement.bind(2, .text(name))
        return try statement.step()
    }
}
