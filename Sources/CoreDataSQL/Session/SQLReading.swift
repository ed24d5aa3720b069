// A connection to a database as whoever reads sees it.

import CoreDataValues

/// Makes statements ready, whose rows are then filled into chunks. Whoever has a session is the only one who uses it.
///
/// As in `SQLSession`, a shape names a statement among those that are kept prepared; its text is made when it is not among them.
package protocol SQLReading: AnyObject {
    /// For errors: where the database is.
    var path: String { get }
    /// In whose words it is spoken to.
    var dialect: any SQLDialect { get }

    // MARK: Results

    /// A selection, kept under its number if it has one.
    func open(_ selection: SelectionCache.Known) throws -> any SQLResult
    /// A statement that has no smaller name than its text.
    func open(_ text: String, _ values: [Value]) throws -> any SQLResult
    /// A statement over one key, whose rows are of a shape.
    func open(_ shape: SQLShape, key: Int64, _ rows: RowShape, _ texts: SelectCompiler) throws -> any SQLResult
    /// The same over a list of keys.
    func open(_ shape: SQLShape, keys: [Int64], _ rows: RowShape, _ texts: SelectCompiler) throws -> any SQLResult

    // MARK: Answers

    /// Whether a pair of owner and member is there.
    func isMember(_ member: Int64, of owner: Int64, in relationship: RelationshipIndex, _ texts: SelectCompiler) throws
        -> Bool
    /// The rows of a statement, `width` whole numbers each, one after the other.
    func numbers(_ shape: SQLShape, each width: Int, _ values: [Value], _ texts: WriteCompiler) throws -> [Int64?]
    /// The rows of a statement, `width` texts each, one after the other.
    func words(_ shape: SQLShape, each width: Int, _ values: [Value], _ texts: WriteCompiler) throws -> [String?]

    // MARK: Statements that hardly come again, of which nothing is kept

    /// The rows of a statement, `width` whole numbers each, one after the other: a call a run of rows.
    func numbers(_ text: String, each width: Int, _ values: [Value], _ receive: ([Int64?]) throws -> Void) throws
    /// The rows of a statement, each value as the database keeps it.
    func tuples(_ text: String, _ values: [Value]) throws -> [[Value]]
}

extension SQLReading {
    /// The same for a statement of few rows.
    func numbers(_ text: String, each width: Int, _ values: [Value]) throws -> [Int64?] {
        var all: [Int64?] = []
        try numbers(text, each: width, values) { all += $0 }
        return all
    }
}

/// A statement that was made ready, and where it is in its rows. Each call reads a run of them; who has opened it ends it.
package protocol SQLResult: AnyObject {
    /// The next rows, `count` at most; nil at the end.
    func rows(_ count: Int, of shape: RowShape) throws -> RowBatch?
    /// The same for rows whose owner is the last column.
    func members(_ count: Int, of shape: RowShape) throws -> MemberBatch?
    /// The next rows of values, `count` at most; nil at the end.
    func values(_ count: Int, of shape: ValueShape) throws -> ValueRows?
    /// The next rows, each value as the database keeps it; empty at the end.
    func tuples(_ count: Int) throws -> [[Value]]
    /// The next rows of a history's changes, `count` at most; empty at the end.
    func changes(_ count: Int) throws -> [HistoryRow]
    /// Lets go of what is bound. The statement may be made ready again.
    func end()
}

/// Gives sessions to those who read and write.
package protocol SQLSource: AnyObject, Sendable {
    /// Lends a session for one read.
    ///
    /// - Parameter isBrief: whether `body` reads few rows for a block of `write`, and calls nobody else: it may then get a session for which writers wait.
    func read(_ view: ReadView, isBrief: Bool, _ body: (any SQLReading) throws -> Void) throws
    /// Lends a session for as long as a result is pulled; nil where there is but one, which is lent to nobody who might keep it.
    func hold(_ view: ReadView, _ ready: (any SQLReading) throws -> any SQLResult) throws -> (any HeldResult)?
    /// Lends the session that writes, to one at a time.
    func writing(_ body: (any SQLSession) throws -> Void) throws
}

extension SQLSource {
    package func read(_ view: ReadView, _ body: (any SQLReading) throws -> Void) throws {
        try read(view, isBrief: false, body)
    }
}

/// A result that is kept between its uses, with its session. Ends when it is let go.
package protocol HeldResult: AnyObject, Sendable {
    /// Whether view and store are there still.
    var isOpen: Bool { get }
    /// Calls `body` with the result, one caller at a time; not at all once it is closed.
    ///
    /// - Throws: 134070 when its view or its store was closed.
    func use(_ body: (any SQLResult) throws -> Void) throws
    func close()
}
