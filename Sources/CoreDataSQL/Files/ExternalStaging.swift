// The files of one save.

import CoreDataValues
import Foundation

/// The files of one save: written before its transaction, removed when it fails; what it replaced is removed
/// when it is done.
///
/// The chunk of a save holds the reference from here on, so that neither the object nor the row cache keeps
/// the value. Until the commit returns the chunk is the save's alone (I-1); a failed save gets its values
/// back.
package final class ExternalStaging {
    private let columns: ExternalColumns
    private let batch: ChangeBatch
    private let pending: PendingFiles
    private var moved: [(chunk: RowChunk, place: Int, value: Data, name: String)] = []
    private var replaced: Set<String> = []

    init(_ batch: ChangeBatch, columns: ExternalColumns, store: String) throws {
        self.columns = columns
        self.batch = batch
        pending = PendingFiles(columns.folder, store: store)
        do {
            for chunk in batch.inserts { try move(chunk, columns.slots(of: chunk.layout.entity)) }
            for group in batch.updates { try move(group.chunk, columns.changed(group)) }
            if !moved.isEmpty { try columns.folder.sync() }
        } catch {
            end(isCommitted: false)
            throw error
        }
    }

    private func move(_ chunk: RowChunk, _ slots: [Int]) throws {
        if slots.isEmpty { return }
        for index in 0..<chunk.count {
            let row = chunk.row(index)
            for slot in slots where row.isPresent(slot) && row[slot] >> 63 == 1 {
                let place = Int(row[slot] & ~(1 << 63))
                let value = chunk.large[place]
                if value.count > ExternalReference.threshold + 1, value.first == ExternalReference.inlineTag {
                    try move(value, at: place, of: chunk)
                }
            }
        }
    }

    private func move(_ value: Data, at place: Int, of chunk: RowChunk) throws {
        let name = UUID().uuidString
        try pending.add([name])
        moved.append((chunk, place, value, name))
        try value.withUnsafeBytes { tagged in
            try columns.folder.write(UnsafeRawBufferPointer(rebasing: tagged.dropFirst()), to: name)
        }
        chunk.fill.pointee.large[place] = ExternalReference.cell(named: name)
    }

    /// Inside the transaction, before anything is written: which files the changed and deleted rows refer to.
    func noteReplaced(_ session: any SQLSession, _ texts: WriteCompiler) throws {
        replaced = []
        for group in batch.updates {
            let slots = columns.changed(group)
            if slots.isEmpty { continue }
            let keys = (0..<group.chunk.count).map { group.chunk.row($0).key(group.chunk.layout) }
            replaced.formUnion(try columns.names(in: slots, of: group.entity, keys: keys, session, texts))
        }
        for group in batch.deletes {
            let slots = columns.slots(of: group.entity)
            replaced.formUnion(try columns.names(in: slots, of: group.entity, keys: group.numbers, session, texts))
        }
        if !replaced.isEmpty { try pending.add(replaced.sorted()) }
    }

    package func end(isCommitted: Bool) {
        // A row that another one copied its cell from keeps the file.
        if isCommitted { return columns.kept.remove(replaced.subtracting(kept()), pending) }
        for file in moved {
            file.chunk.fill.pointee.large[file.place] = file.value
            columns.folder.remove(file.name)
        }
        pending.end()
    }

    /// Files that the batch's own rows refer to: a row written again with the reference it had.
    private func kept() -> Set<String> {
        var names: Set<String> = []
        func collect(_ chunk: RowChunk, _ slots: [Int]) {
            if slots.isEmpty { return }
            for index in 0..<chunk.count {
                let row = chunk.row(index)
                for slot in slots where row.isPresent(slot) {
                    if let name = chunk.withBytes(of: row[slot], ExternalReference.name) { names.insert(name) }
                }
            }
        }
        for chunk in batch.inserts { collect(chunk, columns.slots(of: chunk.layout.entity)) }
        for group in batch.updates { collect(group.chunk, columns.changed(group)) }
        return names
    }
}
