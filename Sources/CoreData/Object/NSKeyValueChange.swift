// The kinds of changes of a to-many that a program announces, between `willChange…` and `didChange…`.

/// How the members of an unordered to-many change between `willChangeValue` and `didChangeValue`.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus = 2
    /// All but the objects are removed.
    case intersect = 3
    /// The objects replace the members.
    case set = 4
}

/// How the members of an ordered to-many change between `willChange` and `didChange`.
public enum NSKeyValueChange: UInt, Sendable {
    case setting = 1
    case insertion = 2
    case removal = 3
    case replacement = 4
}
