// From result rows to chunks, for rows of several entities and for those that come with their owner.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues

/// Collects the rows of one batch, one chunk for each entity that occurs. A batch ends when one of them is full.
final class MixedRows {
    /// Whoever runs the statement has it, and it has this.
    private unowned(unsafe) let statement: Statement
    private let shape: RowShape
    /// The last one, of rows that come with their owner.
    private let ownerColumn: Int32?
    private var decoders: [RowDecoder]
    private var open: [RowChunk] = []
    private var order: [RowBatch.Reference] = []
    private var owners: [Int64] = []

    init(_ shape: RowShape, _ statement: Statement, hasOwners: Bool) {
        self.statement = statement
        self.shape = shape
        ownerColumn = hasOwners ? sqlite3_column_count(statement.handle) - 1 : nil
        let keyColumn: Int32 = shape.hasEntityColumn ? 1 : 0
        let bytesPerRow = shape.bytesPerRow.load(ordering: .relaxed)
        decoders = shape.targets.enumerated().map { offset, target in
            RowDecoder(
                target, entity: EntityIndex(shape.first.value + offset), keyColumn: keyColumn, bytesPerRow: bytesPerRow)
        }
    }

    /// Reads up to `size` rows; true at the end of the result.
    func fill(_ size: Int, refuse: (Int, EntityIndex) throws -> Void) throws -> Bool {
        let handle = statement.handle
        while order.count < size {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { return true }
            if code != SQLITE_ROW {
                let what = ownerColumn == nil ? "Fetching" : "Fetching members"
                throw statement.connection.error(code, doing: what, sql: statement.sql)
            }
            let target = shape.hasEntityColumn ? Int(sqlite3_column_int64(handle, 0)) - shape.first.number : 0
            // The condition on Z_ENT lets no other number through; a row that changed hands is not worth a trap.
            guard decoders.indices.contains(target) else { continue }
            if decoders[target].position < 0 {
                decoders[target].open(capacity: size - order.count, at: open.count)
                if let chunk = decoders[target].chunk { open.append(chunk) }
            }
            order.append(.init(chunk: decoders[target].position, row: decoders[target].count))
            if let ownerColumn { owners.append(sqlite3_column_int64(handle, ownerColumn)) }
            if let slot = decoders[target].decode(handle, statement.values) {
                try refuse(slot, EntityIndex(shape.first.value + target))
            }
            if decoders[target].isFull { return false }
        }
        return false
    }

    /// The batch read so far, nil when it is empty.
    func removeBatch() -> MemberBatch? {
        for index in decoders.indices where decoders[index].position >= 0 { decoders[index].close() }
        defer {
            open = []
            order = []
            owners = []
        }
        guard let first = open.first else { return nil }
        let rows =
            open.count == 1
            ? RowBatch(chunk: first) : RowBatch(first: first, others: Array(open.dropFirst()), order: order)
        return MemberBatch(rows: rows, owners: owners)
    }
}
