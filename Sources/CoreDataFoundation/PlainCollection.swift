// Arrays and sets of Swift, told by their type alone.

/// A collection that is a constant of a predicate. To ask by a cast whether an array is an object of some class makes a Foundation
/// array of it, member by member, each time.
protocol PlainCollection {
    var members: [Any] { get }
}

extension Array: PlainCollection {
    var members: [Any] { bases(self as? [AnyHashable], Element.self) ?? map { $0 } }
}

extension Set: PlainCollection {
    var members: [Any] { bases(self as Set<AnyHashable>, Element.self) ?? map { $0 } }
}

/// What hashable values of any type are of; nil for members of one type.
private func bases<Members: Sequence<AnyHashable>, Element>(
    _ members: @autoclosure () -> Members?, _ type: Element.Type
) -> [Any]? { ObjectIdentifier(type) == ObjectIdentifier(AnyHashable.self) ? members()?.map(\.base) : nil }

/// Whether an object is an array or a set of Swift; an optional with one inside is none.
func isPlainCollection(_ object: Any) -> Bool { type(of: object) is any PlainCollection.Type }
