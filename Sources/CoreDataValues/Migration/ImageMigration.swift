// A migration of a store whose rows are all in memory.

import Foundation

/// What a plan makes of the content of a store: the same as a database makes of its tables.
package struct ImageMigration {
    private let migration: BoundMigration
    private let image: StoreImage
    /// Of the store's file.
    private let path: String
    /// The rows of the source by the root of their tree and their numbers.
    private var rows: [EntityIndex: [Int64: MemoryRow]] = [:]
    private var source: Schema { migration.source }
    private var destination: Schema { migration.destination }

    package init(_ migration: BoundMigration, _ image: StoreImage, path: String) {
        (self.migration, self.image, self.path) = (migration, image, path)
        for row in image.rows { rows[migration.source[row.key.entity].root, default: [:]][row.key.number] = row }
    }

    /// - Throws: 1570 for objects that are left without a required value, 134111 for objects that break a uniqueness constraint (both: 1570 with all of them), 134110
    ///   for values that only a database computes.
    package func migrated() throws(StoreError) -> StoreImage {
        var later = StoreImage(metadata: image.metadata)
        let copies = Dictionary(migration.copies.map { ($0.source.index, $0) }, uniquingKeysWith: { first, _ in first })
        let members = Members(migration, image, rows)
        let owners = members.owners()
        for row in image.rows {
            guard let copy = copies[row.key.entity] else { continue }
            later.rows.append(try self.row(row, copy, owners))
        }
        for (root, next) in image.next {
            for copy in migration.copies where source[copy.source.root].index == root {
                let tree = destination[copy.destination.root].index
                later.next[tree] = max(later.next[tree] ?? 1, next)
            }
        }
        for relationship in destination.relationships
        where relationship.isToMany && !relationship.description.isTransient {
            add(relationship, members, to: &later)
        }
        var refusals = [missingValues(later)].compactMap { $0 } + equalObjects(later)
        if refusals.isEmpty { return later }
        refusals[0].objects = refusals.flatMap(\.objects)
        throw refusals[0]
    }

    // MARK: Rows

    private func row(
        _ row: MemoryRow, _ copy: BoundMigration.Copy, _ owners: [RelationshipIndex: [Int64: Int64]]
    ) throws(StoreError) -> MemoryRow {
        let slots = copy.destination.slots
        var values = [Value](repeating: .null, count: slots.count)
        for fill in copy.values {
            switch fill.source {
            case .constant(let value): values[fill.slot] = value
            case .derived: break
            case .operand:
                throw StoreError(
                    134110,
                    "unsupported: \(copy.destination.name).\(slots[fill.slot].name) is computed, which only a database does.",
                    entity: copy.destination.name, property: slots[fill.slot].name)
            case .owner(let link):
                guard let owner = owners[link]?[row.key.number] else { continue }
                point(fill.slot, at: owner, among: source[source[link].owner].root, copy.destination, &values)
            case .kept(let former, let other):
                guard let index = copy.source.slots[former].relationship else {
                    let value = Self.moved(row.values[former], copy.source.slots[former].kind, slots[fill.slot].kind)
                    values[fill.slot] = value.isNull ? other : value
                    continue
                }
                guard case .int(let target) = row.values[former] else { continue }
                point(fill.slot, at: target, among: source[source[index].destination].root, copy.destination, &values)
            }
        }
        return MemoryRow(
            key: RowKey(entity: copy.destination.index, number: row.key.number), version: row.version, values: values)
    }

    /// Binary data have another form where they may lie in files.
    private static func moved(_ value: Value, _ former: SlotKind, _ later: SlotKind) -> Value {
        guard case .data(let data) = value, former != later else { return value }
        if later == .externalData { return .data(Data([1]) + data) }
        return former == .externalData ? .data(ExternalReference.content(data) ?? data) : value
    }

    /// Sets a to-one, if its target comes along and may stand there.
    private func point(
        _ slot: Int, at target: Int64, among root: EntityIndex, _ entity: Entity, _ values: inout [Value]
    ) {
        guard let index = entity.slots[slot].relationship, let former = rows[root]?[target]?.key.entity,
            let later = migration.destinations[former], destination[index].accepts(later.rawValue)
        else { return }
        values[slot] = .int(target)
        if slot + 1 < entity.slots.count, entity.slots[slot + 1].kind == .entityTag {
            values[slot + 1] = .int(Int64(later.number))
        }
    }

    // MARK: Members

    /// Pairs that no row tells, and the members' places.
    private func add(_ later: ResolvedRelationship, _ members: Members, to image: inout StoreImage) {
        guard let link = migration.links[later.index] else {
            // The inverse may know the pairs.
            if let inverse = later.inverse, destination[inverse].isToMany, later.index.rawValue < inverse.rawValue,
                let link = migration.links[inverse]
            {
                let pairs = kept(members.pairs(of: link), link, destination[inverse])
                image.links += pairs.map {
                    StoreImage.Pair(relationship: later.index, owner: $0.member, member: $0.owner)
                }
            }
            return
        }
        let pairs = kept(members.pairs(of: link), link, later)
        let isJoined = later.inverse.map { destination[$0].isToMany } ?? false
        if let inverse = later.inverse {
            if isJoined, later.index.rawValue <= inverse.rawValue {
                let own = pairs.filter { later.index != inverse || $0.owner <= $0.member }
                image.links += own.map {
                    StoreImage.Pair(relationship: later.index, owner: $0.owner, member: $0.member)
                }
            }
        } else if later.lender == nil {
            var taken: Set<Int64> = []
            for pair in pairs.sorted(by: { $0.owner < $1.owner }) where taken.insert(pair.member).inserted {
                image.adoptions.append(
                    StoreImage.Pair(relationship: later.index, owner: pair.owner, member: pair.member))
            }
        }
        guard later.isOrdered, source[link].isOrdered, source[link].isToMany else { return }
        let owners = Dictionary(pairs.map { ($0.member, $0.owner) }, uniquingKeysWith: { first, _ in first })
        for place in self.image.places where place.relationship == link {
            let owner = isJoined ? (place.owner == 0 ? owners[place.member] ?? 0 : place.owner) : 0
            image.places.append(
                StoreImage.Pair(relationship: later.index, owner: owner, member: place.member, place: place.place))
        }
    }

    private func kept(
        _ pairs: [(owner: Int64, member: Int64)], _ link: RelationshipIndex, _ later: ResolvedRelationship
    ) -> [(owner: Int64, member: Int64)] {
        let former = source[link]
        let (owners, members) = (source[former.owner].root, source[former.destination].root)
        return pairs.filter { pair in
            guard let owner = rows[owners]?[pair.owner].flatMap({ migration.destinations[$0.key.entity] }),
                let member = rows[members]?[pair.member].flatMap({ migration.destinations[$0.key.entity] })
            else { return false }
            return destination[owner].isKind(of: destination[later.owner]) && later.accepts(member.rawValue)
        }
    }

    // MARK: Refusals

    private func missingValues(_ later: StoreImage) -> StoreError? {
        var missing: [String: (entity: Entity, slot: Int, uris: [String], count: Int)] = [:]
        for row in later.rows {
            let entity = destination[row.key.entity]
            for (place, slot) in entity.slots.enumerated()
            where slot.isRequired && row.values[place].isNull && slot.attribute?.isDerived != true {
                var found = missing["\(entity.name).\(slot.name)"] ?? (entity, place, [], 0)
                if found.uris.count < FailedObject.limit { found.uris.append(uri(row)) }
                found.count += 1
                missing["\(entity.name).\(slot.name)"] = found
            }
        }
        let sorted = missing.values.sorted { ($0.entity.index, $0.slot) < ($1.entity.index, $1.slot) }
        let values = sorted.map {
            MissingValues($0.entity.name, $0.entity.slots[$0.slot].name, $0.uris, count: $0.count)
        }
        return StoreError.missingValues(values, path)
    }

    /// An error for each uniqueness constraint that objects break.
    private func equalObjects(_ later: StoreImage) -> [StoreError] {
        var claims: [ConstraintIndex.Claim: [MemoryRow]] = [:]
        for row in later.rows {
            for claim in ConstraintIndex.claims(of: row, schema: destination) { claims[claim, default: []].append(row) }
        }
        let equal = claims.filter { $0.value.count > 1 }
        return destination.entities.flatMap { entity in
            entity.constraints.filter { $0.owner == entity.index }.compactMap { constraint in
                let groups = equal.filter {
                    $0.key.name.entity == entity.index && $0.key.name.position == constraint.position
                }.values.sorted { $0[0].key.number < $1[0].key.number }
                if groups.isEmpty { return nil }
                return StoreError.equalObjects(
                    groups.joined().map { row in
                        (uri(row), constraint.slots.map { row.values[$0].shown }.joined(separator: ", "))
                    }, in: constraint.names, of: entity.name, path)
            }
        }
    }

    /// An object by its name in the former model.
    private func uri(_ row: MemoryRow) -> String {
        let former = migration.copies.first { $0.destination.index == row.key.entity }?.source.name ?? ""
        return "x-coredata://\(image.metadata.uuid)/\(former)/p\(row.key.number)"
    }
}

