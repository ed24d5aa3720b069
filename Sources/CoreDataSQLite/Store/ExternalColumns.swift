// Which columns may refer to files, and which files a save adds and leaves behind.

import CCoreDataSQLite
import CoreDataSQL
import CoreDataValues
import Foundation

/// The columns of a store whose values may lie in files.
struct ExternalColumns: Sendable {
    let map: StoreMap
    let folder: ExternalFolder
    /// By entity: the slots, inherited ones included.
    private let slots: [[Int]]

    /// nil when there is no such column, or no place for files.
    init?(_ map: StoreMap, url: URL) throws {
        slots = map.schema.entities.map { entity in
            entity.slots.indices.filter { entity.slots[$0].kind == .externalData && !entity.slots[$0].isTransient }
        }
        guard slots.contains(where: { !$0.isEmpty }), ExternalFolder.isPossible(for: url) else { return nil }
        self.map = map
        folder = ExternalFolder(store: url)
    }

    func slots(of entity: EntityIndex) -> [Int] { slots[entity.value] }

    /// Table and column of every such attribute, each once.
    func columns() throws -> [(table: String, column: String)] {
        try map.tables.flatMap { table in
            try (table.root.value...map.schema[table.root].last.value).flatMap { value in
                let entity = map.schema[EntityIndex(value)]
                return try slots[value].filter { entity.slots[$0].owner == entity.index }.map {
                    (table.name, try name(of: $0, in: entity.index))
                }
            }
        }
    }

    private func name(of slot: Int, in entity: EntityIndex) throws -> String {
        let table = try map.table(of: entity)
        return table.column(of: slot, in: entity).map { table.columns[$0].name } ?? ""
    }

    // MARK: A save

    /// Moves the large values of a batch into files; nil when the batch neither has one nor can replace one.
    func stage(_ batch: ChangeBatch, store: String) throws -> ExternalStaging? {
        let concerned =
            batch.inserts.contains { !slots(of: $0.layout.entity).isEmpty }
            || batch.updates.contains { !changed($0).isEmpty }
            || batch.deletes.contains { !slots(of: $0.entity).isEmpty }
        return concerned ? try ExternalStaging(batch, columns: self, store: store) : nil
    }

    /// The slots of a group that it writes and that may refer to files.
    func changed(_ group: UpdateGroup) -> [Int] {
        let all = slots(of: group.entity)
        return all.isEmpty ? all : all.filter(group.slots.contains)
    }

    /// The files that rows refer to at present in these slots.
    func names(in slots: [Int], of entity: EntityIndex, keys: [Int64], _ connection: Connection) throws -> [String] {
        try names(in: slots, of: entity, rows: nil, connection) { try $0.bind(1, map.dialect.list(keys)) }
    }

    /// The same for the rows of a condition that follows their number.
    func names(
        in slots: [Int], of entity: EntityIndex, rows: String?, _ connection: Connection, bind: (Statement) throws -> Void = { _ in }
    ) throws -> [String] {
        let statements = FileStatements(map.dialect)
        let table = try map.table(of: entity).name
        return try slots.flatMap { slot -> [String] in
            let statement = try connection.statement(statements.names(in: try name(of: slot, in: entity), of: table, rows: rows))
            defer { statement.finish() }
            try bind(statement)
            var names: [String] = []
            while try statement.step() {
                if let name = statement.text(0), UUID(uuidString: name) != nil { names.append(name) }
            }
            return names
        }
    }

    // MARK: After a crash

    /// Ends what a killed process left half done: of the files it noted, those that no row refers to are
    /// removed.
    func sweep(_ pool: Pool, store: String) throws {
        let abandoned = PendingFiles.abandoned(in: folder, store: store)
        if abandoned.isEmpty { return }
        try pool.write { connection in
            for note in abandoned {
                for name in note.names where try !isReferred(name, connection) { folder.remove(name) }
                note.end()
            }
        }
    }

    private func isReferred(_ name: String, _ connection: Connection) throws -> Bool {
        for place in try columns() {
            let sql = FileStatements(map.dialect).isReferred(in: place.column, of: place.table)
            let statement = try Statement(sql, on: connection)
            defer { statement.finish() }
            try statement.bind(1, .data(ExternalReference.cell(named: name)))
            if try statement.step() { return true }
        }
        return false
    }
}

/// The files of one save: written before its transaction, removed when it fails; what it replaced is removed
/// when it is done.
///
/// The chunk of a save holds the reference from here on, so that neither the object nor the row cache keeps
/// the value. Until the commit returns the chunk is the save's alone (I-1); a failed save gets its values
/// back.
final class ExternalStaging {
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
    func noteReplaced(_ connection: Connection) throws {
        replaced = []
        for group in batch.updates {
            let slots = columns.changed(group)
            if slots.isEmpty { continue }
            let keys = (0..<group.chunk.count).map { group.chunk.row($0).key(group.chunk.layout) }
            replaced.formUnion(try columns.names(in: slots, of: group.entity, keys: keys, connection))
        }
        for group in batch.deletes {
            let slots = columns.slots(of: group.entity)
            replaced.formUnion(try columns.names(in: slots, of: group.entity, keys: group.numbers, connection))
        }
        if !replaced.isEmpty { try pending.add(replaced.sorted()) }
    }

    func end(isCommitted: Bool) {
        if isCommitted {
            // A row that another one copied its cell from keeps the file.
            for name in replaced.subtracting(kept()) { columns.folder.remove(name) }
        } else {
            for file in moved {
                file.chunk.fill.pointee.large[file.place] = file.value
                columns.folder.remove(file.name)
            }
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
