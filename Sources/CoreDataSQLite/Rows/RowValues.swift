// Where the values of a result row lie.

import CCoreDataSQLite

/// How the values of a statement's rows are found.
///
/// A row is a range of the registers of SQLite's machine (`OP_ResultRow`), which lie side by side: with the address of one value and the
/// distance between two the others need no call (40 instructions each, ten times a row). That they lie so is measured at the
/// statement's first row; if they did not, each would be asked for.
struct RowValues {
    /// The distance in bytes, 0 when every value is asked for.
    private let distance: Int

    /// - Parameter handle: a statement that has just answered a row.
    init(measuring handle: OpaquePointer) {
        let count = sqlite3_column_count(handle)
        let addresses = (0..<count).map { Int(bitPattern: sqlite3_column_value(handle, $0)) }
        let distance = addresses.count > 1 ? addresses[1] - addresses[0] : 0
        let isEven = distance > 0 && zip(addresses, addresses.dropFirst()).allSatisfy { $1 - $0 == distance }
        self.distance = isEven ? distance : 0
    }

    /// The values of the present row.
    struct Row: Equatable {
        fileprivate let first: OpaquePointer
        fileprivate let distance: Int
        fileprivate let handle: OpaquePointer

        /// Whether `even` answers; else `asked` does.
        @inline(__always)
        var isEven: Bool { distance > 0 }

        @inline(__always)
        func even(_ column: Int32) -> OpaquePointer { OpaquePointer(UnsafeRawPointer(first) + Int(column) &* distance) }

        func asked(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }
    }

    @inline(__always)
    func row(of handle: OpaquePointer) -> Row? {
        sqlite3_column_value(handle, 0).map { Row(first: $0, distance: distance, handle: handle) }
    }
}
