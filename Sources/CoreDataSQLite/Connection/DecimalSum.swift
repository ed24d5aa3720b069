// The aggregate that adds up decimals.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

extension Connection {
    /// Registers the sum of decimals before the first statement that asks for it: opening a store is not to pay for it.
    func addsDecimals(for sql: String) throws {
        guard !hasDecimalSum, sql.contains(ValueFunction.sum) else { return }
        let code = sqlite3_create_function_v2(
            handle, ValueFunction.sum, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, nil,
            { context, _, arguments in DecimalSum.step(context, arguments?[0]) }, { DecimalSum.end($0) }, nil)
        guard code == SQLITE_OK else { throw error(code, doing: "Registering a function", sql: nil) }
        hasDecimalSum = true
    }
}

/// Adds up reals as the decimals that they were before they were stored.
private final class DecimalSum {
    private var total = Decimal(0)

    private func add(_ value: OpaquePointer?) {
        switch sqlite3_value_numeric_type(value) {
        case SQLITE_NULL: return
        case SQLITE_INTEGER: total += Decimal(sqlite3_value_int64(value))
        default: total += Decimal(cell: "\(sqlite3_value_double(value))") ?? .nan
        }
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

    static func end(_ context: OpaquePointer?) {
        guard let state = state(context, makes: false), let sum = state.pointee else {
            sqlite3_result_double(context, 0)
            return
        }
        state.pointee = nil
        sqlite3_result_double(context, Double(sum.takeRetainedValue().total.description) ?? .nan)
    }
}
