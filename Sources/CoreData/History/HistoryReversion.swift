// Making a transaction undone, as unsaved edits.

import CoreDataValues
import Foundation

/// What `revert(_:)` of a context has come to.
public struct HistoryReversion: Sendable {
    /// An object of which later saves have changed what the transaction changed; what is named here was left alone, but for members
    /// that are gone, without which a to-many comes back, and those of a many-to-many that come back by their own side.
    public struct Conflict: Sendable {
        public let objectID: NSManagedObjectID
        /// Sorted by name; empty where the object is gone, or was inserted by the transaction and changed or given more objects since.
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
        try link.checkMayRevert()
        guard
            let store = try requiredCoordinator.storesWithHistory(nil).first(where: {
                $0.identifier == transaction.storeID
            })
        else {
            throw CocoaError.coreData(
                134060,
                "The transaction \(transaction.transactionNumber) is of the store \(transaction.storeID), which is not here."
            )
        }
        do {
            var run = try ReversionRun(self, store, transaction.transactionNumber)
            return try run.run()
        } catch { throw CocoaError.presenting(error) }
    }
}

/// One reversion: *read what was done and what came later · bring back what was deleted · set former values · delete what was inserted*
struct ReversionRun {
    let context: NSManagedObjectContext
    private let store: NSPersistentStore
    private let number: Int64
    let schema: Schema
    private(set) var changes: [HistoryChange] = []
    /// The same by their objects.
    private(set) var changesByKey: [RowKey: [HistoryChange]] = [:]
    private var takers: [RelationshipIndex: [HistoryChange]] = [:]
    /// By object and property.
    private var former: [RowKey: [String: [FormerCell]]] = [:]
    /// Members that owners lost without a change of their own, in the same way.
    private(set) var lost: [RowKey: [String: [FormerCell]]] = [:]
    private(set) var later: [RowKey: [(number: Int64, change: HistoryChange)]] = [:]
    /// Objects that are back, by their former rows (`tree`).
    private var returned: [RowKey: NSManagedObject] = [:]
    private var answer = HistoryReversion()
    private(set) var conflicts: [RowKey: Found] = [:]

    /// Why something of an object was left alone.
    struct Found {
        var properties: Set<String> = []
        var transactions: Set<Int64> = []
        /// Other rows, by trees: what later transactions did to them.
        var causes: [(row: RowKey, isCause: (HistoryChange) -> Bool)] = []
    }

    init(_ context: NSManagedObjectContext, _ store: NSPersistentStore, _ number: Int64) throws {
        self.context = context
        self.store = store
        self.number = number
        schema = context.runtime.schema
        let kept = try store.rows.formerValues(of: number)
        for cell in kept ?? [] {
            if cell.isLost {
                lost[cell.key, default: [:]][cell.property, default: []].append(cell)
            } else {
                former[cell.key, default: [:]][cell.property, default: []].append(cell)
            }
        }
        try read()
        if kept == nil {
            throw StoreError(
                134060,
                "The transaction \(number) of the store \(store.identifier ?? "") has no former values, so it cannot be reverted. They are "
                    + "kept from when the store is added with NSPersistentStoreKeepsFormerValues.")
        }
        for change in changes where change.kind != .insert { try requireValues(of: change) }
    }

    private mutating func read() throws {
        var isFound = false
        var keys = Set(lost.keys)
        try walk(after: number - 1) { part in
            if part.number == number {
                isFound = true
                changes += part.changes
                keys.formUnion(part.changes.map(\.key))
            } else {
                for change in part.changes where keys.contains(change.key) {
                    later[change.key, default: []].append((part.number, change))
                }
            }
        }
        if !isFound { throw StoreError.expired(number - 1) }
        changesByKey = Dictionary(grouping: changes, by: \.key)
    }

    /// The changes that may have given objects members of a to-many.
    mutating func takers(_ relationship: ResolvedRelationship) -> [HistoryChange] {
        if let known = takers[relationship.index] { return known }
        let found = changes.filter { mayTake($0, relationship) }
        takers[relationship.index] = found
        return found
    }

