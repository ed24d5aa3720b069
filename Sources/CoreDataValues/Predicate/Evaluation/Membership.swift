// IN over a long constant list: one hash look-up instead of many comparisons.

import Foundation

/// A set of constants under the equality of `ValueOrder`. Texts are folded once, as the options want.
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
        init?(_ value: Value, _ options: Comparison.Options = []) {
            switch value {
            case .null: self = .null
            case .bool(let flag): self = .int(flag ? 1 : 0)
            case .int(let int): self = .int(int)
            case .double(let double), .date(let double):
                if double.isNaN { return nil }
                self = Int64(exactly: double).map(Key.int) ?? .double(double)
            case .decimal: return nil
            case .text(let text), .uri(let text):
                self = .text(Array(TextComparison.fold(text, options: options).utf8))
            case .data(let data): self = .data(data)
            case .uuid(let uuid): self = .uuid(uuid)
            case .key(let key): self = .key(key)
            }
        }
    }
    private let keys: Set<Key>
    private let options: Comparison.Options

    /// nil when a value has no key, or a locale says what is equal; the list must then be searched.
    init?(_ values: [Value], _ options: Comparison.Options) {
        guard !options.contains(.localeSensitive) else { return nil }
        var keys = Set<Key>()
        for value in values {
            guard let key = Key(value, options) else { return nil }
            keys.insert(key)
        }
        (self.keys, self.options) = (keys, options)
    }

    /// nil when the value has no key and must be compared with each.
    func contains(_ value: Value) -> Bool? { Key(value, options).map(keys.contains) }
}
