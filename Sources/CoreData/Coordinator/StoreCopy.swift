// Copies all rows of one store into another.

import CoreDataValues
import Foundation

/// Copies all rows of one store into an empty one.
struct StoreCopy {
    private let schema: Schema
    private let source: NSPersistentStore
    private let target: NSPersistentStore
    /// Whether copies keep keys and versions, as contexts with registered objects need them.
    private let keepsNumbers: Bool

    /// The source's folder of external values; nil for a store without a URL.
    private let folder: SupportFolder?

    init(schema: Schema, from source: NSPersistentStore, to target: NSPersistentStore, keepsNumbers: Bool) {
        self.schema = schema
        self.source = source
        self.target = target
        self.keepsNumbers = keepsNumbers
        folder = source.url.map { SupportFolder(store: $0) }
    }

    /// *read the keys · assign new ones · read the rows and replace the keys in to-ones · collect members · write all
    /// in one commit*
    func run() throws -> [(old: RowKey, new: RowKey)] {
        let roots = schema.entities.filter { $0.parent == nil && isHeld($0) }
        var keys: [(old: RowKey, new: RowKey)] = []
        for root in roots { keys += try number(root) }
        let numbers = Dictionary(keys.map { (place($0.old), $0.new) }, uniquingKeysWith: { a, _ in a })
        var batch = ChangeBatch()
        for root in roots { try copyRows(root, numbers, &batch) }
        for (old, new) in keys { try copyMembers(old, new, numbers, &batch) }
        guard case .committed = try target.rows.commit(batch) else {
            throw StoreError(134110, "The store's objects conflict with what the new store holds already.")
        }
        return keys
    }

    private func isHeld(_ root: Entity) -> Bool {
        guard let coordinator = source.coordinator else { return false }
        return (root.index.value...root.last.value).contains { source.holds(coordinator.runtime.infos[$0]) }
    }

    private func place(_ key: RowKey) -> RowKey { RowKey(entity: schema[key.entity].root, number: key.number) }

    private func number(_ root: Entity) throws -> [(old: RowKey, new: RowKey)] {
        var plan = FetchPlan(entity: root.index)
        plan.includesValues = false
        guard try target.rows.count(plan, .latest) == 0 else {
            throw StoreError(
                134030,
                "There is a store with objects of \(root.name) at \(target.url?.path ?? "") already. Destroy it first or choose "
                    + "another place.", path: target.url?.path, entity: root.name)
        }
        var old: [RowKey] = []
        try source.rows.fetch(plan, .latest) { batch in
            old += batch.keys(inStore: 0).map(\.row)
            return .more
        }
        if keepsNumbers {
            try reserveNumbers(of: old, root)
            return old.map { ($0, $0) }
        }
        let numbers = try target.rows.allocateKeys(old.count, in: root.index)
        return zip(old, numbers).map { ($0, RowKey(entity: $0.entity, number: $1)) }
    }

    /// Reserves the numbers of copied rows in the target, and those that the source has assigned to unsaved objects.
    private func reserveNumbers(of old: [RowKey], _ root: Entity) throws {
        let given = source.isReadOnly ? 0 : try source.rows.allocateKeys(1, in: root.index).lowerBound
        let last = old.reduce(given) { max($0, $1.number) }
        if last > 0 { _ = try target.rows.allocateKeys(Int(last), in: root.index) }
    }

    private func copyRows(_ root: Entity, _ numbers: [RowKey: RowKey], _ batch: inout ChangeBatch) throws {
        try source.rows.fetch(FetchPlan(entity: root.index), .latest) { rows in
            for chunk in rows.chunks where chunk.count > 0 {
                let copy = RowChunk(layout: chunk.layout, capacity: chunk.count)
                for index in 0..<chunk.count {
                    let old = RowKey(entity: chunk.layout.entity, number: chunk.row(index).key(chunk.layout))
                    guard let new = numbers[place(old)] else { continue }
                    let values = try inlined(pointed(chunk.values(row: index), schema[old.entity], numbers), old)
                    let version = keepsNumbers ? chunk.row(index).version(chunk.layout) : 1
                    try copy.append(key: new.number, version: version, values: values)
                }
                if copy.count > 0 { batch.inserts.append(copy) }
            }
            return .more
        }
    }

    /// Replaces the targets of to-ones; a missing target becomes nil.
    private func pointed(_ values: [Value], _ entity: Entity, _ numbers: [RowKey: RowKey]) -> [Value] {
        var values = values
        let foreign = ForeignValues(schema: schema, entity: entity)
        for relationship in foreign.toOnes {
            guard let slot = relationship.slot, case .int(let number) = values[slot] else { continue }
            let root = schema[relationship.destination].root
            foreign.point(&values, relationship, at: numbers[RowKey(entity: root, number: number)])
        }
        return values
    }

    /// Reads the source's external values into the row; the target stores them in its own way.
    private func inlined(_ values: [Value], _ key: RowKey) throws -> [Value] {
        guard let folder else { return values }
        var values = values
        for (slot, property) in schema[key.entity].slots.enumerated() where property.kind == .externalData {
            guard case .data(let cell) = values[slot] else { continue }
            values[slot] = .data(try folder.inlined(cell))
        }
        return values
    }

    private func copyMembers(
        _ old: RowKey, _ new: RowKey, _ numbers: [RowKey: RowKey], _ batch: inout ChangeBatch
    ) throws {
        for index in schema[old.entity].toMany {
            let relationship = schema[index]
            let inverse = relationship.inverse.map { schema[$0] }
            let isManyToMany = inverse?.isToMany == true
            guard inverse == nil || isManyToMany || relationship.isOrdered else { continue }
            var members: [RowKey] = []
            try source.rows.members(of: index, owner: old, .latest) { rows in
                members += rows.keys(inStore: 0).compactMap { numbers[place($0.row)] }
                return .more
            }
            guard !members.isEmpty else { continue }
            if inverse == nil {
                batch.adoptions.append(
                    AdoptionChange(relationship: index, owner: new, added: members, removed: []))
            }
            if let inverse, isManyToMany, index.rawValue <= inverse.index.rawValue {
                let named = index == inverse.index ? members.filter { new.number <= $0.number } : members
                if !named.isEmpty {
                    batch.links.append(LinkChange(relationship: index, owner: new, added: named, removed: []))
                }
            }
            if relationship.isOrdered {
                batch.orders.append(OrderChange(relationship: index, owner: new, members: members))
            }
        }
    }
}
