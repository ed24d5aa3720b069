// What a migration makes of the changes that a history has recorded.

import CoreDataValues
import Foundation

/// Changes follow their entities: numbers, and the bits and values that stood for a property, go to where the property is now. What
/// a removed property had is dropped. Where an entity is removed, what came up to its last change is cut off: whoever has read less
/// would miss changes.
struct HistoryMigration {
    private let moves: [Move]
    private let dropped: [Int]
    /// How many values of a deleted row the destination keeps.
    let tombstones: Int

    /// What becomes of one entity's changes.
    private struct Move {
        let from: Int
        let to: Int
        /// What properties are called now, as masks spell them.
        let names: [String: String]
        /// For each former place of a mask the later one.
        let bits: [Int?]
        let count: Int
        /// For each later place of a tombstone what stands there.
        let tombstones: [Cell?]
        let formerTombstones: Int

        var keepsMasks: Bool { bits.indices.allSatisfy { bits[$0] == $0 } && count == bits.count }
        var keepsTombstones: Bool {
            tombstones.indices.allSatisfy { stays(at: $0) } && tombstones.count == formerTombstones
        }
        func stays(at place: Int) -> Bool {
            tombstones[place].map { $0.place == place && $0.isUnchanged } ?? false
        }
    }

    /// A value of a tombstone.
    private struct Cell {
        /// Where it was.
        let place: Int
        let former: SlotKind
        let later: SlotKind
        /// Binary data have another form where they may lie in files.
        private var kinds: [SlotKind] { [former, later] }
        var isUnchanged: Bool { kinds != [.data, .externalData] && kinds != [.externalData, .data] }

        /// - Parameter column: where it was, by name.
        func sql(_ column: String, _ dialect: any SQLDialect) -> String {
            if isUnchanged { return column }
            if later == .externalData { return dialect.inlined(column) }
            // A file has gone with its row, and other programs leave the bytes alone.
            let content = dialect.content(column, length: nil)
            return "CASE WHEN \(dialect.fileReference(column).condition) THEN NULL "
                + "WHEN \(dialect.inlined(content)) = \(column) THEN \(content) ELSE \(column) END"
        }
    }

