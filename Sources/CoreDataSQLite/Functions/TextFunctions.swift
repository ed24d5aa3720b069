// Functions and collations that give SQL the texts of memory.

import CCoreDataSQLite
import CoreDataValues
import Foundation

/// The functions and collations that statements name. Behind each stands the code that memory compares with.
enum TextFunction {
    /// Text, options: the text that stands for all texts equal to it.
    static var fold: String { "COREDATA_FOLD" }
    /// Text, pattern, options.
    static var like: String { "COREDATA_LIKE" }
    /// Text, pattern, options.
    static var matches: String { "COREDATA_MATCHES" }

    /// nil for SQLite's own BINARY.
    static func collation(_ comparison: SortTerm.Comparison) -> String? {
        switch comparison {
        case .binary: nil
        case .caseInsensitive: "COREDATA_CASE"
        case .localized: "COREDATA_LOCALE"
        case .localizedCaseInsensitive: "COREDATA_LOCALE_CASE"
        case .localizedStandard: "COREDATA_LOCALE_STANDARD"
        }
    }
}

/// Registers the text functions on a connection. They answer NULL for NULL and are DIRECTONLY: no trigger or
/// view of a foreign file can call them.
enum TextFunctions {
    private static var flags: Int32 {
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    }

    /// - Parameter connection: closes the handle before it goes.
    static func register(on handle: OpaquePointer, for connection: Connection) {
        sqlite3_create_function_v2(
            handle, TextFunction.fold, 2, flags, nil,
            { context, _, arguments in
                guard let context, let arguments, !TextFunctions.breaksOff(context),
                    let text = TextFunctions.text(arguments[0])
                else { return }
                let options = TextFunctions.options(arguments[1])
                TextFunctions.answer(TextComparison.fold(text, options: options), context)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, TextFunction.like, 3, flags, nil,
            { context, _, arguments in
                guard let context, let arguments, !TextFunctions.breaksOff(context),
                    let text = TextFunctions.text(arguments[0])
                else { return }
                let matcher = TextFunctions.matcher(context, arguments) { pattern, options in
                    LikePattern(pattern, options: options).matches
                }
                sqlite3_result_int(context, matcher?.matches(text) == true ? 1 : 0)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, TextFunction.matches, 3, flags, nil,
            { context, _, arguments in
                guard let context, let arguments, !TextFunctions.breaksOff(context),
                    let text = TextFunctions.text(arguments[0])
                else { return }
                let matcher = TextFunctions.matcher(context, arguments) { pattern, options in
                    (try? RegularPattern(pattern, options: options))?.matches
                }
                sqlite3_result_int(context, matcher?.matches(text) == true ? 1 : 0)
            }, nil, nil, nil)
        registerCollations(on: handle, Unmanaged.passUnretained(connection).toOpaque())
    }

    /// Ends the statement of a task that was cancelled. SQLite itself asks every thousand steps, which take long where texts do.
    static func breaksOff(_ context: OpaquePointer) -> Bool {
        guard Cancellation.current?.isCancelled == true else { return false }
        sqlite3_result_error_code(context, SQLITE_INTERRUPT)
        return true
    }

    private static func registerCollations(on handle: OpaquePointer, _ connection: UnsafeMutableRawPointer) {
        collation(handle, connection, .caseInsensitive) { TextFunctions.compare($0, $1, $2, $3, $4, .caseInsensitive) }
        collation(handle, connection, .localized) { TextFunctions.compare($0, $1, $2, $3, $4, .localized) }
        collation(handle, connection, .localizedCaseInsensitive) {
            TextFunctions.compare($0, $1, $2, $3, $4, .localizedCaseInsensitive)
        }
        collation(handle, connection, .localizedStandard) {
            TextFunctions.compare($0, $1, $2, $3, $4, .localizedStandard)
        }
    }

    private typealias Collation =
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32

    private static func collation(
        _ handle: OpaquePointer, _ connection: UnsafeMutableRawPointer, _ comparison: SortTerm.Comparison,
        _ compare: Collation
    ) {
        guard let name = TextFunction.collation(comparison) else { return }
        sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, connection, compare, nil)
    }

    private static func compare(
        _ connection: UnsafeMutableRawPointer?, _ aSize: Int32, _ a: UnsafeRawPointer?, _ bSize: Int32,
        _ b: UnsafeRawPointer?,
        _ order: SortTerm.Comparison
    ) -> Int32 {
        if let connection, let watch = Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().watch,
            watch.skips()
        {
            return 0
        }
        let x = String(decoding: UnsafeRawBufferPointer(start: a, count: Int(aSize)), as: UTF8.self)
        let y = String(decoding: UnsafeRawBufferPointer(start: b, count: Int(bSize)), as: UTF8.self)
        return Int32(TextComparison.compare(x, y, by: order).rawValue)
    }

    /// A pattern made once for a statement: SQLite keeps it beside the constant argument.
    private final class Matcher {
        let matches: (String) -> Bool
        init(_ matches: @escaping (String) -> Bool) { self.matches = matches }
    }

    private static func matcher(
        _ context: OpaquePointer, _ arguments: UnsafeMutablePointer<OpaquePointer?>,
        _ make: (String, Comparison.Options) -> ((String) -> Bool)?
    ) -> Matcher? {
        if let kept = sqlite3_get_auxdata(context, 1) {
            return Unmanaged<Matcher>.fromOpaque(kept).takeUnretainedValue()
        }
        guard let pattern = text(arguments[1]), let matches = make(pattern, options(arguments[2])) else {
            return nil
        }
        let matcher = Matcher(matches)
        sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(matcher).toOpaque()) { kept in
            if let kept { Unmanaged<Matcher>.fromOpaque(kept).release() }
        }
        return matcher
    }

    private static func text(_ value: OpaquePointer?) -> String? {
        guard sqlite3_value_type(value) != SQLITE_NULL, let bytes = sqlite3_value_text(value) else {
            return nil
        }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func options(_ value: OpaquePointer?) -> Comparison.Options {
        Comparison.Options(rawValue: UInt8(truncatingIfNeeded: sqlite3_value_int(value)))
    }

    static func answer(_ text: String, _ context: OpaquePointer) {
        var text = text
        text.withUTF8 { bytes in
            let base = UnsafeRawPointer(bytes.baseAddress ?? UnsafePointer(emptyByte))
            coredata_sqlite_result_text(
                context, base.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count))
        }
    }
}
