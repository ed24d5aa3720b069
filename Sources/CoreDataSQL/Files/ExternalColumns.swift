// Which columns may refer to files, and which files a save adds and leaves behind.

import CoreDataValues
import Foundation

/// The columns of a store whose values may lie in files.
package struct ExternalColumns: Sendable {
    package let map: StoreMap
    package let folder: ExternalFolder
    /// The files that pinned views may still ask for.
    package let kept: KeptFiles
    /// By entity: the slots, inherited ones included.
    private let slots: [[Int]]

    /// nil when there is no such column, or no place for files.
    package init?(_ map: StoreMap, url: URL) throws {
        slots = map.schema.entities.map { entity in
            entity.slots.indices.filter { entity.slots[$0].kind == .externalData && !entity.slots[$0].isTransient }
        }
        guard slots.contains(where: { !$0.isEmpty }), ExternalFolder.isPossible(for: url) else { return nil }
        self.map = map
        folder = ExternalFolder(store: url)
        kept = KeptFiles.of(folder)
    }

    package func slots(of entity: EntityIndex) -> [Int] { slots[entity.value] }

    /// Table and column of every such attribute, each once.
    package func columns() throws -> [(table: String, column: String)] {
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
    package func stage(_ batch: ChangeBatch, store: String) throws -> ExternalStaging? {
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

    /// The files that any row refers to.
    package func names(_ session: any SQLReading) throws -> [String] {
        let names = try columns().flatMap { place in
            try session.tuples(FileStatements(map.dialect).allNames(in: place.column, of: place.table), []).compactMap {
                $0.first?.word
            }
        }
        return Set(names.filter(Self.isName)).sorted()
    }

    /// What a cell names may be anything in a file that somebody else has made.
    private static func isName(_ name: String) -> Bool { UUID(uuidString: name) != nil }

    /// The files that rows refer to at present in these slots.
    package func names(
        in slots: [Int], of entity: EntityIndex, keys: [Int64], _ session: any SQLSession, _ texts: WriteCompiler
    ) throws -> [String] {
        try names(in: slots, of: entity, rows: nil, [map.dialect.list(keys)], session, texts)
    }

    /// The same for the rows of a condition that follows their number.
    package func names(
        in slots: [Int], of entity: EntityIndex, rows: String?, _ values: [Value], _ session: any SQLSession,
        _ texts: WriteCompiler
    ) throws -> [String] {
        let statements = FileStatements(map.dialect)
        let table = try map.table(of: entity).name
        return try slots.flatMap { slot -> [String] in
            let sql = statements.names(in: try name(of: slot, in: entity), of: table, rows: rows)
            let names = try session.words(.text(sql), each: 1, values, texts)
            return names.compactMap { $0 }.filter(Self.isName)
        }
    }

    // MARK: After a crash

    /// Ends what a killed process left half done: of the files it noted, those that no row refers to are
    /// removed.
    ///
    /// - Parameter write: gives the session that writes.
    package func sweep(store: String, _ texts: WriteCompiler, write: ((any SQLSession) throws -> Void) throws -> Void)
        throws
    {
        let abandoned = PendingFiles.abandoned(in: folder, store: store)
        if abandoned.isEmpty { return }
        try write { session in
            for note in abandoned {
                for name in note.names {
                    folder.remove(ExternalFolder.draft(name))
                    if try !isReferred(name, session, texts) { folder.remove(name) }
                }
                note.end()
            }
        }
    }

    private func isReferred(_ name: String, _ session: any SQLSession, _ texts: WriteCompiler) throws -> Bool {
        for place in try columns() {
            let sql = FileStatements(map.dialect).isReferred(in: place.column, of: place.table)
            if try !session.words(.text(sql), each: 1, [.data(ExternalReference.cell(named: name))], texts).isEmpty {
                return true
            }
        }
        return false
    }
}
