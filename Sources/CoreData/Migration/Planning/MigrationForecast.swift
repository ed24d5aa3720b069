// What each step of a migration means for the store as it is.

import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation

/// *changes · statements · rows · losses · what is missing*
struct MigrationForecast {
    private let migration: ChainMigration
    /// On the store as it is, read only.
    private let context: NSManagedObjectContext
    /// The tables of a SQLite store under the names that its file has for them; nil for another store.
    private let tables: StoreMap?
    /// What mapping models say, step by step; nil for what is inferred.
    private let readings: [[ReadMapping]?]
    private let findings: [StoreMigrationPlan.Finding]

    init(_ migration: ChainMigration) throws {
        self.migration = migration
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: migration.chain.versions[0].model)
        var options = migration.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = true
        let store = try coordinator.addPersistentStore(
            ofType: migration.type, configurationName: migration.configuration, at: migration.url, options: options)
        tables = (store.rows as? SQLiteStore)?.map
        context.persistentStoreCoordinator = coordinator
        let read = migration.chain.steps.indices.map(migration.readings)
        readings = read.map { $0?.mappings }
        findings = read.flatMap { $0?.missing ?? [] }
    }

    func plan() throws -> StoreMigrationPlan {
        try context.hold {
            let source = migration.chain.versions[0].schema
            let kept = source.entities(inConfiguration: migration.configuration) ?? source.entities
            var counts: [String: Int] = [:]
            // An entity that became abstract may have objects from before.
            for entity in kept { counts[entity.name] = try count(entity.name, where: nil) }
            let lost = migration.chain.steps.isEmpty ? [] : try losses(kept, counts)
            var steps: [StoreMigrationPlan.Step] = []
            var tables = tables
            for number in migration.chain.steps.indices {
                do { steps.append(try step(number, &counts, &tables)) } catch {
                    throw migration.named(error, number, at: 0)
                }
            }
            return StoreMigrationPlan(steps: steps, lost: lost, findings: findings, migration: migration)
        }
    }

    // MARK: Steps

    /// - Parameters:
    ///   - counts: how many objects each entity has before the step; afterwards, as far as can be told, behind it.
    ///   - tables: those of the file before the step, nil where they are those of a new store; afterwards, those behind it.
    private func step(_ number: Int, _ counts: inout [String: Int], _ tables: inout StoreMap?) throws
        -> StoreMigrationPlan.Step
    {
        let (from, to) = migration.chain.steps[number]
        if let mappings = readings[number] {
            let rows = try mapped(mappings, isFirst: number == 0, &counts)
            tables = nil
            return .init(
                from: from.name, to: to.name, kind: mappings.contains(where: \.hasPolicy) ? .custom : .mapping,
                changes: StoreMigrationPlan.Change.mapped(mappings, from: from.schema, to: to.schema), sql: [],
                rows: rows)
        }
        let diff = SchemaDiff(from: from.schema, to: to.schema)
        let compiler = migration.type == NSSQLiteStoreType ? try migration.compiler(number, on: tables) : nil
        tables = compiler?.to
        // What cannot be told is refused whatever the store's type: a compiler has asked already.
        if compiler == nil { _ = try migration.inferred(number) }
        let rewritten = try compiler?.rewritten.map(\.name) ?? from.schema.entities.map(\.name)
        let rows = rewritten.reduce(0) { $0 + (counts[$1] ?? 0) }
        counts = Dictionary(
            to.schema.entities.compactMap { entity in
                diff.pairs.source(of: entity).map { (entity.name, counts[$0.name] ?? 0) }
            },
            uniquingKeysWith: { first, _ in first })
        return .init(
            from: from.name, to: to.name, kind: .inferred,
            changes: StoreMigrationPlan.Change.inferred(diff).filter { concerns($0, from.schema, to.schema) },
            sql: try compiler?.statements ?? [],
            rows: rows)
    }

    /// Whether a change is one of the store's entities.
    private func concerns(_ change: StoreMigrationPlan.Change, _ from: Schema, _ to: Schema) -> Bool {
        [from, to].contains { schema in
            schema.entities(inConfiguration: migration.configuration)?.contains { $0.name == change.entity } != false
        }
    }

    /// How many objects mappings read, each counted once.
    private func mapped(_ mappings: [ReadMapping], isFirst: Bool, _ counts: inout [String: Int]) throws -> Int {
        var (read, made): ([String: Int], [String: Int]) = ([:], [:])
        for mapping in mappings where mapping.isCarried {
            for source in mapping.sources {
                var taken = counts[source] ?? 0
                if isFirst, let condition = mapping.condition, taken > 0 {
                    taken = try count(source, where: predicate(condition))
                }
                read[source, default: 0] += taken
                made[mapping.mapping.destinationEntityName ?? "", default: 0] += taken
            }
        }
        let rows = read.reduce(0) { $0 + min($1.value, counts[$1.key] ?? 0) }
        counts = made
        return rows
    }

    private func count(_ entity: String, where predicate: NSPredicate?) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.includesSubentities = false
        request.predicate = predicate
        return try context.count(for: request)
    }

    /// nil for a text that is none, which a finding tells.
    private func predicate(_ text: String) -> NSPredicate? { try? NSPredicate(parsing: text) }

    // MARK: Losses

    /// What the first version has and nothing in the last comes from.
    private func losses(_ kept: [Entity], _ counts: [String: Int]) throws -> [StoreMigrationPlan.Loss] {
        let source = migration.chain.versions[0].schema
        let fates = Fates(
            flows: migration.chain.steps.indices.map { flow($0) }, versions: migration.chain.versions.map(\.schema))
        var losses: [StoreMigrationPlan.Loss] = []
        var members = MemberLosses(fates, Set(counts.filter { $0.value > 0 }.keys), context)
        for entity in kept {
            guard let count = counts[entity.name], count > 0 else { continue }
            guard fates.goesOn(entity.name) else {
                losses.append(.init(entity: entity.name, property: nil, rows: count))
                continue
            }
            losses.append(.init(entity: entity.name, property: nil, rows: try count - taken(entity.name, count)))
            for name in source.properties(of: entity).map(\.name) where !fates.goesOn(entity.name, name) {
                if let inverse = source.inverse(of: name, entity), fates.goesOn(inverse.entity, inverse.property),
                    fates.leads(inverse.entity, inverse.property, to: entity.name)
                {
                    continue
                }
                guard let condition = condition(name, of: entity) else { continue }
                losses.append(
                    .init(entity: entity.name, property: name, rows: try self.count(entity.name, where: condition)))
            }
            for slot in entity.slots {
                guard let attribute = slot.composite, fates.goesOn(entity.name, attribute),
                    !fates.goesOn(entity.name, slot.name),
                    condition(attribute, of: entity) != nil
                else { continue }
                let filled = NSPredicate(format: "%K != nil", slot.name)
                losses.append(
                    .init(entity: entity.name, property: slot.name, rows: try self.count(entity.name, where: filled)))
            }
            losses += try members.losses(of: entity)
        }
        return losses.filter { $0.rows > 0 }
    }

    private func flow(_ number: Int) -> StepFlow {
        let (from, to) = migration.chain.steps[number]
        if let mappings = readings[number] { return StepFlow(mappings, from: from.schema, to: to.schema) }
        return StepFlow(SchemaDiff(from: from.schema, to: to.schema).pairs)
    }

    /// How many objects of an entity the mappings of the first step choose.
    private func taken(_ entity: String, _ count: Int) throws -> Int {
        guard let readers = readings.first??.filter({ $0.isCarried && $0.sources.contains(entity) }) else {
            return count
        }
        let conditions = readers.compactMap { $0.condition.flatMap(predicate) }
        guard !readers.isEmpty, conditions.count == readers.count else { return count }
        return try self.count(entity, where: NSCompoundPredicate(orPredicateWithSubpredicates: conditions))
    }

    /// That a property has a value; nil for one that no store keeps.
    private func condition(_ name: String, of entity: Entity) -> NSPredicate? {
        let property = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity.name]?
            .propertiesByName[name]
        guard let property, !property.isTransient, !(property is NSFetchedPropertyDescription) else { return nil }
        if (property as? NSRelationshipDescription)?.isToMany == true {
            return NSPredicate(format: "%K.@count > 0", name)
        }
        if let composite = property as? NSCompositeAttributeDescription {
            let elements =
                entity.composites[composite.name]?.slots.map { NSPredicate(format: "%K != nil", entity.slots[$0].name) }
                ?? []
            return NSCompoundPredicate(orPredicateWithSubpredicates: elements)
        }
        return NSPredicate(format: "%K != nil", name)
    }
}
