// The aggregates that add up decimals.

import CCoreDataSQLite
import CoreDataValues
import Foundation

extension Connection {
    /// Registers sum and average of decimals before the first statement that asks for one: opening a store is not to pay for it.
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
