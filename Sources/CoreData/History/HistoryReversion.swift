// Making a transaction undone, as unsaved edits.

import CoreDataValues
import Foundation

/// What `revert(_:)` of a context has come to.
public struct HistoryReversion: Sendable {
    /// An object of which later saves have changed what the transaction changed; what is named here was left alone.
    public struct Conflict: Sendable {
        public let objectID: NSManagedObjectID
        /// Sorted by name; empty where the object is gone, or was inserted by the transaction and changed since.
        public let properties: [String]
        /// The later transactions.
        public let transactions: [Int64]
    }
    public internal(set) var conflicts: [Conflict] = []
    /// Deleted objects that are back under another ID, since theirs is taken.
    public internal(set) var replacedObjectIDs: [NSManagedObjectID: NSManagedObjectID] = [:]
}

extension NSManagedObjectContext {
    /// Makes what a transaction did undone, by unsaved edits of this context: what it inserted is deleted, what it changed has its former
    /// values, what it deleted is back, under its ID if that is free.
    ///
    /// Needs the values that the store keeps with `NSPersistentStoreKeepsFormerValues`. Properties that a later transaction has changed
    /// stay as they are, and are answered as conflicts. Save the context to have it done. Cost: a read of the transaction and of all later
    /// ones, and of the objects. Ours; Core Data has no such method.
    /// - Throws: 134060 for a transaction without former values, by number, and for one of a store that is not here; 134301 for one that
    ///   was removed from the history; what the store says. Nothing is changed then.
    @discardableResult
    public final func revert(_ transaction: NSPersistentHistoryTransaction) throws -> HistoryReversion {
        checkQueue()
        if isChild { throw CocoaError.unsupported("revert(_:) of a child context; revert in its parent") }
        guard let store = try requiredCoordinator.storesWithHistory(nil).first(where: { $0.identifier == transaction.storeID }) else {
            throw CocoaError.coreData(
                134060, "The transaction \(transaction.transactionNumber) is of the store \(transaction.storeID), which is not here.")
        }
        do {
            var run = try ReversionRun(self, store, transaction.transactionNumber)
            return try run.run()
        } catch { throw CocoaError.presenting(error) }
    }
}

/// One reversion: *read what was done and what came later · bring back what was deleted · set former values · delete what was inserted*
private struct ReversionRun {
    private let context: NSManagedObjectContext
    private let store: NSPersistentStore
    private let number: Int64
    private let schema: Schema
    private var changes: [HistoryChange] = []
    /// By object and property.
    private var former: [RowKey: [String: [FormerCell]]] = [:]
    private var later: [RowKey: [(number: Int64, change: HistoryChange)]] = [:]
    /// Objects that are back, by their former keys.
    private var returned: [RowKey: NSManagedObject] = [:]
    private var answer = HistoryReversion()

    init(_ context: NSManagedObjectContext, _ store: NSPersistentStore, _ number: Int64) throws {
        self.context = context
        self.store = store
        self.number = number
        schema = context.runtime.schema
        try read()
        guard let values = try store.rows.formerValues(of: number) else {
            throw StoreError(
                134060,
                "The transaction \(number) of the store \(store.identifier ?? "") has no former values, so it cannot be reverted. They are "
                    + "kept from when the store is added with NSPersistentStoreKeepsFormerValues.")
        }
        for value in values { former[value.key, default: [:]][value.property, default: []].append(value) }
        for change in changes where change.kind == .update { try requireValues(of: change) }
    }

    private mutating func read() throws {
        var query = HistoryQuery(after: number - 1)
        query.isWhole = true
        let cursor = try store.rows.openHistory(query)
        defer { cursor.close() }
        var isFound = false
        var keys: Set<RowKey> = []
        while let part = try cursor.next() {
            if part.number == number {
                isFound = true
                changes += part.changes
                keys.formUnion(part.changes.map(\.key))
            } else {
                for change in part.changes where keys.contains(change.key) { later[change.key, default: []].append((part.number, change)) }
            }
        }
        if !isFound { throw StoreError.expired(number - 1) }
    }

    /// Of what a batch insertion has changed nothing is kept.
    private func requireValues(of change: HistoryChange) throws {
        let slots = schema[change.key.entity].slots
        guard let slot = change.slots.first(where: { former[change.key]?[slots[$0].name] == nil }) else { return }
        throw StoreError(
            134060,
            "The transaction \(number) of the store \(store.identifier ?? "") cannot be reverted: it kept no former value of "
                + "\(schema[change.key.entity].name).\(slots[slot].name).",
            entity: schema[change.key.entity].name, property: slots[slot].name)
    }

    mutating func run() throws -> HistoryReversion {
        for change in changes where change.kind == .delete { try bringBack(change) }
        for change in changes where change.kind == .delete { try setAll(change) }
        for change in changes where change.kind == .update { try setChanged(change) }
        for change in changes where change.kind == .insert { try remove(change) }
        return answer
    }

