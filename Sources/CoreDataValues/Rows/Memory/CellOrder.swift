// The order of values: null first, numbers by size, texts by Unicode scalar unless asked otherwise.

import Foundation

/// Compares values of one slot.
struct CellOrder {
    private let comparison: SortTerm.Comparison

    init(_ comparison: SortTerm.Comparison) { self.comparison = comparison }

    /// Below zero, zero or above zero. Values of different kinds, which one slot never holds, come by kind.
    func compare(_ a: Value, _ b: Value) -> Int {
        switch (a, b) {
        case (.bool(let x), .bool(let y)): return order(x ? 1 : 0, y ? 1 : 0)
        case (.int(let x), .int(let y)): return order(x, y)
        case (.double(let x), .double(let y)), (.date(let x), .date(let y)): return order(x, y)
        case (.decimal(let x), .decimal(let y)): return order(x, y)
        case (.text(let x), .text(let y)): return compare(x, y)
        case (.uri(let x), .uri(let y)): return bytes(x.utf8, y.utf8)
        case (.data(let x), .data(let y)): return bytes(x, y)
        case (.uuid(let x), .uuid(let y)):
            return withUnsafeBytes(of: x.uuid) { x in withUnsafeBytes(of: y.uuid) { bytes(x, $0) } }
        case (.key(let x), .key(let y)): return order(x.number, y.number)
        case (_, _): return order(rank(a), rank(b))
        }
    }

    private func compare(_ a: String, _ b: String) -> Int {
        switch comparison {
        case .binary: bytes(a.utf8, b.utf8)
        case .caseInsensitive: TextOrder.caseInsensitive(a, b)
        case .localized: TextOrder.localized(a, b)
        case .localizedCaseInsensitive: TextOrder.localizedCaseInsensitive(a, b)
        case .localizedStandard: TextOrder.localizedStandard(a, b)
        }
    }

    private func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .bool, .int, .double, .decimal, .date, .key: 1
        case .text, .uri: 2
        case .data, .uuid: 3
        }
    }

    private func order<T: Comparable>(_ x: T, _ y: T) -> Int { x < y ? -1 : x == y ? 0 : 1 }

    /// UTF-8 keeps the order of scalars, so that bytes do.
    private func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
        if a.lexicographicallyPrecedes(b) { return -1 }
        return b.lexicographicallyPrecedes(a) ? 1 : 0
    }
}
