// Arrays and sets of Swift whose members are of a common type, told by their type alone.

import Foundation

/// A collection that is a constant of a predicate. To ask by a cast whether an array is an object of some class makes a Foundation
/// array of it, member by member, each time.
protocol PlainCollection {
    /// Whether its members are of a common type: one of a protocol's would lie in an `Any` inside an `Any`.
    static var isPlain: Bool { get }
    var members: [Any] { get }
}

/// Whether an object is such an array or set; an optional with one inside is none.
func isPlainCollection(_ object: Any) -> Bool { (type(of: object) as? any PlainCollection.Type)?.isPlain == true }

extension Array: PlainCollection {
    static var isPlain: Bool { isPlainMember(Element.self) }
    var members: [Any] {
        if ObjectIdentifier(Element.self) == ObjectIdentifier(Any.self) { return self as [Any] }
        return map { $0 }
    }
}

extension Set: PlainCollection {
    static var isPlain: Bool { isPlainMember(Element.self) }
    var members: [Any] { map { $0 } }
}

private let plainMembers: Set<ObjectIdentifier> = Set(
    ([
        Any.self, String.self, Int.self, Int64.self, Int32.self, Int16.self, Double.self, Float.self, Bool.self,
        Date.self, UUID.self,
        Data.self, URL.self, Decimal.self,
    ] as [Any.Type]).map { ObjectIdentifier($0) })

private func isPlainMember(_ type: Any.Type) -> Bool {
    plainMembers.contains(ObjectIdentifier(type)) || type is AnyClass
}
