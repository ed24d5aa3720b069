// What becomes of one table of entities.

import CoreDataValues

/// The way of a tree's rows from its former table to its later one: in place where columns only get other names and further ones are
/// added, else into a new table.
///
/// So do files that Core Data has migrated: tables without a column of the former model are made anew, all others have what was added
/// at their end. Where clean-up is put off, a column that goes is only left out.
struct TableMove {
    let from: TableMap
    let to: TableMap
    /// The entities of the tree whose rows stay, and those whose rows go.
    let copies: [BoundMigration.Copy]
    let dropped: [Entity]
    /// For each later column the former one; nil for a column that is added. nil as a whole for a table that is made anew.
    let columns: [Column?]?

    var isInPlace: Bool { columns != nil }

    /// - Parameter keepsColumns: whether a table may keep columns that are not wanted any more.
    init(from: TableMap, to: TableMap, _ migration: BoundMigration, isInPlace: Bool, keepsColumns: Bool = false) {
        (self.from, self.to) = (from, to)
        copies = migration.copies.filter { $0.destination.root == to.root }
        dropped = migration.source.entities.filter { $0.root == from.root && migration.destinations[$0.index] == nil }
        let strays = migration.copies.contains { $0.source.root == from.root && $0.destination.root != to.root }
        columns = isInPlace && !strays ? ColumnMatch(from, to, copies, migration, keepsColumns).columns() : nil
    }

    /// Former and later names, where they differ.
    var renamedColumns: [(from: String, to: String)] {
        zip(columns ?? [], to.columns).compactMap { former, later in
            former.flatMap { $0.name == later.name ? nil : ($0.name, later.name) }
        }
    }

    /// Former columns of a table that stays from which no later one comes.
    var leftColumns: [Column] {
        guard let columns else { return [] }
        let used = Set(columns.compactMap { $0?.name })
        return from.columns.filter { !used.contains($0.name) }
    }

    var addedColumns: [Column] { zip(columns ?? [], to.columns).compactMap { $0 == nil ? $1 : nil } }
}

/// Finds for each column of a later table the one that has its values.
private struct ColumnMatch {
    private let from: TableMap
    private let to: TableMap
    private let copies: [BoundMigration.Copy]
    private let migration: BoundMigration
    private let keepsColumns: Bool

    init(
        _ from: TableMap, _ to: TableMap, _ copies: [BoundMigration.Copy], _ migration: BoundMigration,
        _ keepsColumns: Bool
    ) {
        (self.from, self.to, self.copies, self.migration, self.keepsColumns) = (
            from, to, copies, migration, keepsColumns
        )
    }

    private enum Answer: Equatable {
        case none
        case column(Int)
        /// Of each row by itself.
        case computed
    }

    /// nil where a value must be moved from one column to another, or a column goes, or may stay but for its name.
    func columns() -> [Column?]? {
        var found: [Column?] = []
        var used: Set<Int> = []
        for later in to.columns {
            let concerned = copies.filter { isOf($0.destination, later.entity, migration.destination) }
            let answers = concerned.map { answer(later, $0) }
            guard let first = answers.first else {
                found.append(nil)
                continue
            }
            guard answers.allSatisfy({ $0 == first }) else { return nil }
            switch first {
            case .computed: return nil
            case .none: found.append(nil)
            case .column(let place):
                let former = from.columns[place]
                let owners = copies.filter { isOf($0.source, former.entity, migration.source) }
                guard former.kind == later.kind, used.insert(place).inserted, owners.count == concerned.count else {
                    return nil
                }
                found.append(former)
            }
        }
        if used.count == from.columns.count { return found }
        let left = Set(from.columns.indices.filter { !used.contains($0) }.map { from.columns[$0].name.uppercased() })
        return keepsColumns && !to.columns.contains { left.contains($0.name.uppercased()) } ? found : nil
    }

    private func isOf(_ entity: Entity, _ other: EntityIndex, _ schema: Schema) -> Bool {
        entity.isKind(of: schema[other])
    }

    private func answer(_ later: Column, _ copy: BoundMigration.Copy) -> Answer {
        switch later.role {
        case .slot(let slot): answer(slot, copy)
        case .order(let relationship):
            place(migration.links[relationship].flatMap { from.orderPlace(of: $0) })
        case .owner(let relationship):
            migration.links[relationship].map { link in
                switch migration.place(of: link) {
                case .members: self.owner(of: link)
                case .owner, .pairs: .computed
                }
            } ?? .none
        }
    }

    private func answer(_ slot: Int, _ copy: BoundMigration.Copy) -> Answer {
        let isTag = copy.destination.slots[slot].kind == .entityTag
        guard let fill = copy.values.first(where: { $0.slot == (isTag ? slot - 1 : slot) }) else { return .none }
        switch fill.source {
        case .constant, .derived: return .none
        case .operand: return .computed
        case .owner(let relationship):
            let link = migration.source[relationship]
            if isTag { return migration.source[link.owner].hasSubentities ? .computed : .none }
            return link.isToMany ? owner(of: relationship) : .computed
        case .kept(let former, _):
            if !isTag { return place(from.column(of: former, in: copy.source.index)) }
            let hasTag =
                copy.source.slots.indices.contains(former + 1) && copy.source.slots[former + 1].kind == .entityTag
            return hasTag ? place(from.column(of: former + 1, in: copy.source.index)) : .none
        }
    }

    /// The column with the owner of a member.
    private func owner(of link: RelationshipIndex) -> Answer {
        let relationship = migration.source[link]
        guard migration.source[relationship.destination].root == from.root else { return .computed }
        if let back = relationship.inverse.map({ migration.source[$0] }), let slot = back.slot {
            return place(from.column(of: slot, in: back.owner))
        }
        return place(from.ownerPlace(of: link))
    }

    private func place(_ place: Int?) -> Answer { place.map(Answer.column) ?? .none }
}
