// A store and its migrated copy, compared by what both keep.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// Tells in findings what a copy has otherwise than it should.
struct StoreComparison {
    private let migration: ChainMigration
    /// The store itself.
    private let store: URL
    private let lineage: MigrationLineage
    private var source: Schema { migration.chain.versions[0].schema }

    /// - Parameter migration: of the copy, which has passed all steps.
    init(_ migration: ChainMigration, _ store: URL) {
        (self.migration, self.store) = (migration, store)
        lineage = MigrationLineage(migration)
    }

    func differences() throws -> [StoreMigrationPlan.Finding] {
        guard let last = migration.chain.versions.last else { return [] }
        let (before, after) = (try open(migration.chain.versions[0], store), try open(last, migration.url))
        defer {
            before.close()
            after.close()
        }
        var findings: [StoreMigrationPlan.Finding] = []
        for later in last.schema.entities(inConfiguration: migration.configuration) ?? [] where !later.isAbstract {
            guard let line = lineage.entities[later.name], let earlier = source.entity(named: line.entity),
                before.keeps(earlier)
            else { continue }
            func compare(_ property: String?, _ what: String, _ a: ValueFingerprint?, _ b: ValueFingerprint?) {
                guard let a, let b, a != b else { return }
                let name = later.name + (property.map { ".\($0)" } ?? "")
                findings.append(
                    .init(
                        "\(what) of \(name) are others than before: \(a.count) and \(b.count) of them.",
                        entity: later.name, property: property,
                        file: store.path))
            }
            compare(
                nil, "The objects", try before.objects(earlier, line.isKeyed), try after.objects(later, line.isKeyed))
            for (slot, former) in attributes(later, earlier, line) {
                compare(
                    later.slots[slot].name, "The values", try before.values(former, of: earlier, line.isKeyed),
                    try after.values(slot, of: later, line.isKeyed))
            }
            for (relationship, former) in relationships(later, earlier, line, last.schema) {
                let members = members(relationship, last.schema)
                let isKeyed = line.isKeyed && members.allSatisfy(\.isKeyed)
                func pairs(_ ordered: Bool) throws -> (ValueFingerprint?, ValueFingerprint?) {
                    (
                        try before.pairs(former, of: earlier, to: members.map(\.earlier), isKeyed, ordered: ordered),
                        try after.pairs(relationship, of: later, to: members.map(\.later), isKeyed, ordered: ordered)
                    )
                }
                let (a, b) = try pairs(false)
                compare(relationship.name, "The members", a, b)
                guard a == b, isKeyed, relationship.isOrdered, former.isOrdered else { continue }
                let (c, d) = try pairs(true)
                compare(relationship.name, "The places of members", c, d)
            }
        }
        return findings
    }

    private func open(_ version: VersionChain.Version, _ url: URL) throws -> any ComparedStore {
        if migration.type == NSSQLiteStoreType { return try ComparedFile(url, version.schema, migration.configuration) }
        return try ComparedObjects(url, migration.type, version.model, migration.configuration, migration.options)
    }

    /// Slots of attributes that keep their values, with those that they come from. Where a default takes the place of nulls they do not.
    private func attributes(_ later: Entity, _ earlier: Entity, _ line: MigrationLineage.Line) -> [(Int, Int)] {
        later.slots.indices.compactMap { place in
            let slot = later.slots[place]
            guard !slot.isTransient, slot.kind != .entityTag, slot.relationship == nil,
                slot.attribute?.isDerived != true
            else { return nil }
            let parts = slot.name.split(separator: ".", maxSplits: 1).map(String.init)
            guard let former = line.properties[slot.composite == nil ? slot.name : parts[0]] else { return nil }
            let name = slot.composite == nil ? former : ([former] + parts.dropFirst()).joined(separator: ".")
            guard
                let found = earlier.slots.firstIndex(where: {
                    $0.name == name && $0.kind != .entityTag && $0.relationship == nil
                }),
                !earlier.slots[found].isTransient, earlier.slots[found].attribute?.type == slot.attribute?.type,
                slot.attribute?.defaultValue.isNull != false || !slot.isRequired || earlier.slots[found].isRequired
            else { return nil }
            return (place, found)
        }
    }

    private func relationships(
        _ later: Entity, _ earlier: Entity, _ line: MigrationLineage.Line, _ schema: Schema
    ) -> [(ResolvedRelationship, ResolvedRelationship)] {
        later.relationships.map { schema[$0] }.compactMap { relationship in
            let former = earlier.relationships.map { source[$0] }.first {
                $0.name == line.properties[relationship.name]
            }
            guard let former, !relationship.description.isTransient, !former.description.isTransient else { return nil }
            return (relationship, former)
        }
    }

