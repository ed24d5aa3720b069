// What a plan wants of the rows that it finds.

/// The form of a plan's result.
package enum Projection: Sendable {
    /// Rows with their cells.
    case rows
    /// Keys, versions and entities alone.
    case keys
    /// How many there are.
    case count
    /// Columns of values without an entity, read by `StoreReader.openValues`.
    case values(ValueProjection)
}

/// Columns of values: of each row, or of each group of rows.
///
/// In a column, in `having` and in a sort key `count:`, `sum:`, `min:`, `max:` and `average:` of one value (or `@count`, `@sum.x` … at
/// the start of a key path) stand for all rows of the group, of its different values alone where the argument is `distinct:`. Of a
/// to-many they stand, as ever, for the members of one row. Without grouping, aggregates make all rows one group, also where there
/// are no rows.
///
/// A class, so that plans without one are copied as cheaply as before.
package final class ValueProjection: Sendable {
    /// A value with a name, which sort keys and `having` (`$name`) can use.
    package struct Column: Sendable, Hashable {
        package let name: String
        package let expression: Expression
        package init(_ name: String, _ expression: Expression) {
            self.name = name
            self.expression = expression
        }
    }
    package let columns: [Column]
    /// What the rows of a group have in common.
    package let grouping: [Expression]
    /// Which groups are wanted.
    package let having: Predicate?
    /// Whether equal rows of values come once.
    package let isDistinct: Bool

    package init(_ columns: [Column], grouping: [Expression] = [], having: Predicate? = nil, isDistinct: Bool = false) {
        self.columns = columns
        self.grouping = grouping
        self.having = having
        self.isDistinct = isDistinct
    }
}

extension Projection {
    /// Whether both are entity rows of one form.
    package func isSameRows(as other: Projection) -> Bool {
        switch self {
        case .rows: if case .rows = other { true } else { false }
        case .keys: if case .keys = other { true } else { false }
        case .count, .values: false
        }
    }
}
