// The rows and links of a store in memory, with the indexes that keep every operation linear.

/// One row. Transient slots are always null.
package struct MemoryRow: Sendable {
    package let key: RowKey
    package var version: Int32
    package var values: [Value]
    package init(key: RowKey, version: Int32, values: [Value]) {
        self.key = key
        self.version = version
        self.values = values
    }
}

/// The rows of one root entity and its descendants, which share their numbers.
struct MemoryTree: Sendable {
    /// A row without its number, which is the key: a third of what the table would take.
    private struct Content {
        let entity: EntityIndex
        let version: Int32
        let values: [Value]
    }
    private var contents: [Int64: Content] = [:]
    /// Ascending, so that what is not sorted otherwise comes by number.
    private var numbers: [Int64] = []
    private var isAscending = true
    var next: Int64 = 1

    subscript(number: Int64) -> MemoryRow? {
        contents[number].map {
            MemoryRow(key: RowKey(entity: $0.entity, number: number), version: $0.version, values: $0.values)
        }
    }

    /// By number.
    var rows: [MemoryRow] { numbers.compactMap { self[$0] } }
    /// Those from a number on.
    func rows(from first: Int64) -> [MemoryRow] {
        numbers.reversed().prefix { $0 >= first }.compactMap { self[$0] }
    }

    /// Makes room, so that the tables do not grow by being copied into larger ones.
    mutating func reserve(_ count: Int) {
        contents.reserveCapacity(contents.count + count)
        numbers.reserveCapacity(numbers.count + count)
    }

    mutating func put(_ row: MemoryRow) {
        let number = row.key.number
        let content = Content(entity: row.key.entity, version: row.version, values: row.values)
        if contents.updateValue(content, forKey: number) == nil {
            if let last = numbers.last, last > number { isAscending = false }
            numbers.append(number)
        }
        next = max(next, number == .max ? number : number + 1)
    }

    mutating func remove(_ removed: Set<Int64>) {
        for number in removed { contents[number] = nil }
        numbers.removeAll(where: removed.contains)
    }

    /// Puts appended numbers into order; once a commit.
    mutating func sortNumbers() {
        if !isAscending { numbers.sort() }
        isAscending = true
    }
}

/// Everything a store in memory holds. A value: a reader keeps its copy while a commit goes on.
struct MemoryTables: Sendable {
    typealias Index = [RelationshipIndex: [Int64: Set<Int64>]]

    /// A member's place in the order of one owner; 0 for the owner where a member has only one.
    struct Place: Hashable {
        let owner: Int64
        let member: Int64
    }

    var trees: [EntityIndex: MemoryTree] = [:]
    /// By to-one: the rows that point at a target.
    var pointers: Index = [:]
    /// By many-to-many, both directions.
    var links: Index = [:]
    /// By to-many without inverse: the members of an owner, and the owner of a member.
    var adopted: Index = [:]
    var owners: [RelationshipIndex: [Int64: Int64]] = [:]
    var places: [RelationshipIndex: [Place: Int]] = [:]
    var constraints = ConstraintIndex()

    func row(_ number: Int64, in root: EntityIndex) -> MemoryRow? { trees[root]?[number] }

    /// The rows at the other end of a to-many; by place when it is ordered, unplaced ones first, else by number.
    func members(of relationship: ResolvedRelationship, owner: Int64, in schema: Schema) -> [MemoryRow] {
        let root = schema[relationship.destination].root
        let found = memberNumbers(of: relationship, owner: owner, in: schema).sorted()
            .compactMap { row($0, in: root) }
        guard relationship.isOrdered, let places = places[relationship.index] else { return found }
        let holder = relationship.isManyToMany(in: schema) ? owner : 0
        let placed = found.map { row in
            (places[Place(owner: holder, member: row.key.number)] ?? Int.min, row.key.number, row)
        }
        return placed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Whether a row is at the other end of a to-many.
    func isMember(_ member: Int64, of relationship: ResolvedRelationship, owner: Int64, in schema: Schema) -> Bool {
        memberNumbers(of: relationship, owner: owner, in: schema).contains(member)
            && row(member, in: schema[relationship.destination].root) != nil
    }

    private func memberNumbers(
        of relationship: ResolvedRelationship, owner: Int64, in schema: Schema
    ) -> Set<Int64> {
        guard let inverse = relationship.inverse else { return adopted[relationship.index]?[owner] ?? [] }
        let index = schema[inverse].isToMany ? links[relationship.index] : pointers[inverse]
        return index?[owner] ?? []
    }
}

extension ResolvedRelationship {
    func isManyToMany(in schema: Schema) -> Bool {
        guard isToMany, let inverse else { return false }
        return schema[inverse].isToMany
    }
}

// MARK: Writing

extension MemoryTables {
    mutating func put(_ row: MemoryRow, schema: Schema) {
        let entity = schema[row.key.entity]
        if let old = self.row(row.key.number, in: entity.root) { forgetPointers(of: old, entity) }
        for (slot, value) in zip(entity.slots, row.values) where slot.kind == .toOne {
            if let relationship = slot.relationship, case .int(let target) = value {
                pointers[relationship, default: [:]][target, default: []].insert(row.key.number)
            }
        }
        trees[entity.root, default: MemoryTree()].put(row)
    }

