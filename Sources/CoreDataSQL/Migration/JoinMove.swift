// What becomes of one join table.

import CoreDataValues

/// A join table that stays and whose columns get other names, as those of files that Core Data has migrated.
struct JoinMove {
    let from: JoinTable
    let to: JoinTable
    let renamedColumns: [(from: String, to: String)]
    let addedColumns: [String]
    /// The ends of the pairs: the column with its former name, the entities that it may name, and those that it may name afterwards.
    let ends: [(column: String, among: ClosedRange<UInt16>, as: ClosedRange<UInt16>)]

    var isUnchanged: Bool { from.name == to.name && renamedColumns.isEmpty && addedColumns.isEmpty }

    /// nil for a table that is filled anew.
    init?(to: JoinTable, _ migration: BoundMigration, from map: StoreMap) {
        guard let (later, link) = migration.origin(of: to), case .pairs = migration.place(of: link),
            let from = map.join(of: link),
            from.isReflexive == to.isReflexive
        else { return nil }
        let (former, relationship) = (migration.source[link], migration.destination[later])
        let (source, side) = (from.side(of: link), to.side(of: later))
        var names = [(source.owner, side.owner), (source.member, side.member)]
        var orders = [(source.order, side.order)]
        if !to.isReflexive, let back = former.inverse, let forth = relationship.inverse {
            orders.append((from.side(of: back).order, to.side(of: forth).order))
        }
        var added: [String] = []
        for (order, place) in orders {
            switch (order, place) {
            case (let order?, let place?): names.append((order, place))
            case (nil, let place?): added.append(place)
            case (_?, nil): return nil
            case (nil, nil): break
            }
        }
        (self.from, self.to, addedColumns) = (from, to, added)
        renamedColumns = names.filter { $0.0 != $0.1 }.map { (from: $0.0, to: $0.1) }
        ends = [
            (source.owner, map.schema.range(of: former.owner), migration.destination.range(of: relationship.owner)),
            (source.member, former.destinations, relationship.destinations),
        ]
    }
}

extension StoreMap {
    /// The tables that a migration of a store leaves, whose join tables keep the names that its file gave them.
    package convenience init(_ later: StoreMap, after store: StoreMap, _ migration: BoundMigration) {
        self.init(later, joins: JoinMove.keptNames(of: later.joins, migration, store))
    }
}

extension JoinMove {
    /// Later join tables under the names that a file gave them, where the model's own names are as they were.
    fileprivate static func keptNames(of joins: [JoinTable], _ migration: BoundMigration, _ store: StoreMap)
        -> [JoinTable]
    {
        let computed = JoinTablePlan(schema: migration.source).tables()
        return joins.map { join in
            guard let (later, link) = migration.origin(of: join), let back = migration.source[link].inverse,
                let forth = migration.destination[later].inverse,
                let former = computed.first(where: { [$0.relationship, $0.inverse].contains(link) }),
                let stored = store.join(of: link),
                former.name == join.name, former.side(of: link) == join.side(of: later),
                former.side(of: back) == join.side(of: forth), stored.isReflexive == join.isReflexive
            else { return join }
            let (own, other) = (stored.side(of: link), stored.side(of: back))
            let isFirst = later == join.relationship
            return JoinTable(
                name: stored.name, relationship: join.relationship, inverse: join.inverse, side: isFirst ? own : other,
                inverseSide: isFirst ? other : own)
        }
    }
}
