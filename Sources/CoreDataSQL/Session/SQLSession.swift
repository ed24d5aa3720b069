// A connection to a database as whoever writes sees it.

import CoreDataValues

/// Runs prepared statements, one call for a run of rows, none for a value. Whoever has a session is the only one who uses it.
///
/// A shape names a statement among those that the session keeps prepared; its text is made by `texts` when it is not among them.
package protocol SQLSession: SQLReading {
    /// Runs `body` in a transaction: committed when it returns true, rolled back when it returns false or throws. `body` lets no error
    /// of a statement pass.
    func transaction(_ body: () throws -> Bool) throws
    /// A number that is another one once somebody else has written to the database.
    func foreignChanges() throws -> Int64
    /// What triggers have reported since it was last cleared.
    var touched: TouchedRows { get }
    /// The last positions of to-manys that are known.
    var ends: OrderEnds { get }

    // MARK: Rows

    /// Inserts rows of a chunk, `count` a statement; their number is a multiple of it. Ends at the first statement that breaks a
    /// uniqueness constraint and answers its first row.
    func insert(_ rows: Range<Int>, of chunk: RowChunk, each count: Int, _ texts: WriteCompiler) throws -> SQLRefusal?
    /// Writes slots of a group's rows that have the expected version. Ends at the first row that has not, or that breaks a
    /// uniqueness constraint.
    func update(_ rows: Range<Int>, of group: UpdateGroup, slots: [Int], _ texts: WriteCompiler) throws -> SQLRefusal?
    /// Deletes rows of a group that were read with one version, `count` a statement; their number is a multiple of it. Ends at the
    /// first statement that finds fewer rows of this version and answers its first row.
    func delete(_ rows: Range<Int>, of group: DeleteGroup, each count: Int, _ texts: WriteCompiler) throws
        -> SQLRefusal?

    /// Inserts rows of a chunk by one statement that leaves some of them out; answers the numbers of the others.
    func insertNew(_ rows: Range<Int>, of chunk: RowChunk, _ shape: SQLShape, _ texts: WriteCompiler) throws -> [Int64]
    /// Runs a statement whose parameters are slots of one row of a chunk, then a key.
    func assign(
        _ slots: [Int], of chunk: RowChunk, row: Int, to key: Int64, _ shape: SQLShape, _ texts: WriteCompiler) throws

    // MARK: Statements

    /// Runs a statement once for each `width` of these numbers.
    func run(_ shape: SQLShape, each width: Int, of numbers: [Int64], _ texts: WriteCompiler) throws
    /// Runs a statement to its end; answers how many rows it changed.
    @discardableResult
    func run(_ shape: SQLShape, _ values: [Value], _ texts: WriteCompiler) throws -> Int
    /// The same with a statement that hardly comes again: nothing of it is kept.
    @discardableResult
    func run(_ text: String, _ values: [Value]) throws -> Int

    /// The columns of the uniqueness constraint that an error speaks of, as `ConstraintNames` spells them; nil for other errors.
    func duplicate(_ error: StoreError) -> String?
    /// Whether an error is that of a statement which the database cannot make sense of or which breaks a constraint, and the transaction is
    /// as it was before that statement.
    func isOfStatement(_ error: StoreError) -> Bool
}

/// Where a run of rows ended.
package struct SQLRefusal {
    /// The first row of the statement that was refused.
    package let row: Int
    /// What the database said, where a constraint is broken; nil where a row is not as expected.
    package let error: StoreError?

    package init(row: Int, error: StoreError? = nil) {
        self.row = row
        self.error = error
    }
}
