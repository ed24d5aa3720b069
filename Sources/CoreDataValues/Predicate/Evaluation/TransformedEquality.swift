// Whether two pieces of data stand for equal values of a transformable attribute.

import Foundation
import Synchronization

/// What stores ask about values that only their transformers understand: the same function in SQL and in memory.
package enum TransformedEquality {
    /// Data of a row, data of a constant, a name; true or false, null for no data. The format language has no such function.
    package static var function: String { "equalValues:" }

    private static let known = Mutex<[String: @Sendable (Data, Data) -> Bool]>([:])

    /// - Parameter equal: answers for data that differ; asked on any thread.
    package static func register(_ name: String, _ equal: @escaping @Sendable (_ row: Data, _ constant: Data) -> Bool) {
        known.withLock { known in
            if known[name] == nil { known[name] = equal }
        }
    }

    static func holds(_ operands: [Operand]) -> Operand {
        guard case .value(.data(let row)) = operands[0], case .value(.data(let constant)) = operands[1],
            case .value(.text(let name)) = operands[2]
        else { return .value(.null) }
        if row == constant { return .value(.bool(true)) }
        let equal = known.withLock { $0[name] }
        return .value(.bool(equal?(row, constant) ?? false))
    }
}
