// Predicates and sort descriptors from values: the way back from `tree` and `term`.

import CoreDataValues
import enum CoreDataValues.Predicate
import Foundation

extension NSPredicate {
    /// The predicate object of a value.
    ///
    /// - Parameter objects: answers what stands for a row that the condition names.
    package static func made(of predicate: Predicate, objects: @escaping (ObjectKey) -> Any?) -> NSPredicate {
        FormatReader([], objects: objects).object(predicate)
    }
}

extension NSSortDescriptor {
    /// The descriptor of one key of a sort order.
    package static func made(of term: SortTerm) -> NSSortDescriptor {
        let comparison: SortSelector =
            switch term.comparison {
            case .binary: .compare
            case .caseInsensitive: .caseInsensitiveCompare
            case .localized: .localizedCompare
            case .localizedCaseInsensitive: .localizedCaseInsensitiveCompare
            case .localizedStandard: .localizedStandardCompare
            }
        return NSSortDescriptor(
            key: term.keyPath.joined(separator: "."), ascending: term.isAscending, comparison: comparison)
    }
}