/// The pairs of relationships of the source.
private struct Members {
    private let migration: BoundMigration
    private let image: StoreImage
    private let rows: [EntityIndex: [Int64: MemoryRow]]

    init(_ migration: BoundMigration, _ image: StoreImage, _ rows: [EntityIndex: [Int64: MemoryRow]]) {
        (self.migration, self.image, self.rows) = (migration, image, rows)
    }

    /// The object that has each row among its members, or as its target, by the relationships that the migration asks for; of several the
    /// first.
    func owners() -> [RelationshipIndex: [Int64: Int64]] {
        var owners: [RelationshipIndex: [Int64: Int64]] = [:]
        for fill in migration.copies.flatMap(\.values) {
            guard case .owner(let link) = fill.source, owners[link] == nil else { continue }
            owners[link] = Dictionary(pairs(of: link).map { ($0.member, $0.owner) }, uniquingKeysWith: min)
        }
        return owners
    }

    func pairs(of link: RelationshipIndex) -> [(owner: Int64, member: Int64)] {
        let relationship = migration.source[link]
        switch migration.place(of: link) {
        case .owner: return told(by: relationship).map { ($0.row, $0.target) }
        case .members:
            guard let back = relationship.inverse ?? relationship.lender else {
                return image.adoptions.filter { $0.relationship == link }.map { ($0.owner, $0.member) }
            }
            return told(by: migration.source[back]).map { ($0.target, $0.row) }
        case .pairs:
            var pairs: [(owner: Int64, member: Int64)] = []
            for pair in image.links {
                if pair.relationship == link { pairs.append((pair.owner, pair.member)) }
                guard pair.relationship == relationship.inverse, pair.relationship != link || pair.owner != pair.member
                else { continue }
                pairs.append((pair.member, pair.owner))
            }
            return pairs
        }
    }

    private func told(by toOne: ResolvedRelationship) -> [(row: Int64, target: Int64)] {
        guard let slot = toOne.slot else { return [] }
        let owner = migration.source[toOne.owner]
        return (rows[owner.root] ?? [:]).values.compactMap { row in
            guard migration.source[row.key.entity].isKind(of: owner), case .int(let target) = row.values[slot] else {
                return nil
            }
            return (row.key.number, target)
        }.sorted { $0.row < $1.row }
    }
}

extension MemoryStore {
    /// The same with the attributes computed that a migration says are.
    package func deriving(_ migration: BoundMigration) throws -> MemoryStore {
        guard let derived else { return self }
        var state = try withState { $0 }
        derived.deriveAll(in: &state.tables) { attribute in
            migration.copies.contains { copy in
                copy.destination.isKind(of: migration.destination[attribute.entity])
                    && copy.values.contains { fill in
                        if case .derived = fill.source { fill.slot == attribute.slot } else { false }
                    }
            }
        }
        return MemoryStore(like: self, state)
    }
}
