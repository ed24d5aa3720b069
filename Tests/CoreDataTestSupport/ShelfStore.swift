// A sample incremental store: rows on a shelf outside of Core Data, as on a server.

import CoreData
import Foundation

/// The other side: rows by number, with versions. One shelf for each URL, as long as the process lives.
package final class Shelf: @unchecked Sendable {
    package struct Row {
        package var entity: String
        package var version: UInt64
        package var values: [String: Any] = [:]
        package var links: [String: [Int64]] = [:]
    }

    private let lock = NSLock()
    private var content: [Int64: Row] = [:]
    private var next: Int64 = 1
    package var uuid = UUID().uuidString
    package var notes: [String: Any] = [:]
    /// Makes the next save fail.
    package var refusal: (any Error)?
    /// What was asked for, in order.
    package private(set) var log: [String] = []

    private static let lock = NSLock()
    nonisolated(unsafe) private static var shelves: [URL: Shelf] = [:]

    package static func at(_ url: URL) -> Shelf {
        lock.withLock {
            let shelf = shelves[url] ?? Shelf()
            shelves[url] = shelf
            return shelf
        }
    }

    package func take(_ count: Int) -> [Int64] {
        lock.withLock {
            defer { next += Int64(count) }
            return (0..<count).map { next + Int64($0) }
        }
    }

    package var rows: [Int64: Row] {
        get { lock.withLock { content } }
        set { lock.withLock { content = newValue } }
    }
    package func note(_ line: String) { lock.withLock { log.append(line) } }
}

