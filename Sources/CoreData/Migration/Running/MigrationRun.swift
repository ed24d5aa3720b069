// One run of a migration manager: three passes over the entity mappings.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Carries a mapping model out between two contexts. A value used once, on the queues of both.
///
/// Objects are made, related and saved by the batch: memory holds a batch, and the names of all rows that were associated.
final class MigrationRun {
    /// How many objects are written at once.
    static let batch = 1000
    let manager: NSMigrationManager
    let steps: [MappingStep]
    let sourceContext: NSManagedObjectContext
    let destinationContext: NSManagedObjectContext
    private let validation: DeferredValidation
    private let failures = ObjectFailures()
    private let tables: [String: AssociationTable]
    let early: EarlyLinks
    /// Steps with an object whose relationships could not be filled when it was made.
    var unlinked: Set<ObjectIdentifier> = []
    private(set) var current: MappingStep?
    /// That of the current step.
    private var currentTable: AssociationTable?
    private var pending = 0
    private var done = 0
    private var expected = 1

    /// - Parameter isNew: whether the destination has no objects of its own.
    init(
        _ manager: NSMigrationManager, _ steps: [MappingStep], from source: NSManagedObjectContext,
        to destination: NSManagedObjectContext, isNew: Bool
    ) {
        self.manager = manager
        self.steps = steps
        (sourceContext, destinationContext) = (source, destination)
        early = EarlyLinks(steps)
        let tables = Dictionary(steps.map { ($0.name, AssociationTable()) }, uniquingKeysWith: { first, _ in first })
        self.tables = tables
        validation = DeferredValidation(isNew: isNew) { [unowned destination] deleted in
            for table in tables.values {
                table.acceptSavedKeys(destination)
                if !deleted.isEmpty { table.remove(deleted) }
            }
        }
    }

    /// *instances · relationships · validation*
    func run() throws {
        destinationContext.deferredValidation = validation
        expected = try max(1, 2 * steps.reduce(0) { try $0 + count($1) } + steps.count)
        do { try passes() } catch { throw failures.joining(error) }
        done = expected
    }

    private func passes() throws {
        for step in steps { try createInstances(step) }
        for step in steps { try createRelationships(step) }
        for step in steps {
            try begin(step)
            try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
            try save()
            done += 1
        }
        try validate()
        for step in steps {
            try begin(step)
            try step.policy.end(step.mapping, manager: manager)
        }
        try save()
        try validate()
        try manager.throwIfCancelled()
    }

    /// - Throws: what the objects say that do not satisfy the model, of the first hundred, or where all are collected with what was met
    ///   before.
    private func validate() throws {
        let (isComplete, collects) = (failures.isEmpty, manager.collectsFailures)
        var errors: [any Error] = []
        try validation.finish(destinationContext) { object, error in
            // One that failed is no target of another, which is not to blame for that.
            if !isComplete, let key = (error as? CocoaError)?.validationKey,
                object.entity.relationshipsByName[key] != nil
            {
                return true
            }
            let named = origin(of: object).map { ObjectFailures.named(error, $0) } ?? error
            if collects { failures.add(named) } else { errors.append(named) }
            return collects || errors.count < FailedObject.limit
        }
        try failures.finish()
        try Validation.throwing(errors.count > 1 ? errors.map { ($0 as? ObjectFailure)?.told ?? $0 } : errors)
    }

    var progress: Float { min(1, Float(done) / Float(expected)) }

    // MARK: The passes

    // A policy that resets a context lets go of the objects of a batch: they are asked for again, one by one.
    private func createInstances(_ step: MappingStep) throws {
        try begin(step)
        try step.policy.begin(step.mapping, with: manager)
        if let source = step.source, step.mapping.mappingType != .removeEntityMappingType {
            try forEachBatch(of: source, step) { objects in
                for read in objects {
                    try manager.throwIfCancelled()
                    let object = read.managedObjectContext == nil ? sourceObject(read._state.key) : read
                    do {
                        try step.policy.createDestinationInstances(
                            forSource: object, in: step.mapping, manager: manager)
                    } catch { try failures.note(error, object, manager) }
                    try countOne()
                }
            }
        }
        try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
        try save()
    }

    private func createRelationships(_ step: MappingStep) throws {
        try begin(step)
        let pairs = tables[step.name]?.count ?? 0
        if early.leavesNothing(for: step, unlinked) {
            done += pairs
            return try save()
        }
        for start in stride(from: 0, to: pairs, by: MigrationRun.batch) {
            guard let table = tables[step.name] else { break }
            // Fewer than there were, once a policy has reset the manager.
            let batch = table.pairs(start..<min(start + MigrationRun.batch, pairs))
            let objects = batch.map { destinationObject($0.destination) }
            try destinationContext.fulfill(objects.filter(\.isThere))
            if !step.relationships.isEmpty {
                try sourceContext.fulfill(batch.map { sourceObject($0.source) })
            }
            for (pair, read) in zip(batch, objects) {
                let object = read.managedObjectContext == nil ? destinationObject(pair.destination) : read
                guard table.isFirst(pair.number, of: object) && object.isThere else { continue }
                try manager.throwIfCancelled()
                do {
                    try step.policy.createRelationships(forDestination: object, in: step.mapping, manager: manager)
                } catch { try failures.note(error, origin(of: object) ?? object, manager) }
                try countOne()
            }
            try save()
        }
        try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
        try save()
    }

