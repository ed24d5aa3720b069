// In which words a database is told what every database can do.

import CoreDataValues

/// The words of one database. Statements are made of standard SQL and of these; a text is made once for each shape, so nothing here
/// is asked while rows move.
package protocol SQLDialect: Sendable {
    // MARK: Names, types, constants

    /// An identifier, so that no model name can mean anything else.
    func quoted(_ name: String) -> String
    /// An identifier as definitions spell it.
    func defined(_ name: String) -> String
    /// The declared type of a column.
    func type(_ kind: SlotKind) -> String
    /// A condition that always or never holds.
    func condition(_ holds: Bool) -> String
    /// A boolean as a column keeps it.
    func literal(_ flag: Bool) -> String

    // MARK: Parameters

    /// The parameter with a number, from 1, which may stand in a statement at several places.
    ///
    /// - Parameter example: a value of the kind that is bound.
    func parameter(_ number: Int, like example: Value) -> String
    /// The parameter with a number in a statement that has each of them once, in their order.
    func next(_ number: Int) -> String
    /// The value that is bound for a list of keys.
    func list(_ keys: [Int64]) -> Value
    /// The value that is bound for a list of constants; nil where they are bound one by one.
    func list(_ values: [Value]) -> Value?
    /// The value that is bound for a long list of constants of any kinds; nil where they are bound one by one.
    func mixedList(_ values: [Value]) -> Value?
    /// Whether a value is in the list that is bound to a parameter: what follows the value.
    func isIn(_ parameter: SQLList) -> String
    /// A bound list of keys as something to select from.
    func rows(of parameter: SQLList, as alias: String?) -> SQLListRows

    // MARK: Comparisons and functions

    /// Whether two values are the same, null being the same as null.
    func isSame(_ a: String, _ b: String) -> String
    func isOther(_ a: String, _ b: String) -> String
    func isPresent(_ value: String) -> String
    /// A value, or another one for null.
    func value(_ value: String, or other: String) -> String
    /// The version after one that may be null.
    func risen(_ version: String) -> String
    /// The larger of two numbers.
    func larger(_ a: String, _ b: String) -> String
    /// The text that stands for all texts equal to one.
    func folded(_ text: String, _ options: Comparison.Options) -> String
    /// - Parameter pattern: a parameter.
    func isLike(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String
    /// - Parameter pattern: a parameter.
    func matches(_ text: String, _ pattern: String, _ options: Comparison.Options) -> String
    /// - Parameter part: a parameter.
    func contains(_ text: String, _ part: String) -> String
    /// Whether a text ends with a constant.
    ///
    /// - Parameter bind: gives the parameter of a value.
    func hasSuffix(_ text: String, _ suffix: String, bind: (Value) -> String) -> String
    /// A function of `PredicateFunctions`.
    ///
    /// - Parameter result: the type of what it comes to, nil where the schema does not tell it.
    func call(_ name: String, _ arguments: [String], result: ValueType?) -> String
    /// What memory answers for two values of any kind; a condition.
    func test(_ op: Comparison.Operator, _ options: Comparison.Options, _ a: String, _ b: String) -> String
    /// The bytes of a value that may lie in a file; null where their number is another than the one that is given.
    func content(_ cell: String, length: String?) -> String
    /// Bytes as a column keeps them whose values may lie in files.
    func inlined(_ data: String) -> String
    /// A number from 0 up to 1.
    var random: String { get }
    /// The time, in seconds since 2001.
    var now: String { get }
    /// Decimals added up as decimals; 0 of none.
    func decimalSum(_ values: String) -> String
    /// A column of 64-bit numbers added up, as a real number where they do not fit; 0 of none.
    func wideSum(_ values: String) -> String
    /// Calculations with whole numbers added up, or different numbers (`DISTINCT a`); the same.
    func wholeSum(_ values: String) -> String
    func decimalAverage(_ values: String) -> String
    /// The text that is derived from another.
    func derived(_ form: Derivation.TextForm, of text: String) -> String
    /// A column as the history keeps what it had in a deleted row.
    func tombstone(_ column: String) -> String
    /// Whether a value refers to a file, and the name of that file.
    func fileReference(_ column: String) -> (condition: String, name: String)

    // MARK: Selecting

    /// What follows a text that sorts so.
    func collation(_ comparison: SortTerm.Comparison) -> String
    /// What follows a sort key, so that null comes first of all.
    func nullOrder(isAscending: Bool) -> String
    /// A column that no index is to be used for.
    func unindexed(_ column: String) -> String
    /// What ends a statement that wants a part of its rows.
    ///
    /// - Parameter limit: a parameter; -1 is bound for none.
    func part(limit: String, offset: String?) -> String
    /// How many rows a statement has.
    func count(of rows: String) -> String
    /// Different rows of values in an order of their columns.
    func distinct(_ columns: [String], from source: String, by order: [SQLDistinctOrder]) -> String

    // MARK: Writing

    /// An insertion that leaves a row as it is that is there already.
    func insertNew(into table: String, _ columns: [String], _ values: [String]) -> String
    /// An insertion of a row that takes the place of another with the same key, the first of the columns.
    func replace(in table: String, _ columns: [String], _ values: [String]) -> String
    /// What a column has in the row that is there already, in an insertion that changes it.
    func held(_ column: String, in table: String) -> String

    // MARK: What there is

    /// What the metadata of a store say of its kind.
    var metadata: [String: String] { get }
    /// Answers the names of all tables.
    var tables: String { get }
    /// Answers the columns of a table in their order, each with its type as `type` has it; nothing for a table that is not there.
    func columns(of table: String) -> String
    /// Answers the names of the indexes that were defined as unique over a table.
    func uniqueIndexes(of table: String) -> String
    /// Answers index and column, or an empty text where a value is computed, of all indexes over a table that were defined by statements.
    func indexes(of table: String) -> String
    /// Answers the names of all triggers.
    var triggers: String { get }
    /// Answers kind, name, table and text of all views, triggers and indexes that were defined by statements, in the order in which they
    /// were made; nil where the database itself keeps them right.
    var definitions: String? { get }
    /// Renames tables without a change to what names them elsewhere.
    func renamingAlone(_ renames: [String]) -> [String]
    /// Answers table and column, in the order of columns, of all tables whose name begins with Z, a low line and a digit.
    var joinColumns: String { get }

    // MARK: Defining

    /// A column of an index.
    func indexed(_ column: String, _ kind: SlotKind, isAscending: Bool) -> String
    func trigger(_ trigger: SQLTrigger) -> [String]
    /// Removes a trigger if it is there.
    func dropTrigger(_ trigger: SQLTrigger) -> String
    /// An index over numbers that are asked for by ranges of all of them.
    func spatialIndex(_ index: SQLSpatialIndex) -> [String]
    /// Removes one if it is there, with what keeps it.
    func dropSpatialIndex(_ index: SQLSpatialIndex) -> [String]
    /// Selects the keys of rows whose numbers may lie within bounds, some more among them; nil where the database finds them by the
    /// conditions alone.
    func keys(in index: SQLSpatialIndex, _ bounds: [(column: String, bounds: SQLSpatialBounds<String>)]) -> String?
}

/// A parameter to which a list is bound.
package struct SQLList: Sendable {
    package let parameter: String
    package enum Kind: Sendable { case wholeNumbers, texts, mixed }
    package let kind: Kind
    package init(_ parameter: String, _ kind: Kind = .wholeNumbers) {
        self.parameter = parameter
        self.kind = kind
    }
}

/// A list as rows.
package struct SQLListRows: Sendable {
    package let source: String
    /// The place of a row's value in the list, from 0.
    package let place: String
    package let value: String
    package init(source: String, place: String, value: String) {
        self.source = source
        self.place = place
        self.value = value
    }
}

/// A sort key of different rows.
package struct SQLDistinctOrder: Sendable {
    /// Which column it is.
    package let column: Int
    /// What follows the column.
    package let suffix: String
    package let text: String
}

/// Keeps a derived attribute up to date: when a row changes, one column of other rows is set, and whoever has written is told of them.
package struct SQLTrigger: Sendable {
    package enum Event: Sendable {
        case insert
        case update([String])
        case delete
    }
    package let name: String
    /// The table that is watched.
    package let watched: String
    package let event: Event
    /// In it and in what follows `NEW` and `OLD` are the row that changes.
    package let condition: String?
    package let table: String
    package let column: String
    package let attribute: String
    package let expression: String
    package let rows: String
    /// Whether the rows are told as changed by an insertion.
    package let isInsertion: Bool
}

/// Names, not quoted.
package struct SQLSpatialIndex: Sendable {
    package let name: String
    package let table: String
    package let columns: [String]
}

/// The ends of a range of numbers, where it has such.
package struct SQLSpatialBounds<End: Sendable>: Sendable {
    package let low: End?
    package let high: End?
}

extension SQLDialect {
    package func keys(in index: SQLSpatialIndex, _ bounds: [(column: String, bounds: SQLSpatialBounds<String>)])
        -> String?
    { nil }

    /// For databases whose sums are as large as need be.
    package func wideSum(_ values: String) -> String { "COALESCE(SUM(\(values)), 0)" }
    package func wholeSum(_ values: String) -> String { "COALESCE(SUM(\(values)), 0)" }
}