    /// The entities of a relationship's members that come from one of before.
    private func members(_ relationship: ResolvedRelationship, _ schema: Schema) -> [(
        later: Entity, earlier: Entity, isKeyed: Bool
    )] {
        relationship.destinations.map { schema[EntityIndex(rawValue: $0)] }.compactMap { entity in
            guard !entity.isAbstract, let line = lineage.entities[entity.name],
                let earlier = source.entity(named: line.entity)
            else { return nil }
            return (entity, earlier, line.isKeyed)
        }
    }
}

/// What a store has, in figures that are the same for another that has the same.
private protocol ComparedStore {
    func keeps(_ entity: Entity) -> Bool
    func objects(_ entity: Entity, _ keyed: Bool) throws -> ValueFingerprint
    func values(_ slot: Int, of entity: Entity, _ keyed: Bool) throws -> ValueFingerprint
    /// nil where there are no places to compare.
    func pairs(
        _ relationship: ResolvedRelationship, of entity: Entity, to members: [Entity], _ keyed: Bool, ordered: Bool
    ) throws -> ValueFingerprint?
    func close()
}

/// A SQLite store, by SQL.
private struct ComparedFile: ComparedStore {
    private let file: StoreFile
    private let map: StoreMap
    private var statements: FingerprintStatements { FingerprintStatements(map) }

    init(_ url: URL, _ schema: Schema, _ configuration: String?) throws {
        file = StoreFile(url: url)
        var options = SQLiteOptions()
        options.isReadOnly = true
        // The file may name its join tables otherwise than the model.
        let opened = try SQLiteStore(url: url, schema: schema, configuration: configuration, options: options)
        map = opened.map
        try opened.close()
    }

    func keeps(_ entity: Entity) -> Bool { (try? map.table(of: entity.index)) != nil }
    func objects(_ entity: Entity, _ keyed: Bool) throws -> ValueFingerprint {
        try file.fingerprint(statements.objects(of: entity, keyed: keyed))
    }

    func values(_ slot: Int, of entity: Entity, _ keyed: Bool) throws -> ValueFingerprint {
        try file.fingerprint(statements.values(of: slot, in: entity, keyed: keyed))
    }

    func pairs(
        _ relationship: ResolvedRelationship, of entity: Entity, to members: [Entity], _ keyed: Bool, ordered: Bool
    ) throws -> ValueFingerprint? {
        try statements.pairs(of: relationship, from: entity, to: members, keyed: keyed, ordered: ordered).map(
            file.fingerprint)
    }

    func close() {}
}

/// Any other store, by its objects; whose a value is, is not told.
private struct ComparedObjects: ComparedStore {
    private let context: NSManagedObjectContext
    private let model: NSManagedObjectModel
    private let store: NSPersistentStore

    init(
        _ url: URL, _ type: String, _ model: NSManagedObjectModel, _ configuration: String?,
        _ options: [AnyHashable: Any]?
    ) throws {
        self.model = model
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = true
        store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    func close() { try? context.persistentStoreCoordinator?.remove(store) }
    func keeps(_ entity: Entity) -> Bool { true }

    private func print(_ entity: Entity, _ parts: (NSManagedObject) -> [AnyHashable]) throws -> ValueFingerprint {
        var found = ValueFingerprint()
        try context.hold {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
            request.includesSubentities = false
            for object in try context.fetch(request) {
                for part in parts(object) { found.add(UInt64(bitPattern: Int64(part.hashValue))) }
            }
        }
        return found
    }

    func objects(_ entity: Entity, _ keyed: Bool) throws -> ValueFingerprint { try print(entity) { _ in [1] } }

    func values(_ slot: Int, of entity: Entity, _ keyed: Bool) throws -> ValueFingerprint {
        let name = entity.slots[slot].name
        if entity.slots[slot].kind == .transformable { return ValueFingerprint() }
        return try print(entity) { object in (object.value(forKeyPath: name) as? AnyHashable).map { [$0] } ?? [] }
    }

    func pairs(
        _ relationship: ResolvedRelationship, of entity: Entity, to members: [Entity], _ keyed: Bool, ordered: Bool
    ) throws -> ValueFingerprint? {
        if ordered { return nil }
        let names = Set(members.map(\.name))
        return try print(entity) { object in
            let value = object.value(forKey: relationship.name)
            let objects = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? [value].compactMap { $0 }
            return objects.compactMap { ($0 as? NSManagedObject)?.entity.name }.filter(names.contains).map { _ in 1 }
        }
    }
}