    private func begin(_ step: MappingStep) throws {
        try manager.throwIfCancelled()
        current = step
        currentTable = tables[step.name]
    }

    private func countOne() throws {
        done += 1
        manager.progress = progress
        pending += 1
        if pending >= MigrationRun.batch { try save() }
    }

    private func save() throws {
        pending = 0
        do { try destinationContext.save() } catch { throw equalObjects(error) ?? error }
        // Without changes there was no save, though what was new may have been deleted.
        for table in tables.values { table.acceptSavedKeys(destinationContext) }
        // A getter of the source cannot throw; what it met is thrown here.
        try sourceContext.fulfill([NSManagedObject]())
        manager.progress = progress
        manager.reports?(progress)
    }

    // MARK: Source objects

    private func count(_ step: MappingStep) throws -> Int {
        guard case .fetch(let request, let context, _)? = step.source else { return 0 }
        let scope = MappingScope(run: self, step: step)
        (current, currentTable) = (step, tables[step.name])
        guard let found = try request.value(in: scope) as? NSFetchRequest<any NSFetchRequestResult> else { return 0 }
        return try (context.value(in: scope) as? NSManagedObjectContext ?? sourceContext).count(for: found)
    }

    private func forEachBatch(of source: MappingValue, _ step: MappingStep, _ body: ([NSManagedObject]) throws -> Void)
        throws
    {
        let scope = MappingScope(run: self, step: step)
        if case .fetch(let request, let context, .constant) = source,
            let request = try request.value(in: scope) as? NSFetchRequest<any NSFetchRequestResult>,
            try context.value(in: scope) as? NSManagedObjectContext === sourceContext
        {
            let cursor = try FetchCursor(sourceContext, sourceContext.bound(request))
            while let objects = try cursor.next() { try body(objects) }
            return
        }
        guard let objects = MappingValue.objects(try source.value(in: scope)) else {
            throw CocoaError.coreData(
                134110, "The source expression of the mapping \(step.name) does not come to objects.")
        }
        try body(objects)
    }

    /// - Throws: 134110 for an entity that the source model has not, and for a text that is no predicate.
    func request(for entity: String, _ predicate: String, includesSubentities: Bool) throws -> NSFetchRequest<
        any NSFetchRequestResult
    > {
        guard manager.sourceModel.entitiesByName[entity] != nil else {
            throw CocoaError.coreData(
                134110, "The source model has no entity \(entity), which the mapping \(current?.name ?? "") fetches.")
        }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.includesSubentities = includesSubentities
        do {
            request.predicate =
                try predicate == "TRUEPREDICATE" || predicate.isEmpty ? nil : NSPredicate(parsing: predicate)
        } catch {
            throw CocoaError.coreData(
                134110,
                "The mapping \(current?.name ?? "") chooses its source objects by “\(predicate)”, which is no predicate: \(error)"
            )
        }
        return request
    }

    // MARK: Associations

    /// What a destination object was made of; nil where no mapping has associated it.
    func origin(of object: NSManagedObject) -> NSManagedObject? {
        steps.lazy.compactMap { self.tables[$0.name]?.sources(of: [object]).first }.first.map(sourceObject)
    }

    func table(named name: String) throws -> AssociationTable {
        guard let table = tables[name] else {
            throw CocoaError.coreData(134110, "The mapping model has no entity mapping \(name).")
        }
        return table
    }

    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping) {
        let table = mapping === current?.mapping ? currentTable : tables[mapping.name]
        guard let table else {
            misuse("associate was called for the mapping \(mapping.name ?? ""), which the mapping model has not.")
        }
        table.add(source, destination)
    }

    func reset() { for table in tables.values { table.removeAll() } }

    func destinationObject(_ key: ObjectKey) -> NSManagedObject { destinationContext.object(for: key) }
    func sourceObject(_ key: ObjectKey) -> NSManagedObject { sourceContext.object(for: key) }

    /// What became of members of a relationship of the current mapping's source entity, whichever mapping they went through.
    func related(by relationship: String, _ sources: [NSManagedObject]) throws -> [NSManagedObject] {
        guard let target = current?.sourceEntity?.relationshipsByName[relationship]?.destinationEntity else {
            throw CocoaError.coreData(
                134110, "The source entity of the mapping \(current?.name ?? "") has no relationship \(relationship).")
        }
        let fitting = steps.filter { step in
            step.sourceEntity.map { $0.isKindOf(entity: target) || target.isKindOf(entity: $0) } ?? false
        }
        return sources.flatMap { source in
            fitting.flatMap { tables[$0.name].map { destinationObjects(in: $0, of: [source]) } ?? [] }
        }
    }

    /// What sources became, as far as it is not deleted.
    func destinationObjects(in table: AssociationTable, of sources: [NSManagedObject]) -> [NSManagedObject] {
        table.destinations(of: sources).lazy.map(destinationObject).filter(\.isThere)
    }

    /// All pairs whose destination is not deleted. Makes no object.
    func pairs(in table: AssociationTable) -> [(number: Int, source: ObjectKey, destination: ObjectKey)] {
        table.pairs(0..<table.count).filter { pair in
            destinationContext.registered(pair.destination).map(\.isThere) ?? (pair.destination.number > 0)
        }
    }
}
