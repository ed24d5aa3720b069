// Sort descriptors by key, and by key paths of optional values.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// How the texts under a key are ordered; the names are those of Apple's selectors.
public enum SortSelector: String, Sendable {
    case compare = "compare:"
    case caseInsensitiveCompare = "caseInsensitiveCompare:"
    case localizedCompare = "localizedCompare:"
    case localizedCaseInsensitiveCompare = "localizedCaseInsensitiveCompare:"
    case localizedStandardCompare = "localizedStandardCompare:"

    var comparison: SortTerm.Comparison {
        switch self {
        case .compare: .binary
        case .caseInsensitiveCompare: .caseInsensitive
        case .localizedCompare: .localized
        case .localizedCaseInsensitiveCompare: .localizedCaseInsensitive
        case .localizedStandardCompare: .localizedStandard
        }
    }
}

public protocol SortDescriptorMaking {}

extension NSSortDescriptor: SortDescriptorMaking {}

extension SortDescriptorMaking {
    init(descriptor make: () -> NSSortDescriptor) {
        self = ObjectIdentifier(Self.self) == ObjectIdentifier(NSSortDescriptor.self)
            ? unsafeBitCast(make(), to: Self.self) : Self.subclass(make())
    }

    /// Apart from the usual case: the type of the cast's answer is asked of the runtime at each call (600 instructions).
    @inline(never)
    private static func subclass(_ descriptor: NSSortDescriptor) -> Self {
        guard let made = descriptor as? Self else {
            preconditionFailure("A sort descriptor by key cannot be made as a \(Self.self).")
        }
        return made
    }
}

/// A descriptor that reads its key by key-value coding. nil sorts first, ascending.
final class KeySortDescriptor: NSSortDescriptor {
    /// Stands in for the key path that Foundation's initialiser wants.
    private final class Nothing { let value = 0 }
    enum Rule {
        case selector(SortSelector)
        case comparator(Comparator)
    }
    let name: String?
    let rule: Rule
    /// `ascending`, without the look at Foundation's class.
    let isAscending: Bool

    init(name: String?, ascending: Bool, rule: Rule) {
        self.name = name
        self.rule = rule
        isAscending = ascending
        super.init(keyPath: \Nothing.value, ascending: ascending, comparator: { _, _ in .orderedSame })
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let a = value(of: object1)
        let b = value(of: object2)
        let result: ComparisonResult
        switch rule {
        case .comparator(let comparator):
            result = comparator(a.object ?? NSNull(), b.object ?? NSNull())
        case .selector(let selector):
            result = ValueOrder.sortOrder(a.comparable, b.comparable, by: selector.comparison)
        }
        return ascending ? result : result.reversed
    }

    private func value(of object: Any) -> Operand {
        guard let name else { return Operand(any: object) }
        return Operand(any: KeyValue.value(of: object, forKeyPath: name))
    }

    override var reversedSortDescriptor: Any { KeySortDescriptor(name: name, ascending: !ascending, rule: rule) }
    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        if self === other { return true }
        guard case .selector(let a) = rule, case .selector(let b) = other.rule else { return false }
        return a == b && name == other.name && ascending == other.ascending
    }

    override var hash: Int { name.hashValue ^ ascending.hashValue }
}

extension NSSortDescriptor {
    /// Sorts by a key or dotted key path; nil for the objects themselves. nil sorts first, texts by Unicode scalar.
    public convenience init(key: String?, ascending: Bool) {
        self.init(descriptor: { KeySortDescriptor(name: key, ascending: ascending, rule: .selector(.compare)) })
    }

    /// The same with one of Apple's comparisons.
    public convenience init(key: String?, ascending: Bool, comparison: SortSelector) {
        self.init(descriptor: { KeySortDescriptor(name: key, ascending: ascending, rule: .selector(comparison)) })
    }

    /// The same with the comparison's name as on Apple's systems, such as `"caseInsensitiveCompare:"`; an unknown name traps.
    public convenience init(key: String?, ascending: Bool, selector: String?) {
        guard let comparison = SortSelector(rawValue: selector ?? "compare:") else {
            preconditionFailure("“\(selector ?? "")” is no comparison; see SortSelector for those there are.")
        }
        self.init(key: key, ascending: ascending, comparison: comparison)
    }

    /// Sorts by a key with a comparison of the program's own, which a store cannot run. nil arrives as `NSNull`.
    public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.init(descriptor: { KeySortDescriptor(name: key, ascending: ascending, rule: .comparator(cmptr)) })
    }

    /// Sorts by an optional attribute; nil sorts first.
    public convenience init<Root, Value: Comparable>(keyPath: KeyPath<Root, Value?>, ascending: Bool) {
        self.init(keyPath: keyPath, ascending: ascending, comparator: NSSortDescriptor.byValue)
    }

    /// Sorts by an attribute of a type that Swift does not compare, such as `Bool`.
    @_disfavoredOverload
    public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(keyPath: keyPath, ascending: ascending, comparator: NSSortDescriptor.byValue)
    }

    private static var byValue: Comparator {
        { ValueOrder.sortOrder(Operand(any: $0).comparable, Operand(any: $1).comparable) }
    }

    /// The key of a descriptor made by key; nil for one made by key path or of the objects themselves.
    public var key: String? { (self as? KeySortDescriptor)?.name }

    /// The name of the comparison; nil when it is the program's own.
    public var selector: String? {
        guard let keyed = self as? KeySortDescriptor, case .selector(let selector) = keyed.rule else { return nil }
        return selector.rawValue
    }

    /// The descriptor as a value.
    ///
    /// - Parameter name: tells the dotted name of a key path, nil when it has none.
    /// - Throws: `PredicateError` for what a store cannot order by.
    package func term(name: (AnyKeyPath) -> String? = { _ in nil }) throws -> SortTerm {
        var comparison = SortTerm.Comparison.binary
        var path: String?
        var isAscending = true
        if let keyed = self as? KeySortDescriptor {
            guard case .selector(let selector) = keyed.rule else {
                throw PredicateError("A sort by the key “\(keyed.name ?? "self")” with a comparator cannot run in a store.")
            }
            comparison = selector.comparison
            path = keyed.name
            isAscending = keyed.isAscending
        } else {
            path = name(keyPath)
            isAscending = ascending
        }
        guard var path else {
            throw PredicateError("A sort descriptor without a named key cannot run in a store; use NSSortDescriptor(key:).")
        }
        let isSingle = path.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return true }
            return memchr(base, 0x2e, bytes.count) == nil
        }
        let keys = isSingle ? [path] : path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return SortTerm(keyPath: keys, isAscending: isAscending, comparison: comparison)
    }
}
