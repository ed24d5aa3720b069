// Sort descriptors of Swift's.

import CoreDataValues
import Foundation

extension NSSortDescriptor {
    /// The descriptor that orders as one of Swift's does: nil first, texts by Unicode scalar.
    ///
    /// A comparator of texts other than `lexical` is a misuse, since Foundation on Linux has no other.
    public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        guard let keyPath = sortDescriptor.keyPath else {
            misuse("A SortDescriptor of \(Compared.self) has no key path; make it of one.")
        }
        if let comparator = sortDescriptor.stringComparator, String.StandardComparator(comparator, order: .forward) != .lexical {
            misuse("A SortDescriptor of \(Compared.self) orders texts by \(comparator); use NSSortDescriptor(key:ascending:selector:).")
        }
        self.init(descriptor: { NSSortDescriptor.made(of: keyPath, isAscending: sortDescriptor.order == .forward) })
    }

    private static func made<Root>(of keyPath: PartialKeyPath<Root>, isAscending: Bool) -> NSSortDescriptor {
        func typed<Value>(_ type: Value.Type) -> NSSortDescriptor? {
            (keyPath as? KeyPath<Root, Value>).map {
                NSSortDescriptor(keyPath: $0, ascending: isAscending, comparator: StoreComparator.byValue)
            }
        }
        guard let made = _openExistential(type(of: keyPath).valueType, do: typed)
        else { misuse("The key path \(keyPath) cannot be sorted by.") }
        return made
    }
}