    private mutating func forgetPointers(of row: MemoryRow, _ entity: Entity) {
        for (slot, value) in zip(entity.slots, row.values) where slot.kind == .toOne {
            if let relationship = slot.relationship, case .int(let target) = value {
                pointers[relationship]?[target]?.remove(row.key.number)
            }
        }
    }

    /// Removes rows with what hangs on them: their pointers, links, places and owners.
    mutating func remove(_ keys: [RowKey], schema: Schema) {
        for (root, group) in Dictionary(grouping: keys, by: { schema[$0.entity].root }) {
            for key in group {
                guard let row = row(key.number, in: root) else { continue }
                let entity = schema[row.key.entity]
                forgetPointers(of: row, entity)
                for index in entity.toMany { unlinkAll(key.number, of: schema[index]) }
                leaveOwners(key.number, entity, schema)
            }
            trees[root]?.remove(Set(group.map(\.number)))
        }
    }

    private mutating func unlinkAll(_ number: Int64, of relationship: ResolvedRelationship) {
        guard let inverse = relationship.inverse else { return }
        for other in links[relationship.index]?.removeValue(forKey: number) ?? [] {
            links[inverse]?[other]?.remove(number)
            places[relationship.index]?[Place(owner: number, member: other)] = nil
            places[inverse]?[Place(owner: other, member: number)] = nil
        }
    }

    private mutating func leaveOwners(_ number: Int64, _ entity: Entity, _ schema: Schema) {
        for index in owners.keys where schema[schema[index].destination].root == entity.root {
            if let owner = owners[index]?.removeValue(forKey: number) { adopted[index]?[owner]?.remove(number) }
        }
        for index in places.keys where schema[schema[index].destination].root == entity.root {
            places[index]?[Place(owner: 0, member: number)] = nil
        }
    }

    mutating func link(_ change: LinkChange, schema: Schema) {
        let relationship = schema[change.relationship]
        guard let inverse = relationship.inverse else { return }
        let owner = change.owner.number
        for member in change.removed {
            links[relationship.index]?[owner]?.remove(member.number)
            links[inverse]?[member.number]?.remove(owner)
            places[relationship.index]?[Place(owner: owner, member: member.number)] = nil
            places[inverse]?[Place(owner: member.number, member: owner)] = nil
        }
        for member in change.added {
            links[relationship.index, default: [:]][owner, default: []].insert(member.number)
            links[inverse, default: [:]][member.number, default: []].insert(owner)
        }
    }

    /// Only members have a place; an order that was made from old rows may name others.
    mutating func order(_ change: OrderChange, schema: Schema) {
        let relationship = schema[change.relationship]
        let holder = relationship.isManyToMany(in: schema) ? change.owner.number : 0
        let members = memberNumbers(of: relationship, owner: change.owner.number, in: schema)
        let first = change.isTail ? lastPlace(of: members, relationship, holder) + 1 : 0
        for (place, member) in zip(first..., change.members) where members.contains(member.number) {
            places[change.relationship, default: [:]][Place(owner: holder, member: member.number)] = place
        }
    }

    private func lastPlace(of members: Set<Int64>, _ relationship: ResolvedRelationship, _ holder: Int64) -> Int {
        guard let places = places[relationship.index] else { return -1 }
        return members.reduce(-1) { last, member in max(last, places[Place(owner: holder, member: member)] ?? -1) }
    }

    mutating func adopt(_ change: AdoptionChange) {
        let (index, owner) = (change.relationship, change.owner.number)
        for member in change.removed where owners[index]?[member.number] == owner {
            owners[index]?[member.number] = nil
            adopted[index]?[owner]?.remove(member.number)
        }
        for member in change.added {
            if let old = owners[index, default: [:]].updateValue(owner, forKey: member.number) {
                adopted[index]?[old]?.remove(member.number)
            }
            adopted[index, default: [:]][owner, default: []].insert(member.number)
        }
    }
}
