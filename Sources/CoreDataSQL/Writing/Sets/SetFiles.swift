// The files of a set change: large new values are written before their rows, and what rows gave up is removed after the commit.

import CoreDataValues
import Foundation

/// As `ExternalStaging` for a batch, for rows that come and go while the change runs; the rows themselves are not kept.
package final class SetFiles {
    private let columns: ExternalColumns
    private let texts: WriteCompiler
    private let pending: PendingFiles
    private var added: [String] = []
    private var replaced: Set<String> = []

    /// nil for a store that has no such values.
    package init?(_ columns: ExternalColumns?, store: String, _ texts: WriteCompiler) {
        guard let columns else { return nil }
        self.columns = columns
        self.texts = texts
        pending = PendingFiles(columns.folder, store: store)
    }

    /// Moves the large values of new rows into files.
    func move(_ chunk: RowChunk) throws {
        let slots = columns.slots(of: chunk.layout.entity)
        if slots.isEmpty { return }
        let before = added.count
        for index in 0..<chunk.count {
            let row = chunk.row(index)
            for slot in slots where row.isPresent(slot) && row[slot] >> 63 == 1 {
                let place = Int(row[slot] & ~(1 << 63))
                let value = chunk.large[place]
                guard value.count > ExternalReference.threshold + 1, value.first == ExternalReference.inlineTag else {
                    continue
                }
                let name = UUID().uuidString
                try pending.add([name])
                added.append(name)
                try value.withUnsafeBytes {
                    try columns.folder.write(UnsafeRawBufferPointer(rebasing: $0.dropFirst()), to: name)
                }
                chunk.fill.pointee.large[place] = ExternalReference.cell(named: name)
            }
        }
        if added.count > before { try columns.folder.sync() }
    }

    /// Notes the files to which rows refer that are about to go or to get other values.
    ///
    /// - Parameter keys: the numbers of the rows, as for `IN`.
    func replace(_ entity: EntityIndex, slots: [Int]? = nil, keys: String, _ session: any SQLSession) throws {
        try note(columns.names(in: concerned(entity, slots), of: entity, rows: "IN \(keys)", [], session, texts))
    }

    /// The same for one row.
    func replace(_ key: RowKey, slots: [Int], _ session: any SQLSession) throws {
        try note(columns.names(in: concerned(key.entity, slots), of: key.entity, keys: [key.number], session, texts))
    }

    /// Notes the files of a new row's values that no row takes: of slots other than those given.
    func giveUp(_ chunk: RowChunk, row index: Int, except slots: [Int] = []) {
        let row = chunk.row(index)
        for slot in columns.slots(of: chunk.layout.entity)
        where !slots.contains(slot) && row.isPresent(slot) && row[slot] >> 63 == 1 {
            if let name = chunk.large[Int(row[slot] & ~(1 << 63))].withUnsafeBytes(ExternalReference.name) {
                replaced.insert(name)
            }
        }
    }

    private func concerned(_ entity: EntityIndex, _ slots: [Int]?) -> [Int] {
        columns.slots(of: entity).filter { slots?.contains($0) ?? true }
    }

    private func note(_ names: [String]) throws {
        if names.isEmpty { return }
        try pending.add(names)
        replaced.formUnion(names)
    }

    package func end(isCommitted: Bool) {
        if isCommitted { return columns.kept.remove(replaced, pending) }
        for name in added { columns.folder.remove(name) }
        pending.end()
    }
}