    init(_ migration: BoundMigration, from: Schema, to: Schema) {
        moves = migration.copies.map { copy in
            let names = Self.names(copy, migration, from, to)
            let (former, later) = (ChangeMask(copy.source, from), ChangeMask(copy.destination, to))
            let places = Dictionary(
                later.properties.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
            let values = former.tombstones.map { names[copy.source.slots[$0].name] }
            return Move(
                from: copy.source.index.number, to: copy.destination.index.number, names: names,
                bits: former.properties.map { names[$0].flatMap { places[$0] } }, count: later.properties.count,
                tombstones: later.tombstones.map { slot in
                    values.firstIndex { $0 == copy.destination.slots[slot].name }.map { place in
                        Cell(
                            place: place, former: copy.source.slots[former.tombstones[place]].kind,
                            later: copy.destination.slots[slot].kind)
                    }
                },
                formerTombstones: former.tombstones.count)
        }
        dropped = from.entities.filter { migration.destinations[$0.index] == nil }.map(\.index.number)
        tombstones = moves.map(\.tombstones.count).max() ?? 0
    }

    /// The names that properties have now, as masks spell them.
    private static func names(
        _ copy: BoundMigration.Copy, _ migration: BoundMigration, _ from: Schema, _ to: Schema
    ) -> [String: String] {
        var names: [String: String] = [:]
        for fill in copy.values {
            let later = copy.destination.slots[fill.slot].name
            switch fill.source {
            case .kept(let former, _):
                let name = copy.source.slots[former].name
                names[name] = later
                names[name + "#"] = later + "#"
            case .derived:
                // Its values are computed anew, but it is the attribute that it was.
                if let name = migration.pairs.sourceProperties(of: copy.destination)[later]?.name {
                    names[name] = later
                }
            case .constant, .operand, .owner: break
            }
        }
        for (later, former) in migration.links where copy.source.relationships.contains(former) {
            names[from[former].name] = to[later].name
        }
        return names
    }

    // MARK: Statements

    /// Answers the last transaction that changed an object of a removed entity, or null; nil where none is removed.
    func lastOfDropped(_ history: HistoryStatements) -> String? {
        if dropped.isEmpty { return nil }
        let numbers = dropped.map(String.init).joined(separator: ", ")
        return
            "SELECT MAX(\(history.name("ZTRANSACTIONID"))) FROM \(table(history)) WHERE \(history.name("ZENTITY")) IN (\(numbers))"
    }

    /// The entities whose masks mean something else.
    var masked: [Int] { moves.filter { !$0.keepsMasks }.map(\.from) }

    /// Answers the different masks of an entity's changes.
    func masks(of entity: Int, _ history: HistoryStatements) -> String {
        let mask = history.name("ZCOLUMNS")
        return
            "SELECT DISTINCT \(mask) FROM \(table(history)) WHERE \(history.name("ZENTITY")) = \(entity) AND \(mask) IS NOT NULL"
    }

    /// Mask before, mask afterwards. An entity that was moved has a negative number until all are.
    func moveMask(of entity: Int, _ history: HistoryStatements) -> String {
        let (number, mask) = (history.name("ZENTITY"), history.name("ZCOLUMNS"))
        let later = moves.first { $0.from == entity }?.to ?? entity
        return
            "UPDATE \(table(history)) SET \(mask) = \(history.dialect.parameter(2, like: .data(Data()))), \(number) = -\(later) "
            + "WHERE \(number) = \(entity) AND \(mask) = \(history.dialect.parameter(1, like: .data(Data())))"
    }

    /// A mask with its bits where the properties are now.
    func mask(_ former: Data, of entity: Int) -> Data {
        guard let move = moves.first(where: { $0.from == entity }) else { return former }
        var bytes = [UInt8](repeating: 0, count: (move.count + 7) / 8)
        for (place, later) in move.bits.enumerated() {
            guard let later, place / 8 < former.count,
                former[former.startIndex + place / 8] & (0x80 >> UInt8(place % 8)) != 0
            else { continue }
            bytes[later / 8] |= 0x80 >> UInt8(later % 8)
        }
        return Data(bytes)
    }

    /// All other changes, and the numbers; nothing where nothing differs.
    func statements(_ history: HistoryStatements) -> [String] {
        let (table, number) = (table(history), history.name("ZENTITY"))
        let apart = moves.filter { !$0.keepsMasks || !$0.keepsTombstones }
        let values = apart.map { move in
            let kept = (0..<max(move.formerTombstones, move.tombstones.count)).compactMap { place -> String? in
                let cell = place < move.tombstones.count ? move.tombstones[place] : nil
                if cell != nil, move.stays(at: place) { return nil }
                let value = cell.map { $0.sql(history.name("ZTOMBSTONE\($0.place)"), history.dialect) } ?? "NULL"
                return "\(history.name("ZTOMBSTONE\(place)")) = \(value)"
            }
            return
                "UPDATE \(table) SET \((kept + ["\(number) = -\(move.to)"]).joined(separator: ", ")) WHERE \(number) = \(move.from)"
        }
        let others = moves.filter { $0.keepsMasks && $0.keepsTombstones }.sorted { $0.from < $1.from }
        var numbers: [String] = []
        if others.contains(where: { $0.from != $0.to }) {
            let cases = KeptRows.renumbered(number, others.map { ($0.from, $0.to) })
            let known = others.map { String($0.from) }.joined(separator: ", ")
            numbers = ["UPDATE \(table) SET \(number) = \(cases) WHERE \(number) IN (\(known))"]
        }
        return values + numbers
            + (apart.isEmpty ? [] : ["UPDATE \(table) SET \(number) = -\(number) WHERE \(number) < 0"])
    }

    private func table(_ history: HistoryStatements) -> String { history.name(HistoryTables.Table.change.name) }
}

extension HistoryMigration {
    /// *cut off · make room for values · move masks · move values and numbers*
    func run(_ session: any SQLSession, _ texts: WriteCompiler) throws {
        let (history, reading) = (HistoryStatements(session.dialect), HistoryReading(session.dialect))
        if let sql = lastOfDropped(history), case .int(let last)? = try session.tuples(sql, []).first?.first {
            _ = try reading.shorten(before: last + 1, session, texts)
        }
        let tables = HistoryTables(tombstones: self.tombstones, dialect: session.dialect)
        let columns = try Catalogue(session).columns(of: HistoryTables.Table.change.name)
        for field in tables.fields(of: .change) where columns[field.name] == nil {
            try session.run(tables.addition(of: field, to: .change), [])
        }
        for entity in masked {
            for row in try session.tuples(masks(of: entity, history), []) {
                guard case .data(let former)? = row.first else { continue }
                try session.run(moveMask(of: entity, history), [.data(former), .data(mask(former, of: entity))])
            }
        }
        for sql in statements(history) { try session.run(sql, []) }
        try moveFormerValues(session)
    }

    /// Former values go with their properties; those of removed ones are dropped, as their bits are.
    private func moveFormerValues(_ session: any SQLSession) throws {
        guard try Catalogue(session).tables().contains(FormerValueTable.name) else { return }
        let table = FormerValueTable(session.dialect)
        let known = try session.tuples(table.properties, []).compactMap { row -> (entity: Int, property: String)? in
            guard case .int(let entity)? = row.first, let property = row[1].word else { return nil }
            return (Int(entity), property)
        }
        let places = known.map { item -> (entity: Int, property: String)? in
            moves.first { $0.from == item.entity }.flatMap { move in
                let (name, isLost) = FormerValueTable.property(item.property)
                return move.names[name].map { (move.to, isLost ? FormerValueTable.lost($0) : $0) }
            }
        }
        if zip(known, places).allSatisfy({ former, later in later.map { $0 == former } ?? false }) { return }
        for (former, later) in zip(known, places) {
            guard let later else { continue }
            try session.run(
                table.move,
                [.int(Int64(former.entity)), .text(former.property), .int(Int64(later.entity)), .text(later.property)])
        }
        for sql in table.moved { try session.run(sql, []) }
    }
}
