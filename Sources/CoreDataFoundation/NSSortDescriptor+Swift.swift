// Sort descriptors of Swift's.

import CoreDataValues
import Foundation

extension NSSortDescriptor {
    /// The descriptor that orders as one of Swift's does: nil first, texts by Unicode scalar unless it was made with `localizedStandard`
    /// or `localized`.
    public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        guard let keyPath = sortDescriptor.keyPath else {
            misuse("A SortDescriptor of \(Compared.self) has no key path; make it of one.")
        }
        if let comparator = sortDescriptor.stringComparator,
            String.StandardComparator(comparator, order: .forward) != .lexical
        {
            misuse(
                "A SortDescriptor of \(Compared.self) orders texts by \(comparator); use NSSortDescriptor(key:ascending:selector:)."
            )
        }
        self.init(descriptor: { NSSortDescriptor.made(of: keyPath, isAscending: sortDescriptor.order == .forward) })
    }

    private static func made<Root>(of keyPath: PartialKeyPath<Root>, isAscending: Bool) -> NSSortDescriptor {
        func typed<Value>(_ type: Value.Type) -> NSSortDescriptor? {
            // Without anything generic in between, by which the comparators would not be known again.
            let order = (KeyValue.unwrappedType(type) as? any OrderedText.Type)?.order
            let comparator =
                switch order {
                case .localized: StoreComparator.localized
                case .localizedStandard: StoreComparator.localizedStandard
                case nil, .binary, .caseInsensitive, .localizedCaseInsensitive: StoreComparator.byValue
                }
            return (keyPath as? KeyPath<Root, Value>).map {
                NSSortDescriptor(keyPath: $0, ascending: isAscending, comparator: comparator)
            }
        }
        guard let made = _openExistential(type(of: keyPath).valueType, do: typed)
        else { misuse("The key path \(keyPath) cannot be sorted by.") }
        return made
    }
}

/// How a `SortDescriptor` orders texts beside `lexical`: those of `String.StandardComparator` that Foundation on Linux lacks.
public struct LocalizedTextOrder: Hashable, Sendable {
    fileprivate enum Kind { case localized, localizedStandard }
    fileprivate let kind: Kind

    /// As file names are ordered for people: by the current locale, numbers in texts by their value. The default on Apple's systems.
    public static let localizedStandard = LocalizedTextOrder(kind: .localizedStandard)
    /// By the current locale.
    public static let localized = LocalizedTextOrder(kind: .localized)
}

extension SortDescriptor {
    /// Orders a text by the current locale: `SortDescriptor(\Casualty.name, comparator: .localizedStandard)`. Objects sort as their
    /// rows do.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedTextOrder, order: SortOrder = .forward
    ) {
        switch comparator.kind {
        case .localized: self.init(sendable(keyPath.appending(path: \.inLocalizedOrder)), order: order)
        case .localizedStandard: self.init(sendable(keyPath.appending(path: \.inStandardOrder)), order: order)
        }
    }

    /// The same of a text that may be nil, which comes first.
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedTextOrder,
        order: SortOrder = .forward
    ) {
        switch comparator.kind {
        case .localized: self.init(sendable(keyPath.appending(path: \.inLocalizedOrder)), order: order)
        case .localizedStandard: self.init(sendable(keyPath.appending(path: \.inStandardOrder)), order: order)
        }
    }
}

/// A key path of two that may be sent, the latter a literal.
private func sendable<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> any KeyPath<Root, Value> & Sendable {
    unsafeBitCast(keyPath, to: (any KeyPath<Root, Value> & Sendable).self)
}

/// A text at the end of a sort descriptor's key path, whose type says how it is ordered: a `SortDescriptor` knows `<` alone. It goes
/// by its raw value where the path is asked for its name.
private protocol OrderedText: RawRepresentable<String>, Comparable {
    static var order: SortTerm.Comparison { get }
}

extension OrderedText {
    static func < (a: Self, b: Self) -> Bool {
        TextComparison.compare(a.rawValue, b.rawValue, by: order) == .orderedAscending
    }
}

private struct LocalizedText: OrderedText {
    let rawValue: String
    static var order: SortTerm.Comparison { .localized }
}

private struct LocalizedStandardText: OrderedText {
    let rawValue: String
    static var order: SortTerm.Comparison { .localizedStandard }
}

extension String {
    fileprivate var inLocalizedOrder: LocalizedText { LocalizedText(rawValue: self) }
    fileprivate var inStandardOrder: LocalizedStandardText { LocalizedStandardText(rawValue: self) }
}

extension String? {
    fileprivate var inLocalizedOrder: LocalizedText? { map(LocalizedText.init) }
    fileprivate var inStandardOrder: LocalizedStandardText? { map(LocalizedStandardText.init) }
}
