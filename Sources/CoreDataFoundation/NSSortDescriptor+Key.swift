// Sort descriptors by key, and by key paths of optional values.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// How the texts under a key are ordered; the names are those of Apple's selectors.
public enum SortSelector: String, Sendable, CaseIterable {
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
        self =
            ObjectIdentifier(Self.self) == ObjectIdentifier(NSSortDescriptor.self)
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

/// A descriptor that reads its key by key-value coding. nil sorts first, ascending; a key that an object does not have is nil.
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
        return Operand(any: KeyValue.value(of: object, forKeyPath: name, unknown: .isNil))
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
        self.init(keyPath: keyPath, ascending: ascending, comparator: StoreComparator.byValue)
    }

    /// Sorts by an attribute of a type that Swift does not compare, such as `Bool`.
    @_disfavoredOverload
    public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(keyPath: keyPath, ascending: ascending, comparator: StoreComparator.byValue)
    }

    /// The key, also of a descriptor made by a key path of a managed object class; nil where the path has no name, and for the
    /// objects themselves.
    public var key: String? {
        if let keyed = self as? KeySortDescriptor { return keyed.name }
        return try? keyPath.dottedName()
    }

    /// The name of the comparison; nil when it is the program's own.
    public var selector: String? {
        guard let keyed = self as? KeySortDescriptor else {
            return StoreComparator.selector(of: comparator)?.rawValue
        }
        guard case .selector(let selector) = keyed.rule else { return nil }
        return selector.rawValue
    }

    /// The descriptor as a value.
    ///
    /// - Parameter keys: tells the keys of a key path.
    /// - Throws: `PredicateError` for what a store cannot order by.
    package func term(keys: (AnyKeyPath) throws -> [String] = { try $0.keys() }) throws -> SortTerm {
        guard let keyed = self as? KeySortDescriptor else { return try pathTerm(keys) }
        guard case .selector(let selector) = keyed.rule else {
            throw PredicateError("A sort by the key “\(keyed.name ?? "self")” with a comparator cannot run in a store.")
        }
        let comparison = selector.comparison
        let isAscending = keyed.isAscending
        guard var path = keyed.name else {
            throw PredicateError(
                "A sort descriptor without a named key cannot run in a store; use NSSortDescriptor(key:).")
        }
        let isSingle = path.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return true }
            return memchr(base, 0x2e, bytes.count) == nil
        }
        let keys = isSingle ? [path] : path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return SortTerm(keyPath: keys, isAscending: isAscending, comparison: comparison)
    }

    /// The same of a descriptor that Foundation made of a key path.
    private func pathTerm(_ keys: (AnyKeyPath) throws -> [String]) throws -> SortTerm {
        let path = try keys(keyPath)
        guard let selector = StoreComparator.selector(of: comparator) else {
            throw PredicateError(
                "A sort by the key path “\(path.joined(separator: "."))” with a comparator cannot run in a store.")
        }
        return SortTerm(keyPath: path, isAscending: ascending, comparison: selector.comparison)
    }
}

/// The comparators of descriptors that were given none, or one of the store's orders of texts.
enum StoreComparator {
    private final class Nothing { let value = 0 }
    private struct Held { let comparator: Comparator }

    /// For values that Swift does not compare. An enumeration counts by its raw value.
    static let byValue: @Sendable (Any, Any) -> ComparisonResult = { a, b in compare(a, b, .binary) }
    static let localized: @Sendable (Any, Any) -> ComparisonResult = { a, b in compare(a, b, .localized) }
    static let localizedStandard: @Sendable (Any, Any) -> ComparisonResult = { a, b in compare(a, b, .localizedStandard)
    }

    private static func compare(_ a: Any, _ b: Any, _ comparison: SortTerm.Comparison) -> ComparisonResult {
        ValueOrder.sortOrder(
            Operand(any: KeyValue.rawValue(a)).comparable, Operand(any: KeyValue.rawValue(b)).comparable, by: comparison
        )
    }

    /// Foundation makes its comparators of one function for all types; a closure's first word says which function it is.
    private static let selectors: [UInt: SortSelector] = [
        function(NSSortDescriptor(keyPath: \Nothing.value, ascending: true).comparator): .compare,
        function(byValue): .compare,
        function(localized): .localizedCompare, function(localizedStandard): .localizedStandardCompare,
    ]

    /// How a store orders as a comparator does; nil for one of the program's own.
    static func selector(of comparator: @escaping Comparator) -> SortSelector? { selectors[function(comparator)] }

    private static func function(_ comparator: @escaping Comparator) -> UInt {
        withUnsafeBytes(of: Held(comparator: comparator)) { $0.load(as: UInt.self) }
    }
}
