// The aggregates that add up decimals, and whole numbers that may not fit.

import CCoreDataSQLite
import CoreDataValues
import Foundation

extension Connection {
    /// Registers these aggregates before the first statement that asks for one: opening a store is not to pay for it.
    func addsDecimals(for sql: String) throws {
        guard !hasDecimalSum, sql.contains(ValueFunction.sum) || sql.contains(ValueFunction.average) else { return }
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        var code = sqlite3_create_function_v2(
            handle, ValueFunction.sum, 1, flags, nil, nil,
            { context, _, arguments in DecimalSum.step(context, arguments?[0]) },
            { DecimalSum.answer(DecimalSum.end($0)?.total ?? 0, $0) }, nil)
        if code == SQLITE_OK {
            code = sqlite3_create_function_v2(
                handle, ValueFunction.average, 1, flags, nil, nil,
                { context, _, arguments in DecimalSum.step(context, arguments?[0]) },
                { context in
                    guard let sum = DecimalSum.end(context), sum.count > 0 else { return }
                    DecimalSum.answer(sum.total / Decimal(sum.count), context)
                }, nil)
        }
        if code == SQLITE_OK {
            code = sqlite3_create_function_v2(
                handle, ValueFunction.wholeSum, 1, flags, nil, nil,
                { context, _, arguments in WholeSum.step(context, arguments?[0]) }, { WholeSum.answer($0) }, nil)
        }
        guard code == SQLITE_OK else { throw error(code, doing: "Registering a function", sql: nil) }
        hasDecimalSum = true
    }
}

/// Adds up reals as the decimals that they were before they were stored.
private final class DecimalSum {
    private(set) var total = Decimal(0)
    private(set) var count = 0

    private func add(_ value: OpaquePointer?) {
        switch sqlite3_value_numeric_type(value) {
        case SQLITE_NULL: return
        case SQLITE_INTEGER: total += Decimal(sqlite3_value_int64(value))
        default: total += Decimal(cell: "\(sqlite3_value_double(value))") ?? .nan
        }
        count += 1
    }

    private static func state(_ context: OpaquePointer?, makes: Bool) -> UnsafeMutablePointer<Unmanaged<DecimalSum>?>? {
        sqlite3_aggregate_context(context, makes ? Int32(MemoryLayout<Unmanaged<DecimalSum>?>.size) : 0)?
            .assumingMemoryBound(to: Unmanaged<DecimalSum>?.self)
    }

    static func step(_ context: OpaquePointer?, _ value: OpaquePointer?) {
        guard let state = state(context, makes: true) else { return }
        let sum = state.pointee ?? Unmanaged.passRetained(DecimalSum())
        state.pointee = sum
        sum.takeUnretainedValue().add(value)
    }

    /// nil where no row was there.
    static func end(_ context: OpaquePointer?) -> DecimalSum? {
        guard let state = state(context, makes: false), let sum = state.pointee else { return nil }
        state.pointee = nil
        return sum.takeRetainedValue()
    }

    static func answer(_ number: Decimal, _ context: OpaquePointer?) {
        sqlite3_result_double(context, Double(number.description) ?? .nan)
    }
}

/// Adds up whole numbers exactly, in two halves; what is a real number already apart. SQLite's zeros are a sum of nothing.
private struct WholeSum {
    private var high: Int64
    private var low: Int64
    private var real: Double
    private var realCount: Int64

    private mutating func add(_ value: OpaquePointer?) {
        switch sqlite3_value_numeric_type(value) {
        case SQLITE_NULL: return
        case SQLITE_INTEGER:
            let number = sqlite3_value_int64(value)
            high += number >> 32
            low += number & 0xffff_ffff
        default:
            real += sqlite3_value_double(value)
            realCount += 1
        }
    }

    static func step(_ context: OpaquePointer?, _ value: OpaquePointer?) {
        sqlite3_aggregate_context(context, Int32(MemoryLayout<WholeSum>.size))?.assumingMemoryBound(to: WholeSum.self)
            .pointee.add(value)
    }

    static func answer(_ context: OpaquePointer?) {
        guard let sum = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: WholeSum.self).pointee else {
            return sqlite3_result_int64(context, 0)
        }
        let whole = Int128(sum.high) << 32 + Int128(sum.low)
        if sum.realCount == 0, let whole = Int64(exactly: whole) {
            sqlite3_result_int64(context, whole)
        } else {
            sqlite3_result_double(context, Double(whole) + sum.real)
        }
    }
}
