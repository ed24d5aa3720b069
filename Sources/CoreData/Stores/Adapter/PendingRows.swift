// A store with one batch laid over it: what it will hold once the batch is written.

import CoreDataValues
import Foundation

/// Shows another's store its own future while it saves. Only rows and members are asked of it.
final class PendingRows: StoreReader, @unchecked Sendable {
    let schema: Schema
    var capabilities: StoreCapabilities { [] }
    let base: any StoreReader
    private let batch: ChangeBatch
    /// Inserted and updated rows, by tree and number.
    private(set) var rows: [RowKey: MemoryRow] = [:]
    /// Updated rows as they are now, in the order of the batch.
    private(set) var former: [(row: MemoryRow, slots: [Int])] = []
    private(set) var inserted: [RowKey] = []
    private(set) var deleted: [MemoryRow] = []
    /// The inserted and the deleted rows, by tree and number.
    private var new: Set<RowKey> = []
    private var gone: Set<RowKey> = []
    private(set) var conflicts: [Conflict] = []

    /// Reads the batch and compares it with what is there.
    init(_ batch: ChangeBatch, over base: any StoreReader) throws {
        self.batch = batch
        self.base = base
        schema = base.schema
        for key in batch.absences {
            guard let row = try baseRows([key.number], in: schema[key.entity].root).first else { continue }
            conflicts.append(Conflict(key: key, expected: 0, kind: .changed(version: row.version)))
        }
        for chunk in batch.inserts {
            for index in 0..<chunk.count {
                let row = read(chunk, index)
                rows[place(row.key)] = row
                inserted.append(row.key)
                new.insert(place(row.key))
            }
        }
        for group in batch.updates { try readUpdates(group) }
        for group in batch.deletes {
            for (number, expected) in zip(group.numbers, group.expected) {
                let key = RowKey(entity: group.entity, number: number)
                guard let row = try current(key, expected) else { continue }
                deleted.append(row)
                gone.insert(place(row.key))
            }
        }
        for check in batch.checks {
            for (number, expected) in zip(check.numbers, check.expected) {
                _ = try current(RowKey(entity: check.entity, number: number), expected)
            }
        }
    }

    private func readUpdates(_ group: UpdateGroup) throws {
        for index in 0..<group.chunk.count {
            let new = read(group.chunk, index)
            guard var row = try current(new.key, group.expected[index]) else { continue }
            former.append((row, group.slots))
            row.version = new.version
            for slot in group.slots { row.values[slot] = new.values[slot] }
            rows[place(row.key)] = row
        }
    }

    private func read(_ chunk: RowChunk, _ index: Int) -> MemoryRow {
        let header = chunk.row(index)
        return MemoryRow(
            key: RowKey(entity: chunk.layout.entity, number: header.key(chunk.layout)),
            version: header.version(chunk.layout), values: chunk.values(row: index))
    }

    private func place(_ key: RowKey) -> RowKey { RowKey(entity: schema[key.entity].root, number: key.number) }

    private func current(_ key: RowKey, _ expected: Int32) throws -> MemoryRow? {
        guard let row = try baseRows([key.number], in: schema[key.entity].root).first else {
            conflicts.append(Conflict(key: key, expected: expected, kind: .deleted))
            return nil
        }
        guard row.version == expected else {
            conflicts.append(Conflict(key: key, expected: expected, kind: .changed(version: row.version)))
            return nil
        }
        return row
    }

    func baseRows(_ numbers: [Int64], in root: EntityIndex) throws -> [MemoryRow] {
        guard !numbers.isEmpty else { return [] }
        var found: [MemoryRow] = []
        try base.rows(for: numbers, in: root, .latest) { batch in
            found += read(batch)
            return .more
        }
        return found
    }

    private func read(_ batch: RowBatch) -> [MemoryRow] {
        guard let order = batch.order else { return (0..<batch.first.count).map { read(batch.first, $0) } }
        let chunks = batch.chunks
        return order.map { read(chunks[Int($0.chunk)], Int($0.row)) }
    }

    /// Rows that the batch touches only by their relationships. They may be gone: nobody has changed a value of theirs.
    func touchedByRelations() throws -> Set<RowKey> {
        var touched: Set<RowKey> = []
        for change in batch.links {
            touched.insert(change.owner)
            touched.formUnion(change.added)
            touched.formUnion(change.removed)
        }
        for change in batch.adoptions { touched.insert(change.owner) }
        for change in batch.orders { touched.insert(change.owner) }
        touched.formUnion(ownersOfMoved)
        for row in deleted { touched.formUnion(try partners(of: row)) }
        return touched.filter { rows[place($0)] == nil && !gone.contains(place($0)) }
    }

    /// Rows that get or lose members because to-ones are written. The batch need not name them: who wrote it may know another
    /// former owner than there is.
    private var ownersOfMoved: Set<RowKey> {
        var owners: Set<RowKey> = []
        for key in inserted { rows[place(key)].map { owners.formUnion(self.owners(of: $0)) } }
        for row in deleted { owners.formUnion(self.owners(of: row)) }
        for (row, _) in former {
            guard let new = rows[place(row.key)] else { continue }
            owners.formUnion(self.owners(of: row).symmetricDifference(self.owners(of: new)))
        }
        return owners
    }

    /// The rows that a deleted one leaves the many-to-many pairs of. Its writer has parted those that it knew of.
    private func partners(of row: MemoryRow) throws -> [RowKey] {
        try schema[row.key.entity].toMany.filter { schema[$0].inverse.map { schema[$0].isToMany } == true }
            .flatMap { try baseMembers(of: $0, row.key) }
    }

