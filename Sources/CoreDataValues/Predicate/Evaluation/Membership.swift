// IN over a long constant list: one hash look-up instead of many comparisons.

import Foundation

/// A set of constants under the equality of `ValueOrder`.
struct Membership {
    /// Equal for values that `ValueOrder.isEqual` calls equal.
    enum Key: Hashable {
        case null
        case int(Int64)
        case double(Double)
        case text([UInt8])
        case data(Data)
        case uuid(UUID)
        case key(ObjectKey)

        /// nil for numbers whose equality a hash cannot follow (decimals with a fraction, NaN).
        init?(_ value: Value) {
            switch value {
            case .null: self = .null
            case .bool(let flag): self = .int(flag ? 1 : 0)
            case .int(let int): self = .int(int)
            case .double(let double), .date(let double):
                if double.isNaN { return nil }
                self = Int64(exactly: double).map(Key.int) ?? .double(double)
            case .decimal: return nil
            case .text(let text), .uri(let text): self = .text(Array(text.utf8))
            case .data(let data): self = .data(data)
            case .uuid(let uuid): self = .uuid(uuid)
            case .key(let key): self = .key(key)
            }
        }
    }
    private let keys: Set<Key>

    /// nil when a value has no key; the list must then be searched.
    init?(_ values: [Value]) {
        var keys = Set<Key>()
        for value in values {
            guard let key = Key(value) else { return nil }
            keys.insert(key)
        }
        self.keys = keys
    }

    /// nil when the value has no key and must be compared with each.
    func contains(_ value: Value) -> Bool? { Key(value).map(keys.contains) }
}
