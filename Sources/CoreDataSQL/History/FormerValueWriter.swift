// Keeps what rows have before a commit changes them.

import CoreDataValues

/// Called inside the transaction of a commit, while the rows are as they were.
package struct FormerValueWriter: Sendable {
    private let table: FormerValueTable
    private let map: StoreMap

    init(_ map: StoreMap) {
        self.map = map
        table = FormerValueTable(map.dialect)
    }

    func prepare(_ session: any SQLSession) throws {
        if try Catalogue(session).tables().contains(FormerValueTable.name) { return }
        for sql in table.definitions { try session.run(sql, []) }
    }

    func mark(_ transaction: Int64, _ session: any SQLSession) throws {
        try session.run(table.mark, [.int(transaction)])
    }

    /// - Parameter mask: what an update changes; nil for a deletion, which takes all.
    func keep(
        _ entity: EntityIndex, _ mask: [UInt8]?, _ masks: ChangeMask, _ rows: FormerValueTable.Rows, _ numbers: [Int64],
        _ transaction: Int64, _ session: any SQLSession
    ) throws {
        let description = map.schema[entity]
        let source = try map.table(of: entity)
        let changed = mask.map { masks.changed(in: .init($0)) }
        let slots = changed?.slots ?? description.slots.indices.filter { description.slots[$0].kind != .entityTag }
        let list = { () -> [Value] in if case .listed = rows { [map.dialect.list(numbers)] } else { [] } }()
        let origin: [Value] = [.int(transaction), .int(Int64(entity.number))]
        for slot in slots {
            guard let column = source.column(of: slot, in: entity) else { continue }
            let name = Value.text(description.slots[slot].name)
            try session.run(table.keep(source.columns[column], of: source.name, rows: rows), origin + [name] + list)
        }
        for index in changed?.relationships ?? description.toMany where !map.schema[index].description.isTransient {
            guard let members = try map.members(of: index) else { continue }
            try session.run(table.keep(members, rows: rows), origin + [.text(map.schema[index].name)] + list)
        }
        for relationship in map.schema.relationships where relationship.isLeft(by: entity, changed?.slots, map.schema) {
            try keepLost(relationship, rows, numbers, transaction, session)
        }
    }

    /// Keeps whose members rows are.
    func keepLost(
        _ relationship: ResolvedRelationship, _ rows: FormerValueTable.Rows, _ numbers: [Int64], _ transaction: Int64,
        _ session: any SQLSession
    ) throws {
        guard let members = try map.members(of: relationship.index) else { return }
        let owner = map.schema[relationship.owner]
        let hasOthers = map.schema[owner.root].hasSubentities
        let sql = try table.keepLost(
            members, of: map.table(of: owner.index).name, entity: hasOthers ? nil : owner.index.number, rows: rows)
        let list = if case .listed = rows { [map.dialect.list(numbers)] } else { [Value]() }
        try session.run(sql, [.int(transaction), .text(FormerValueTable.lost(relationship.name))] + list)
    }
}

extension SQLReader {
    /// What rows had before a transaction; nil where nobody kept it.
    package func formerValues(of transaction: Int64) throws -> [FormerCell]? {
        var rows: [[Value]] = []
        try source.read(.latest) { session in
            guard try Catalogue(session).tables().contains(FormerValueTable.name) else { return }
            rows = try session.tuples(FormerValueTable(plan.map.dialect).values, [.int(transaction)])
        }
        return rows.isEmpty ? nil : rows.compactMap(formerValue)
    }

    /// nil for a row that says no more than that values are kept, and for what the model does not have any more.
    private func formerValue(_ row: [Value]) -> FormerCell? {
        let schema = plan.map.schema
        guard case .int(let entity) = row[0], schema.entities.indices.contains(Int(truncatingIfNeeded: entity) - 1),
            case .int(let number) = row[1], let property = row[2].word
        else { return nil }
        let index = EntityIndex(Int(entity) - 1)
        let (name, isLost) = FormerValueTable.property(property)
        let slot = schema[index].slots.first { $0.name == name && $0.kind != .entityTag }
        let place: Int64? = if case .int(let place) = row[3] { place } else { nil }
        return FormerCell(
            key: RowKey(entity: index, number: number), property: name, place: place,
            value: row[4].kept(as: slot?.kind ?? .toOne), isLost: isLost)
    }
}

extension ResolvedRelationship {
    /// Whether a row can leave it of which the owner's own change need not tell: it has no inverse and the row is deleted, or it has an
    /// order and the row's to-one goes elsewhere.
    ///
    /// - Parameter slots: what an update of the row changes; nil for a deletion.
    fileprivate func isLeft(by entity: EntityIndex, _ slots: [Int]?, _ schema: Schema) -> Bool {
        guard isToMany, !description.isTransient, accepts(entity.rawValue) else { return false }
        guard let inverse = inverse.map({ schema[$0] }) else { return slots == nil && lender == nil }
        guard isOrdered, let slot = inverse.slot else { return false }
        return slots?.contains(slot) ?? true
    }
}