    private func walk(after number: Int64, _ body: (HistoryTransaction) -> Void) throws {
        var query = HistoryQuery(after: number)
        query.isWhole = true
        let cursor = try store.rows.openHistory(query)
        defer { cursor.close() }
        while let part = try cursor.next() { body(part) }
    }

    /// Of what a batch insertion has changed nothing is kept. A deleted object may lack what a later model has added, unless that must
    /// have a value.
    private func requireValues(of change: HistoryChange) throws {
        let slots = schema[change.key.entity].slots
        let known = former[change.key]
        let needed =
            change.kind == .update
            ? change.slots
            : slots.indices.filter { slot in
                if slots[slot].isTransient || slots[slot].attribute?.isDerived == true { return false }
                return known == nil || slots[slot].isRequired && slots[slot].attribute?.defaultValue.isNull != false
            }
        guard let slot = needed.first(where: { known?[slots[$0].name] == nil }) else { return }
        throw StoreError(
            134060,
            "The transaction \(number) of the store \(store.identifier ?? "") cannot be reverted: it kept no former value of "
                + "\(schema[change.key.entity].name).\(slots[slot].name).",
            entity: schema[change.key.entity].name, property: slots[slot].name)
    }

    mutating func run() throws -> HistoryReversion {
        for change in changes where change.kind == .delete { try reinsert(change) }
        for change in changes where change.kind == .delete { try setAll(change) }
        for change in changes where change.kind == .update { try setChanged(change) }
        try removeInserted()
        try returnLost()
        try nameCauses()
        answer.conflicts = conflicts.sorted {
            ($0.key.entity.rawValue, $0.key.number) < ($1.key.entity.rawValue, $1.key.number)
        }.map { key, found in
            HistoryReversion.Conflict(
                objectID: id(key), properties: found.properties.sorted(), transactions: found.transactions.sorted())
        }
        return answer
    }

    // MARK: Conflicts

    mutating func note(_ key: RowKey, _ properties: [String], _ transactions: [Int64]) {
        conflicts[key, default: Found()].properties.formUnion(properties)
        conflicts[key, default: Found()].transactions.formUnion(transactions)
    }

    mutating func note(
        _ key: RowKey, _ properties: [String], because row: RowKey, _ isCause: @escaping (HistoryChange) -> Bool
    ) {
        let row = tree(row)
        note(key, properties, [])
        conflicts[key]?.causes.append((row, isCause))
    }

    /// A row without a word on its entity, which may be one below the one that is known.
    private func tree(_ key: RowKey) -> RowKey { RowKey(entity: schema[key.entity].root, number: key.number) }

    private mutating func nameCauses() throws {
        let rows = Set(conflicts.values.flatMap { $0.causes.map(\.row) })
        if rows.isEmpty { return }
        var others: [RowKey: [(number: Int64, change: HistoryChange)]] = [:]
        try walk(after: number) { part in
            for change in part.changes where rows.contains(tree(change.key)) {
                others[tree(change.key), default: []].append((part.number, change))
            }
        }
        conflicts = conflicts.mapValues { found in
            var found = found
            for (row, isCause) in found.causes {
                found.transactions.formUnion((others[row] ?? []).filter { isCause($0.change) }.map(\.number))
            }
            return found
        }
    }

    // MARK: Objects

