// Functions that give SQL the values of memory.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// The functions that statements name. Behind each stands the code of memory.
enum ValueFunction {
    /// A name of `PredicateFunctions`, its arguments.
    static var call: String { "COREDATA_CALL" }
    /// The sum of decimals, added up as decimals: 0.1 and 0.2 are 0.3. Of none it is 0.
    static var sum: String { "COREDATA_SUM" }
    /// The sum of calculations with whole numbers: a real number where it does not fit, or where one of them is. Of none it is 0.
    static var wholeSum: String { "COREDATA_SUM_WHOLE" }
    /// The average of decimals, calculated as decimals.
    static var average: String { "COREDATA_AVERAGE" }
    /// The bytes of a value that may lie in a file; with a length NULL for others than so many.
    static var content: String { "COREDATA_CONTENT" }
    /// The place of an operator in `Comparison.Operator.allCases`, options, two values: 0 or 1.
    static var test: String { "COREDATA_TEST" }
    /// An element of a list as `ListedValue` writes it: the value.
    static var listed: String { "COREDATA_LISTED" }
}

/// Registers what calls the functions and comparisons of predicates. They are DIRECTONLY, like all that answers requests.
enum ValueFunctions {
    static func register(on handle: OpaquePointer, path: String) {
        registerContent(on: handle, path: path)
        registerListed(on: handle)
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        sqlite3_create_function_v2(
            handle, ValueFunction.call, -1, flags, nil,
            { context, count, arguments in
                guard let context, let arguments, count > 0, !TextFunctions.breaksOff(context),
                    case .text(let name) = ValueFunctions.value(arguments[0])
                else { return }
                let operands = (1..<Int(count)).map { Operand.value(ValueFunctions.value(arguments[$0])) }
                ValueFunctions.answer(PredicateFunctions.result(of: name, operands), context)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, ValueFunction.test, 4, flags, nil,
            { context, _, arguments in
                guard let context, let arguments, !TextFunctions.breaksOff(context) else { return }
                let operators = Comparison.Operator.allCases
                let place = Int(sqlite3_value_int(arguments[0]))
                guard operators.indices.contains(place) else { return }
                let options = Comparison.Options(rawValue: UInt8(truncatingIfNeeded: sqlite3_value_int(arguments[1])))
                let holds = Comparison.holds(
                    ValueFunctions.value(arguments[2]), operators[place], ValueFunctions.value(arguments[3]), options)
                sqlite3_result_int(context, holds ? 1 : 0)
            }, nil, nil, nil)
    }

    /// Which files belong to a connection.
    private final class Place {
        let path: String
        init(_ path: String) { self.path = path }

        /// - Throws: 134060 for a file that cannot be read.
        func content(_ cell: Data, length: Int?) throws -> Data? {
            guard let name = cell.withUnsafeBytes(ExternalReference.name) else {
                return length.map { $0 + 1 == cell.count } ?? true ? ExternalReference.content(cell) : nil
            }
            let folder = ExternalFolder(store: URL(fileURLWithPath: path))
            if let length, let size = folder.size(name), size != length { return nil }
            return try folder.read(name)
        }
    }

    private static func registerContent(on handle: OpaquePointer, path: String) {
        sqlite3_create_function_v2(
            handle, ValueFunction.content, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
            Unmanaged.passRetained(Place(path)).toOpaque(),
            { context, count, arguments in
                guard let context, let arguments, count > 0, !TextFunctions.breaksOff(context),
                    let place = sqlite3_user_data(context),
                    case .data(let cell) = ValueFunctions.value(arguments[0])
                else { return }
                let length = count > 1 ? Int(sqlite3_value_int64(arguments[1])) : nil
                do {
                    let content = try Unmanaged<Place>.fromOpaque(place).takeUnretainedValue().content(
                        cell, length: length)
                    if let content { ValueFunctions.answer(content, context) }
                } catch {
                    sqlite3_result_error(context, (error as? StoreError)?.sentence ?? "\(error)", -1)
                }
            }, nil, nil, { if let place = $0 { Unmanaged<Place>.fromOpaque(place).release() } })
    }

    private static func registerListed(on handle: OpaquePointer) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        sqlite3_create_function_v2(
            handle, ValueFunction.listed, 1, flags, nil,
            { context, _, arguments in
                guard let context, let arguments, let bytes = sqlite3_value_text(arguments[0]) else { return }
                let count = Int(sqlite3_value_bytes(arguments[0]))
                ValueFunctions.answer(ListedValue.value(UnsafeBufferPointer(start: bytes, count: count)), context)
            }, nil, nil, nil)
    }

    private static func value(_ value: OpaquePointer?) -> Value {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .int(sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .double(sqlite3_value_double(value))
        case SQLITE_TEXT:
            guard let bytes = sqlite3_value_text(value) else { return .null }
            let count = Int(sqlite3_value_bytes(value))
            return .text(String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let count = Int(sqlite3_value_bytes(value))
            guard count > 0, let bytes = sqlite3_value_blob(value) else { return .data(Data()) }
            return .data(Data(bytes: bytes, count: count))
        default: return .null
        }
    }

    private static func answer(_ value: Value, _ context: OpaquePointer) {
        switch value {
        case .null, .key: return
        case .bool(let flag): sqlite3_result_int(context, flag ? 1 : 0)
        case .int(let number): sqlite3_result_int64(context, number)
        case .double(let number), .date(let number): sqlite3_result_double(context, number)
        case .decimal(let number): sqlite3_result_double(context, Double(number.description) ?? .nan)
        case .text(let text), .uri(let text): TextFunctions.answer(text, context)
        case .data(let data): answer(data, context)
        case .uuid(let uuid): answer(withUnsafeBytes(of: uuid.uuid) { Data($0) }, context)
        }
    }

    private static func answer(_ data: Data, _ context: OpaquePointer) {
        data.withUnsafeBytes { bytes in
            coredata_sqlite_result_blob(
                context, bytes.baseAddress ?? UnsafeRawPointer(emptyByte), Int32(clamping: bytes.count))
        }
    }
}
