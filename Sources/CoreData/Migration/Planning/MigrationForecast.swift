// What each step of a migration means for the store as it is.

import CoreDataSQL
import CoreDataValues
import Foundation

/// *changes · statements · rows · losses · what is missing*
struct MigrationForecast {
    private let migration: ChainMigration
    /// On the store as it is, read only.
    private let context: NSManagedObjectContext
    /// For each version the names that its entities and properties have in the store.
    private let origins: [Origins]

    /// Where the entities and properties of a version come from.
    struct Origins {
        /// By the version's names.
        var entities: [String: String] = [:]
        /// By entity and property.
        var properties: [String: [String: String]] = [:]
    }

    init(_ migration: ChainMigration) throws {
        self.migration = migration
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: migration.chain.versions[0].model)
        var options = migration.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = true
        _ = try coordinator.addPersistentStore(
            ofType: migration.type, configurationName: migration.configuration, at: migration.url, options: options)
        context.persistentStoreCoordinator = coordinator
        origins = MigrationForecast.origins(migration.chain)
    }

    static func origins(_ chain: VersionChain) -> [Origins] {
        var first = Origins()
        for entity in chain.versions[0].schema.entities {
            first.entities[entity.name] = entity.name
            first.properties[entity.name] = Dictionary(
                chain.versions[0].schema.properties(of: entity).map { ($0.name, $0.name) }, uniquingKeysWith: { a, _ in a })
        }
        var all = [first]
        for (from, to) in chain.steps {
            let pairs = SchemaDiff(from: from.schema, to: to.schema).pairs
            var next = Origins()
            for entity in to.schema.entities {
                guard let source = pairs.source(of: entity), let origin = all[all.count - 1].entities[source.name] else { continue }
                next.entities[entity.name] = origin
                next.properties[entity.name] = pairs.sourceProperties(of: entity)
                    .compactMapValues { all[all.count - 1].properties[source.name]?[$0.name] }
            }
            all.append(next)
        }
        return all
    }

    func plan() throws -> StoreMigrationPlan {
        try context.hold {
            let steps = try migration.chain.steps.indices.map { number in
                do { return try step(number) } catch { throw migration.named(error, number) }
            }
            let lost = migration.chain.steps.isEmpty ? [] : try losses()
            return StoreMigrationPlan(steps: steps, lost: lost, findings: findings(), migration: migration)
        }
    }

    // MARK: Steps

    private func step(_ number: Int) throws -> StoreMigrationPlan.Step {
        let (from, to) = migration.chain.steps[number]
        let diff = SchemaDiff(from: from.schema, to: to.schema)
        let changes = diff.changes.map { StoreMigrationPlan.Change(entity: $0.entity, property: $0.property, change: $0.words) }
        if let mapping = migration.mappings[number] {
            let sources = Set(mapping.entityMappings.filter { $0.destinationEntityName != nil }.compactMap(\.sourceEntityName))
            return .init(
                from: from.name, to: to.name, kind: mapping.hasPolicies ? .custom : .mapping, changes: changes, sql: [],
                rows: try sources.reduce(0) { try $0 + count($1, number) })
        }
        let compiler = migration.type == NSSQLiteStoreType ? try migration.compiler(number) : nil
        let rewritten = try compiler?.rewritten.map(\.name) ?? from.schema.entities.map(\.name)
        return .init(
            from: from.name, to: to.name, kind: .inferred, changes: changes, sql: try compiler?.statements ?? [],
            rows: try rewritten.reduce(0) { try $0 + count($1, number) })
    }

    /// How many objects the store has of what is an entity in a version.
    private func count(_ entity: String, _ version: Int) throws -> Int {
        guard let origin = origins[version].entities[entity] else { return 0 }
        return try count(origin, where: nil)
    }

    private func count(_ entity: String, where predicate: NSPredicate?) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.includesSubentities = false
        request.predicate = predicate
        return try context.count(for: request)
    }

    // MARK: Losses

    /// What the first version has and nothing in the last comes from.
    private func losses() throws -> [StoreMigrationPlan.Loss] {
        guard let last = origins.last else { return [] }
        var kept: [String: Set<String>] = [:]
        for (entity, origin) in last.entities { kept[origin, default: []].formUnion(last.properties[entity].map { Array($0.values) } ?? []) }
        var losses: [StoreMigrationPlan.Loss] = []
        let source = migration.chain.versions[0].schema
        for entity in source.entities(inConfiguration: migration.configuration) ?? source.entities where !entity.isAbstract {
            guard let properties = kept[entity.name] else {
                losses.append(.init(entity: entity.name, property: nil, rows: try count(entity.name, where: nil)))
                continue
            }
            for name in source.properties(of: entity).map(\.name) where !properties.contains(name) {
                guard let condition = condition(name, of: entity) else { continue }
                losses.append(.init(entity: entity.name, property: name, rows: try count(entity.name, where: condition)))
            }
        }
        return losses.filter { $0.rows > 0 }
    }

    /// That a property has a value; nil for one that no store keeps.
    private func condition(_ name: String, of entity: Entity) -> NSPredicate? {
        let property = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity.name]?.propertiesByName[name]
        guard let property, !property.isTransient, !(property is NSFetchedPropertyDescription) else { return nil }
        if (property as? NSRelationshipDescription)?.isToMany == true { return NSPredicate(format: "%K.@count > 0", name) }
        if let composite = property as? NSCompositeAttributeDescription {
            let elements = entity.composites[composite.name]?.slots.map { NSPredicate(format: "%K != nil", entity.slots[$0].name) } ?? []
            return NSCompoundPredicate(orPredicateWithSubpredicates: elements)
        }
        return NSPredicate(format: "%K != nil", name)
    }

    // MARK: What is missing

    private func findings() -> [StoreMigrationPlan.Finding] {
        zip(migration.chain.steps, migration.mappings).flatMap { step, mapping in
            (mapping?.entityMappings ?? []).compactMap { entity in
                do {
                    _ = try PolicySearch.type(named: entity.entityMigrationPolicyClassName, for: entity.name ?? "")
                    return nil
                } catch {
                    let text = (error as? CocoaError)?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
                    return StoreMigrationPlan.Finding(
                        "The step from \(step.from.name) to \(step.to.name) cannot run here. \(text)",
                        entity: entity.destinationEntityName ?? entity.sourceEntityName, file: migration.url.path)
                }
            }
        }
    }
}

extension NSMappingModel {
    fileprivate final var hasPolicies: Bool {
        entityMappings.contains { !["", "NSEntityMigrationPolicy"].contains($0.entityMigrationPolicyClassName ?? "") }
    }
}