    private func id(_ key: RowKey) -> NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store.number), identity: context.identities,
            info: context.runtime.infos[key.entity.value])
    }

    /// nil for one that is gone.
    func object(_ key: RowKey) throws -> NSManagedObject? {
        if let object = returned[tree(key)] { return object }
        do {
            let object = try context.existingObject(with: id(key))
            return object.isDeleted ? nil : object
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity { return nil }
    }

    /// The other end of a relationship, of whatever entity it is; nil where it is gone, or of an entity to which the relationship does
    /// not lead any more since the model was changed.
    func target(_ value: Value, _ relationship: ResolvedRelationship) throws -> NSManagedObject? {
        guard case .int(let number) = value,
            let target = try object(RowKey(entity: relationship.destination, number: number)),
            target._state.info.entity.isKind(of: schema[relationship.destination])
        else { return nil }
        return target
    }

    private mutating func reinsert(_ change: HistoryChange) throws {
        let info = context.runtime.infos[change.key.entity.value]
        // The model was changed since.
        if info.entity.isAbstract { return note(change.key, [], []) }
        let former = id(change.key)
        let isFree = try object(change.key) == nil && context.registered(former.key) == nil
        let object = NSEntityDescription.insertNewObject(forEntityName: info.entity.name, into: context)
        context.assign(object, to: store)
        if isFree {
            context.requiredCoordinator.contextFamily.note([(object._state.pointee.number, former.key)])
            context.setKey(former.key, for: object)
            context.hasEarlyKeys = true
        } else {
            try context.obtainPermanentIDs(for: [object])
            answer.replacedObjectIDs[former] = object.objectID
        }
        returned[tree(change.key)] = object
    }

    /// An object goes unless somebody has changed it since, or something would go or be let go with it that is not the transaction's:
    /// what later ones have changed, and what later batch requests made its own, which tell nothing of it.
    private mutating func removeInserted() throws {
        var going: [RowKey: NSManagedObject] = [:]
        let all = Set(changes.map(\.key))
        for change in changes where change.kind == .insert {
            guard let object = try object(change.key) else { continue }
            let since = later[change.key] ?? []
            if since.isEmpty { going[change.key] = object } else { note(change.key, [], since.map(\.number)) }
        }
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (key, object) in going {
                for (member, slot) in members(of: object, key) where going[member.key] == nil {
                    if !member.isCascade, all.contains(member.key) { continue }
                    note(key, [], because: member.key) {
                        $0.kind == .insert || $0.slots.contains(slot) || all.contains($0.key)
                    }
                    going[key] = nil
                    isSettled = false
                }
            }
        }
        for change in changes { if let object = going[change.key] { context.delete(object) } }
    }

    /// What has an object as its owner, with the to-one that says so.
    private func members(of object: NSManagedObject, _ key: RowKey) -> [(
        member: (key: RowKey, isCascade: Bool), slot: Int
    )] {
        schema[key.entity].relationships.flatMap { index -> [(member: (key: RowKey, isCascade: Bool), slot: Int)] in
            let relationship = schema[index]
            let rule = relationship.description.deleteRule
            guard rule != .noAction, !relationship.description.isTransient,
                let slot = relationship.inverse.flatMap({ schema[$0].slot })
            else { return [] }
            let members: [Any] =
                switch object.value(forKey: relationship.name) {
                case let list as NSOrderedSet: list.array
                case let set as NSSet: set.allObjects
                case let one as NSManagedObject: [one]
                default: []
                }
            return members.compactMap { $0 as? NSManagedObject }.filter { !$0.isDeleted && !$0._state.has(.inserted) }
                .map {
                    (($0.savedKey, rule == .cascade), slot)
                }
        }
    }

    // MARK: Values

    private mutating func setAll(_ change: HistoryChange) throws {
        guard let object = returned[tree(change.key)] else { return }
        let entity = schema[change.key.entity]
        for slot in entity.slots.indices { try set(slot, of: object, change.key) }
        for index in entity.toMany { try set(index, of: object, change.key) }
    }

    private mutating func setChanged(_ change: HistoryChange) throws {
        let entity = schema[change.key.entity]
        let since = later[change.key] ?? []
        let slots = change.slots.filter { slot in
            !since.contains { $0.change.kind == .update && $0.change.slots.contains(slot) }
        }
        let owned = change.relationships.filter { !isSaidByMembers($0) }
        let lists = owned.filter { list in
            !since.contains { $0.change.kind == .update && $0.change.relationships.contains(list) }
        }
        guard let object = try object(change.key) else { return note(change.key, [], since.map(\.number)) }
        let kept =
            change.slots.filter { !slots.contains($0) }.map { entity.slots[$0].name }
            + owned.filter { !lists.contains($0) }.map { schema[$0].name }
        if !kept.isEmpty {
            let guilty = since.filter { item in
                change.slots.contains { item.change.slots.contains($0) }
                    || owned.contains { item.change.relationships.contains($0) }
            }
            note(change.key, kept, guilty.map(\.number))
        }
        for slot in slots { try set(slot, of: object, change.key) }
        for list in lists { try set(list, of: object, change.key) }
    }

    private mutating func set(_ slot: Int, of object: NSManagedObject, _ key: RowKey) throws {
        let description = object._state.info.entity.slots[slot]
        guard description.kind != .entityTag, !description.isTransient, !object._state.info.derivedSlots.contains(slot),
            var value = former[key]?[description.name]?.first?.value
        else { return }
        if value.isNull, description.isRequired {
            // It was optional then. A migration gives the default to rows that have no value, too.
            guard let standard = description.attribute?.defaultValue, !standard.isNull else {
                return note(key, [description.name], [])
            }
            value = standard
        }
        if let relationship = object._state.info.slotRelationships[slot] {
            let target = try target(value, relationship)
            if target == nil, !value.isNull {
                noteGone(key, relationship, value)
            } else {
                object.setValue(target, forKey: description.name)
            }
        } else if description.kind == .transformable, case .data(let data) = value {
            object.setValue(try Transformation(object._state.info, slot)?.value(of: data), forKey: description.name)
        } else {
            object.setValue(value.object, forKeyPath: description.name)
        }
    }

    /// Whether the to-ones of a to-many's members say all of it.
    private func isSaidByMembers(_ index: RelationshipIndex) -> Bool {
        let inverse = schema[index].inverse.map { schema[$0] }
        return inverse?.isToMany == false && !schema[index].isOrdered
    }

    /// The members of a to-many, in their order; nothing where their own to-ones say it.
    private mutating func set(_ index: RelationshipIndex, of object: NSManagedObject, _ key: RowKey) throws {
        let relationship = schema[index]
        if relationship.description.isTransient || isSaidByMembers(index) { return }
        let cells = former[key]?[relationship.name]
        if cells == nil, let inverse = relationship.inverse, !schema[inverse].isToMany { return }
        var members: [NSManagedObject] = []
        let present = Set(relationship.inverse == nil ? self.members(of: object, relationship) : [])
        for cell in cells ?? [] {
            if let member = try target(cell.value, relationship) {
                if relationship.inverse == nil, !present.contains(member),
                    try isTaken(member, from: key, relationship)
                {
                    continue
                }
                members.append(member)
            } else {
                noteGone(key, relationship, cell.value)
            }
        }
        if cells == nil { members += try membersThatSaySo(object, key, relationship) }
        object.setValue(
            relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name)
    }

    /// Present members whose own former values name the owner. Of a to-many that was the other side of a to-one then nothing was kept:
    /// its members say what it was.
    private func membersThatSaySo(
        _ object: NSManagedObject, _ key: RowKey, _ relationship: ResolvedRelationship
    ) throws -> [NSManagedObject] {
        guard let inverse = relationship.inverse.map({ schema[$0] }), inverse.isToMany else { return [] }
        return members(of: object, relationship).filter { member in
            former[member.savedKey]?[inverse.name]?.contains { $0.value == .int(key.number) } == true
        }
    }

    /// The other end was deleted later.
    mutating func noteGone(_ key: RowKey, _ relationship: ResolvedRelationship, _ value: Value) {
        guard case .int(let number) = value else { return }
        note(key, [relationship.name], because: RowKey(entity: relationship.destination, number: number)) {
            $0.kind == .delete
        }
    }
}
