// Rows that triggers change.

/// Rows that triggers changed during a transaction of one session. Used by whoever has the session.
package final class TouchedRows {
    /// `Z_ENT` and `Z_PK`.
    package struct Row: Hashable {
        package let entity: Int64
        package let number: Int64
        package init(entity: Int64, number: Int64) {
            self.entity = entity
            self.number = number
        }
    }
    package private(set) var rows: Set<Row> = []
    /// The entities (`Z_ENT`) of rows that were too many to be kept.
    package private(set) var entities: Set<Int64> = []
    /// How many rows are kept one by one.
    package var limit = Int.max

    package init() {}

    package func insert(_ row: Row) {
        rows.insert(row)
        if rows.count > limit { forgetRows() }
    }

    package func clear() {
        if !rows.isEmpty { rows = [] }
        if !entities.isEmpty { entities = [] }
    }

    @inline(never)
    private func forgetRows() {
        for row in rows { entities.insert(row.entity) }
        rows = []
    }
}