    // MARK: Objects

    private func id(_ key: RowKey) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number), identity: context.identities,
            info: context.runtime.infos[key.entity.value])
    }

    /// nil for one that is gone.
    private func object(_ key: RowKey) throws -> NSManagedObject? {
        if let object = returned[key] { return object }
        do {
            let object = try context.existingObject(with: id(key))
            return object.isDeleted ? nil : object
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity { return nil }
    }

    /// The other end of a relationship, of whatever entity it is.
    private func target(_ value: Value, _ relationship: ResolvedRelationship) throws -> NSManagedObject? {
        guard case .int(let number) = value else { return nil }
        let root = schema[relationship.destination].root
        if let object = returned.first(where: { $0.key.number == number && schema[$0.key.entity].root == root })?.value { return object }
        return try object(RowKey(entity: relationship.destination, number: number))
    }

    private mutating func bringBack(_ change: HistoryChange) throws {
        let info = context.runtime.infos[change.key.entity.value]
        let former = id(change.key)
        let isFree = try object(change.key) == nil && context.registered(former.key) == nil
        let object = NSEntityDescription.insertNewObject(forEntityName: info.entity.name, into: context)
        context.assign(object, to: store)
        if isFree {
            context.requiredCoordinator.relatives.note([(object._state.pointee.number, former.key)])
            context.takeKey(former.key, for: object)
            context.hasEarlyKeys = true
        } else {
            try context.obtainPermanentIDs(for: [object])
            answer.replacedObjectIDs[former] = object.objectID
        }
        returned[change.key] = object
    }

    private mutating func remove(_ change: HistoryChange) throws {
        guard let object = try object(change.key) else { return }
        let since = later[change.key] ?? []
        if since.isEmpty { context.delete(object) } else { note(change.key, [], since.map(\.number)) }
    }

    // MARK: Values

    private func setAll(_ change: HistoryChange) throws {
        guard let object = returned[change.key] else { return }
        let entity = schema[change.key.entity]
        for slot in entity.slots.indices { try set(slot, of: object, change.key) }
        for index in entity.toMany { try set(index, of: object, change.key) }
    }

    private mutating func setChanged(_ change: HistoryChange) throws {
        let entity = schema[change.key.entity]
        let since = later[change.key] ?? []
        let slots = change.slots.filter { slot in !since.contains { $0.change.kind == .update && $0.change.slots.contains(slot) } }
        let lists = change.relationships.filter { list in !since.contains { $0.change.kind == .update && $0.change.relationships.contains(list) } }
        guard let object = try object(change.key) else { return note(change.key, [], since.map(\.number)) }
        let kept = change.slots.filter { !slots.contains($0) }.map { entity.slots[$0].name }
            + change.relationships.filter { !lists.contains($0) }.map { schema[$0].name }
        if !kept.isEmpty {
            let guilty = since.filter { item in
                change.slots.contains { item.change.slots.contains($0) } || change.relationships.contains { item.change.relationships.contains($0) }
            }
            note(change.key, kept, guilty.map(\.number))
        }
        for slot in slots { try set(slot, of: object, change.key) }
        for list in lists { try set(list, of: object, change.key) }
    }

    private mutating func note(_ key: RowKey, _ properties: [String], _ transactions: [Int64]) {
        answer.conflicts.append(
            HistoryReversion.Conflict(objectID: id(key), properties: properties.sorted(), transactions: Array(Set(transactions)).sorted()))
    }

    private func set(_ slot: Int, of object: NSManagedObject, _ key: RowKey) throws {
        let description = object._state.info.entity.slots[slot]
        guard description.kind != .entityTag, !description.isTransient, !object._state.info.derivedSlots.contains(slot),
            let value = former[key]?[description.name]?.first?.value
        else { return }
        if let relationship = object._state.info.slotRelationships[slot] {
            object.setValue(try target(value, relationship), forKey: description.name)
        } else if description.kind == .transformable, case .data(let data) = value {
            object.setValue(try Transformation(object._state.info, slot)?.value(of: data), forKey: description.name)
        } else {
            object.setValue(value.object, forKeyPath: description.name)
        }
    }

    /// The members of a to-many, in their order; nothing where their own to-ones say it.
    private func set(_ index: RelationshipIndex, of object: NSManagedObject, _ key: RowKey) throws {
        let relationship = schema[index]
        let inverse = relationship.inverse.map { schema[$0] }
        if relationship.description.isTransient || inverse?.isToMany == false && !relationship.isOrdered { return }
        let members = try (former[key]?[relationship.name] ?? []).compactMap { try target($0.value, relationship) }
        object.setValue(relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name)
    }
}
