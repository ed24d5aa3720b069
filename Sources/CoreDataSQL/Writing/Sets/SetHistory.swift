// What a set change leaves in the history: one transaction, its changes added as they are made.

import CoreDataValues
import Foundation

/// Records the changes of one set change inside its transaction. Nothing is recorded until there is a first change.
package final class SetHistory {
    private let writer: HistoryWriter
    private let note: HistoryNote?
    private let map: StoreMap
    private let session: any SQLSession
    private var transaction: Int64?

    /// nil for a store that keeps no history.
    package init?(_ writer: HistoryWriter?, _ note: HistoryNote?, _ map: StoreMap, _ session: any SQLSession) {
        guard let writer else { return nil }
        self.writer = writer
        self.note = note
        self.map = map
        self.session = session
    }

    /// Records one change for each row of a SELECT.
    ///
    /// - Parameter keys: in brackets, its column is `k`.
    func add(
        _ kind: RecordedChanges.Kind, _ entity: EntityIndex, mask: [UInt8]? = nil, count: Int, of keys: String
    ) throws {
        var sql = writer.statements.addChanges(of: keys)
        let tombstones = writer.masks[entity.value].tombstones
        if kind == .delete, !tombstones.isEmpty, let table = try? map.table(of: entity) {
            let columns = tombstones.compactMap { table.column(of: $0, in: entity) }.map { table.columns[$0].name }
            sql = writer.statements.addDeletions(of: keys, keeping: columns, of: table.name)
        }
        try run(sql, kind, entity, mask, count, [])
        guard kind != .insert, count > 0, let transaction, let formerValues = writer.formerValues else { return }
        try formerValues.keep(entity, mask, writer.masks[entity.value], .selected(keys), [], transaction, session)
    }

    /// Records one change for each of some rows.
    func add(_ kind: RecordedChanges.Kind, _ entity: EntityIndex, mask: [UInt8]? = nil, _ numbers: [Int64]) throws {
        try run(writer.statements.addChanges, kind, entity, mask, numbers.count, [map.dialect.list(numbers)])
    }

    func mask(_ entity: EntityIndex, _ slots: [Int], _ relationships: [RelationshipIndex] = []) -> [UInt8] {
        writer.masks[entity.value].bytes(slots: slots, relationships: relationships)
    }

    private func run(
        _ sql: String, _ kind: RecordedChanges.Kind, _ entity: EntityIndex, _ mask: [UInt8]?, _ count: Int,
        _ further: [Value]
    ) throws {
        if count == 0 { return }
        let number = try transaction ?? writer.addTransaction(note, session)
        transaction = number
        let first = try writer.allocate(count, of: .change, session)
        let values: [Value] = [
            .int(first), .int(number), .int(kind.rawValue), .int(Int64(entity.number)),
            mask.map { .data(Data($0)) } ?? .null,
        ]
        try session.run(sql, values + further)
    }
}