    /// The rows that have a row among their members, by its to-ones.
    private func owners(of row: MemoryRow) -> Set<RowKey> {
        var owners: Set<RowKey> = []
        for relationship in schema[row.key.entity].relationships.lazy.map({ self.schema[$0] })
        where relationship.inverse.map({ schema[$0].isToMany }) == true {
            guard let slot = relationship.slot, case .int(let number) = row.values[slot] else { continue }
            var entity = relationship.destination
            if relationship.hasEntityTag, case .int(let tag) = row.values[slot + 1], tag > 0 {
                entity = EntityIndex(Int(tag) - 1)
            }
            owners.insert(RowKey(entity: entity, number: number))
        }
        return owners
    }

    // MARK: Reading

    // What is laid over the store is its next state, so that there is no other view than that.
    func open(_ plan: FetchPlan, _ view: ReadView) throws -> any ReadCursor<RowBatch> {
        try view.requireLatest()
        return try base.open(plan, view)
    }

    func count(_ plan: FetchPlan, _ view: ReadView) throws -> Int {
        try view.requireLatest()
        return try base.count(plan, view)
    }

    func rows(
        for numbers: [Int64], in root: EntityIndex, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        try BatchPacker(schema: schema).pack(try present(numbers, in: schema[root].root)[...], receive)
    }

    private func present(_ numbers: [Int64], in root: EntityIndex) throws -> [MemoryRow] {
        let missing = numbers.filter { rows[RowKey(entity: root, number: $0)] == nil }
        let found = Dictionary(
            try baseRows(missing, in: root).map { ($0.key.number, $0) }, uniquingKeysWith: { a, _ in a })
        return numbers.compactMap { rows[RowKey(entity: root, number: $0)] ?? found[$0] }
    }

    func members(
        of relationship: RelationshipIndex, owner: RowKey, _ view: ReadView, _ receive: (RowBatch) throws -> FetchStep
    ) throws {
        try view.requireLatest()
        let resolved = schema[relationship]
        let root = schema[resolved.destination].root
        var numbers: [Int64] = []
        if !new.contains(place(owner)) {
            numbers = try baseMembers(of: relationship, owner).map(\.number)
        }
        apply(resolved, owner, &numbers)
        if !gone.contains(place(owner)) { numbers.removeAll { gone.contains(RowKey(entity: root, number: $0)) } }
        if let order = batch.orders.last(where: { $0.relationship == relationship && $0.owner.number == owner.number })
        {
            let places = Dictionary(
                order.members.enumerated().map { ($0.element.number, $0.offset) }, uniquingKeysWith: { a, _ in a })
            let others = numbers.filter { places[$0] == nil }
            numbers =
                (order.isTail ? others : others.sorted())
                + numbers.filter { places[$0] != nil }.sorted { (places[$0] ?? 0) < (places[$1] ?? 0) }
        }
        try BatchPacker(schema: schema).pack(try present(numbers, in: root)[...], receive)
    }

    private func baseMembers(of relationship: RelationshipIndex, _ owner: RowKey) throws -> [RowKey] {
        try base.memberKeys(of: relationship, owner: owner, .latest)
    }

    /// What the batch changes of the members.
    private func apply(_ relationship: ResolvedRelationship, _ owner: RowKey, _ numbers: inout [Int64]) {
        var change = MemberChange()
        if let inverse = relationship.inverse.map({ schema[$0] }) {
            if inverse.isToMany {
                change.add(batch.links, relationship, inverse, owner.number)
            } else {
                change.add(rows, inverse, owner.number, schema)
            }
        } else {
            for adoption in batch.adoptions where adoption.relationship == relationship.index {
                if adoption.owner.number == owner.number {
                    change.removed.formUnion(adoption.removed.map(\.number))
                    change.added += adoption.added.map(\.number)
                } else {
                    change.removed.formUnion(adoption.added.map(\.number))
                }
            }
        }
        numbers.removeAll { change.removed.contains($0) }
        let present = Set(numbers)
        numbers += change.added.filter { !present.contains($0) }
    }

}

/// Members that come and go.
private struct MemberChange {
    var added: [Int64] = []
    var removed: Set<Int64> = []

    mutating func add(
        _ links: [LinkChange], _ relationship: ResolvedRelationship, _ inverse: ResolvedRelationship, _ owner: Int64
    ) {
        for change in links {
            if change.relationship == relationship.index, change.owner.number == owner {
                added += change.added.map(\.number)
                removed.formUnion(change.removed.map(\.number))
            }
            if change.relationship == inverse.index {
                if change.added.contains(where: { $0.number == owner }) { added.append(change.owner.number) }
                if change.removed.contains(where: { $0.number == owner }) { removed.insert(change.owner.number) }
            }
        }
    }

    /// Rows that point at the owner now, or no more.
    mutating func add(
        _ rows: [RowKey: MemoryRow], _ toOne: ResolvedRelationship, _ owner: Int64, _ schema: Schema
    ) {
        guard let slot = toOne.slot else { return }
        let source = schema[toOne.owner]
        for row in rows.values.sorted(by: { $0.key.number < $1.key.number })
        where source.index <= row.key.entity && row.key.entity <= source.last {
            if row.values[slot] == .int(owner) {
                added.append(row.key.number)
            } else {
                removed.insert(row.key.number)
            }
        }
    }
}
