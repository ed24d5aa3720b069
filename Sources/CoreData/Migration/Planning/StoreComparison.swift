// A store and its migrated copy, compared by what both keep.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// Tells in findings what a copy has otherwise than it should.
struct StoreComparison {
    /// One thing that both keep, or the store alone.
    private struct Figure {
        let what: String
        let entity: String
        let property: String?
        /// nil where there is nothing to compare.
        let print: ValueFingerprint?
        /// Whether it says something only where the one before it is the same.
        var isDetail = false
        /// How many are lost, as the plan says; of the others it is told how many there are.
        var lost = 0
    }
    private let migration: ChainMigration
    /// The store itself, for findings.
    private let store: URL
    private let lost: [StoreMigrationPlan.Loss]
    private let lineage: MigrationLineage
    private var before: [Figure] = []
    private var source: Schema { migration.chain.versions[0].schema }

    /// - Parameters:
    ///   - migration: of the copy, which has not begun: what it holds now is what is compared. The store may be written meanwhile.
    ///   - lost: what is known to be lost, by the names of the first version.
    init(_ migration: ChainMigration, _ store: URL, lost: [StoreMigrationPlan.Loss]) throws {
        (self.migration, self.store, self.lost) = (migration, store, lost)
        lineage = MigrationLineage(migration)
        before = try figures(migration.chain.versions[0], isLater: false)
    }

    /// Of the copy that has passed all steps.
    func differences() throws -> [StoreMigrationPlan.Finding] {
        guard let last = migration.chain.versions.last else { return [] }
        let after = Dictionary(
            try figures(last, isLater: true).map { ([$0.entity, $0.property, $0.what], $0.print) },
            uniquingKeysWith: { first, _ in first })
        var findings: [StoreMigrationPlan.Finding] = []
        var isSame = true
        for figure in before where !figure.isDetail || isSame {
            isSame = true
            guard let a = figure.print, let b = after[[figure.entity, figure.property, figure.what]] ?? nil, a != b,
                figure.lost == 0 || a.count - figure.lost != b.count
            else { continue }
            isSame = false
            let name = figure.entity + (figure.property.map { ".\($0)" } ?? "")
            findings.append(
                .init(
                    "\(figure.what) of \(name) are others than before: \(a.count) and \(b.count) of them.",
                    entity: figure.entity, property: figure.property, file: store.path))
        }
        return findings
    }

    /// What the copy has now of all that is kept, by the names of the last version.
    private func figures(_ version: VersionChain.Version, isLater: Bool) throws -> [Figure] {
        guard let last = migration.chain.versions.last else { return [] }
        let opened = try open(version, migration.url)
        defer { opened.close() }
        var figures: [Figure] = []
        for later in last.schema.entities(inConfiguration: migration.configuration) ?? [] where !later.isAbstract {
            guard let line = lineage.entities[later.name], let earlier = source.entity(named: line.entity) else {
                continue
            }
            let entity = isLater ? later : earlier
            guard opened.keeps(entity) else { continue }
            func add(
                _ property: String?, _ what: String, _ print: ValueFingerprint?, isDetail: Bool = false, lost: Int = 0
            ) {
                figures.append(
                    Figure(
                        what: what, entity: later.name, property: property, print: print, isDetail: isDetail, lost: lost
                    ))
            }
            add(nil, "The objects", try opened.objects(entity, line.isKeyed))
            for (slot, former) in attributes(later, earlier, line) {
                let print = try reading(later.slots[slot].name, of: later) {
                    try opened.values(isLater ? slot : former, of: entity, line.isKeyed)
                }
                add(later.slots[slot].name, "The values", print)
            }
            for (relationship, former) in relationships(later, earlier, line, last.schema) {
                let members = members(relationship, last.schema)
                let isKeyed = line.isKeyed && members.allSatisfy(\.isKeyed)
                func pairs(_ ordered: Bool) throws -> ValueFingerprint? {
                    try opened.pairs(
                        isLater ? relationship : former, of: entity, to: members.map(isLater ? \.later : \.earlier),
                        isKeyed, ordered: ordered)
                }
                let lost = lost.filter { $0.entity == line.entity && $0.property == former.name }.map(\.rows).reduce(
                    0, +)
                add(relationship.name, "The members", try pairs(false), lost: lost)
                guard lost == 0, isKeyed, relationship.isOrdered, former.isOrdered else { continue }
                add(relationship.name, "The places of members", try pairs(true), isDetail: true)
            }
        }
        return figures
    }

    /// An error that says what could not be read.
    private func reading<Read>(_ property: String, of entity: Entity, _ body: () throws -> Read) throws -> Read {
        do { return try body() } catch {
            let shown = CocoaError.presenting(error) as NSError
            var info = shown.userInfo
            info.merge([NSEntityNameErrorKey: entity.name, NSValidationKeyErrorKey: property]) { $1 }
            info.merge(CocoaError.saying("\(entity.name).\(property): \(shown.localizedDescription)")) { $1 }
            throw CocoaError(CocoaError.Code(rawValue: shown.code), userInfo: info)
        }
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
