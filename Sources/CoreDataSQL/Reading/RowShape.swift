// Which column of a result feeds which cell of which entity.

import CoreDataValues
import Synchronization

/// The plan by which rows of one result are decoded. Made once for a statement; the loop over cells decides
/// nothing.
package final class RowShape: @unchecked Sendable {
    /// One cell to fill.
    package struct Cell: Sendable {
        package let slot: Int
        /// Where the row says that the slot is present: a word before its cells, and the bit there.
        package let word: Int
        package let bit: UInt64
        package let column: Int32
        package let kind: SlotKind
        /// The highest entity number an entity tag may have; lower and higher ones are noise.
        package let tags: ClosedRange<Int64>

        init(slot: Int, column: Int32, kind: SlotKind, tags: ClosedRange<Int64>) {
            self.slot = slot
            word = -1 - slot >> 6
            bit = 1 << UInt64(slot & 63)
            self.column = column
            self.kind = kind
            self.tags = tags
        }
    }
    /// The cells of one entity; the shape owns their memory.
    package struct Target {
        package let layout: RowLayout
        package let cells: UnsafePointer<Cell>
        package let cellCount: Int

        init(layout: RowLayout, cells: [Cell]) {
            self.layout = layout
            cellCount = cells.count
            let memory = UnsafeMutablePointer<Cell>.allocate(capacity: cells.count)
            for (place, cell) in cells.enumerated() { (memory + place).initialize(to: cell) }
            self.cells = UnsafePointer(memory)
        }
    }
    package let schema: Schema
    /// The entity of the first target; the others follow in the order of their indexes.
    package let first: EntityIndex
    package let targets: [Target]
    /// Whether column 0 is `Z_ENT`. Otherwise all rows are of `first`.
    package let hasEntityColumn: Bool
    /// `t0."Z_ENT", t0."Z_PK", …`
    package let columnList: String
    /// What a row's texts and blobs have lately taken: the guess for the next ones.
    package let bytesPerRow = Atomic<Int>(120)

    /// - Parameter last: the last entity that may occur; the same as `entity` for one.
    package init(map: StoreMap, entity: Entity, last: EntityIndex, includesValues: Bool, alias: String = "t0")
        throws
    {
        let table = try map.table(of: entity.index)
        schema = map.schema
        first = entity.index
        hasEntityColumn = last != entity.index
        var names = (hasEntityColumn ? ["Z_ENT"] : []) + ["Z_PK", "Z_OPT"]
        var places: [Int: Int32] = [:]
        targets = (entity.index.value...last.value).map { value in
            let member = map.schema[EntityIndex(value)]
            guard includesValues else { return Target(layout: member.layout, cells: []) }
            let cells = member.slots.indices.compactMap { slot -> Cell? in
                guard let column = table.column(of: slot, in: member.index) else { return nil }
                let place = places[column] ?? Int32(names.count)
                if places.updateValue(place, forKey: column) == nil {
                    names.append(table.columns[column].name)
                }
                return Cell(
                    slot: slot, column: place, kind: member.slots[slot].kind,
                    tags: Self.tags(of: member.slots[slot], in: map.schema))
            }
            return Target(layout: member.layout, cells: cells)
        }
        columnList = names.map { "\(alias).\(map.dialect.quoted($0))" }.joined(separator: ", ")
    }

    deinit {
        for target in targets { target.cells.deallocate() }
    }

    private static func tags(of slot: Slot, in schema: Schema) -> ClosedRange<Int64> {
        guard let relationship = slot.relationship else { return 1...1 }
        let destination = schema[schema[relationship].destination]
        return Int64(destination.index.number)...Int64(destination.last.number)
    }
}

/// A statement with its values.
package struct Selection: Sendable {
    package let sql: String
    package let bindings: [BoundValue]
    /// Whether it compares values that may lie in files.
    package let readsFiles: Bool
    package init(sql: String, bindings: [BoundValue], readsFiles: Bool = false) {
        self.sql = sql
        self.bindings = bindings
        self.readsFiles = readsFiles
    }

    init(_ sql: String, of builder: SelectBuilder) {
        self.init(sql: sql, bindings: builder.bindings, readsFiles: builder.readsFiles)
    }

    /// What is bound for a query of the shape.
    package func values(for query: Query) -> [Value] { bindings.map { query.value($0) } }
}