/// What a program writes to fetch from and save to a place of its own.
package final class ShelfStore: NSIncrementalStore, @unchecked Sendable {
    package static let type = "SampleShelf"

    private var shelf: Shelf { Shelf.at(url ?? URL(fileURLWithPath: "/")) }

    /// Read once: the model answers anew each time it is asked.
    private var entities: [String: NSEntityDescription] = [:]

    package override func loadMetadata() throws {
        entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        metadata = shelf.notes.merging([NSStoreUUIDKey: shelf.uuid, NSStoreTypeKey: ShelfStore.type]) { _, own in own }
    }

    private func reference(_ id: NSManagedObjectID) -> Int64 {
        (referenceObject(for: id) as? NSNumber)?.int64Value ?? -1
    }

    private func id(_ reference: Int64) -> NSManagedObjectID? {
        guard let row = shelf.rows[reference], let entity = entities[row.entity] else { return nil }
        return newObjectID(for: entity, referenceObject: NSNumber(value: reference))
    }

    package override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        zip(array, shelf.take(array.count)).map { newObjectID(for: $0.entity, referenceObject: NSNumber(value: $1)) }
    }

    // MARK: Reading

    package override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
        -> Any
    {
        if let save = request as? NSSaveChangesRequest { return try execute(save) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let context else {
            throw CocoaError(.featureUnsupported)
        }
        let found = objects(fetch, in: context)
        return fetch.resultType == .countResultType ? [NSNumber(value: found.count)] : found
    }

    private func objects(
        _ request: NSFetchRequest<any NSFetchRequestResult>, in context: NSManagedObjectContext
    ) -> [NSManagedObject] {
        guard let entity = request.entity else { return [] }
        shelf.note("fetch \(entity.name ?? "")")
        let rows = shelf.rows.sorted { $0.key < $1.key }.filter { _, row in
            guard let own = entities[row.entity] else { return false }
            return request.includesSubentities ? own.isKindOf(entity: entity) : own === entity
        }
        var found = rows.compactMap { reference, _ in id(reference).map { (reference, context.object(with: $0)) } }
        if let predicate = request.predicate { found = found.filter { predicate.evaluate(with: $0.1) } }
        if let sort = request.sortDescriptors, let last = sort.last {
            found.sort { a, b in
                for descriptor in sort {
                    let order = compare(a.1, b.1, descriptor)
                    if order != .orderedSame { return order == .orderedAscending }
                }
                return (a.0 < b.0) == last.ascending
            }
        }
        let rest = found.dropFirst(request.fetchOffset).map(\.1)
        return request.fetchLimit > 0 ? Array(rest.prefix(request.fetchLimit)) : rest
    }

    /// Objects at the end of a to-one are ordered by their numbers.
    private func compare(
        _ a: NSManagedObject, _ b: NSManagedObject, _ descriptor: NSSortDescriptor
    ) -> ComparisonResult {
        guard let key = descriptor.key, a.entity.relationshipsByName[key]?.isToMany == false else {
            return descriptor.compare(a, to: b)
        }
        let (x, y) = (members(a.value(forKey: key)).first ?? 0, members(b.value(forKey: key)).first ?? 0)
        if x == y { return .orderedSame }
        return (x < y) == descriptor.ascending ? .orderedAscending : .orderedDescending
    }

    package override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let row = shelf.rows[reference(objectID)] else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: row.values, version: row.version)
    }

    package override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let own = reference(objectID)
        shelf.note("members \(relationship.name)")
        let rows = shelf.rows
        let listed = rows[own]?.links[relationship.name] ?? []
        guard relationship.isToMany else {
            // A to-one names its row whether it is there or not.
            guard let target = listed.first else { return NSNull() }
            return id(target)
                ?? newObjectID(
                    for: relationship.destinationEntity ?? objectID.entity, referenceObject: NSNumber(value: target))
        }
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
            return listed.compactMap { id($0) }
        }
        let members = rows.filter { $0.value.links[inverse.name] == [own] && isOwner($0.value, inverse) }.keys
        let places = Dictionary(listed.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { a, _ in a })
        return members.sorted { (places[$0] ?? -1, $0) < (places[$1] ?? -1, $1) }.compactMap { id($0) }
    }

    /// Relationships of different entities may have one name.
    private func isOwner(_ row: Shelf.Row, _ relationship: NSRelationshipDescription) -> Bool {
        guard let entity = entities[row.entity] else { return false }
        return entity.isKindOf(entity: relationship.entity)
    }

    // MARK: Writing

    private func execute(_ save: NSSaveChangesRequest) throws -> Any {
        if let refusal = shelf.refusal { throw refusal }
        // Objects ask the store for relationships while they are written down: all changes at once at the end.
        var rows = shelf.rows
        for object in save.insertedObjects ?? [] { take(object, &rows, version: 1) }
        for object in save.updatedObjects ?? [] {
            let former = rows[reference(object.objectID)]?.version ?? 0
            take(object, &rows, version: object.changedValues().isEmpty ? former : former + 1)
        }
        for object in save.deletedObjects ?? [] {
            let gone = reference(object.objectID)
            rows[gone] = nil
            for key in rows.keys {
                for (name, members) in rows[key]?.links ?? [:] where members.count > 1 {
                    rows[key]?.links[name] = members.filter { $0 != gone }
                }
            }
        }
        shelf.rows = rows
        return []
    }

    private func take(_ object: NSManagedObject, _ rows: inout [Int64: Shelf.Row], version: UInt64) {
        let own = reference(object.objectID)
        var row = Shelf.Row(entity: object.entity.name ?? "", version: version)
        for key in object.entity.attributesByName.keys { row.values[key] = object.value(forKey: key) }
        for (key, relationship) in object.entity.relationshipsByName {
            let members = members(object.value(forKey: key))
            row.links[key] = members
            guard relationship.inverseRelationship == nil, relationship.isToMany else { continue }
            // A member has one owner.
            for other in rows.keys where other != own {
                rows[other]?.links[key]?.removeAll { members.contains($0) }
            }
        }
        rows[own] = row
    }

    private func members(_ value: Any?) -> [Int64] {
        if let target = value as? NSManagedObject { return [reference(target.objectID)] }
        let all: [Any] = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        return all.compactMap { ($0 as? NSManagedObject).map { reference($0.objectID) } }
    }
}
