// How values compare in predicates and in sort orders.

import Foundation

/// Comparisons of single values.
package enum ValueOrder {
    /// Two-valued equality: null equals null and nothing else, numbers compare across their types, texts by scalar.
    package static func isEqual(_ a: Value, _ b: Value, options: Comparison.Options = []) -> Bool {
        if let x = text(a), let y = text(b) { return TextComparison.isEqual(x, y, options: options) }
        if let x = Number(a), let y = Number(b) { return x.order(y) == .orderedSame }
        return a == b
    }

    /// nil when the values have no order: one is null, or their types differ. `<` and its like are then false.
    package static func order(_ a: Value, _ b: Value, options: Comparison.Options = []) -> ComparisonResult? {
        if let x = text(a), let y = text(b) { return TextComparison.compare(x, y, options: options) }
        if let x = Number(a), let y = Number(b) { return x.order(y) }
        if let x = bytes(a), let y = bytes(b) { return bytesOrder(x, y) }
        return nil
    }

    /// The order of a sort key, ascending, total: null, then numbers, texts, bytes, objects, as SQLite orders its types.
    package static func sortOrder(
        _ a: Value, _ b: Value, by comparison: SortTerm.Comparison = .binary
    ) -> ComparisonResult {
        if let x = text(a), let y = text(b) { return TextComparison.compare(x, y, by: comparison) }
        if case .key(let x) = a, case .key(let y) = b {
            return x.number == y.number ? .orderedSame : x.number < y.number ? .orderedAscending : .orderedDescending
        }
        if let result = order(a, b) { return result }
        let (x, y) = (rank(a), rank(b))
        return x == y ? .orderedSame : x < y ? .orderedAscending : .orderedDescending
    }

    static func text(_ value: Value) -> String? {
        switch value {
        case .text(let text), .uri(let text): text
        case .null, .bool, .int, .double, .decimal, .date, .data, .uuid, .key: nil
        }
    }

    private static func bytes(_ value: Value) -> [UInt8]? {
        switch value {
        case .data(let data): [UInt8](data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }
        case .null, .bool, .int, .double, .decimal, .date, .text, .uri, .key: nil
        }
    }

    private static func bytesOrder(_ a: [UInt8], _ b: [UInt8]) -> ComparisonResult {
        a == b ? .orderedSame : a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
    }

    private static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        // NaN, which only compares here, sorts before the numbers.
        case .bool, .int, .decimal: 2
        case .double(let double), .date(let double): double.isNaN ? 1 : 2
        case .text, .uri: 3
        case .data, .uuid: 4
        case .key: 5
        }
    }
}
