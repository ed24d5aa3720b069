// What requests, stores, containers and contexts say of themselves when they are printed.

import Foundation

extension NSFetchRequest {
    /// Entity, predicate, order and bounds, and what differs from a plain request.
    final var summary: String {
        var facts = ["entity: \(entityName ?? (ResultType.self as? NSManagedObject.Type).map { "\($0)" } ?? "nil")"]
        if let predicate { facts.append("predicate: \((try? predicate.tree().predicateFormat) ?? "\(predicate)")") }
        if let sortDescriptors, !sortDescriptors.isEmpty {
            facts.append("order: \(sortDescriptors.map(\.summary).joined(separator: ", "))")
        }
        if fetchLimit > 0 { facts.append("limit: \(fetchLimit)") }
        if fetchOffset > 0 { facts.append("offset: \(fetchOffset)") }
        switch resultType {
        case .managedObjectIDResultType: facts.append("result: object IDs")
        case .dictionaryResultType: facts.append("result: dictionaries")
        case .countResultType: facts.append("result: count")
        default: break
        }
        if let paths = relationshipKeyPathsForPrefetching, !paths.isEmpty {
            facts.append("prefetch: \(paths.joined(separator: ", "))")
        }
        if !includesSubentities { facts.append("without subentities") }
        if !includesPendingChanges { facts.append("without pending changes") }
        return facts.joined(separator: "; ")
    }
}

extension NSSortDescriptor {
    fileprivate var summary: String {
        let isAscending = (try? term())?.isAscending ?? ascending
        return "\(key ?? "by a comparison of the program's") \(isAscending ? "ascending" : "descending")"
    }
}

extension NSPersistentStore {
    final var summary: String {
        "type: \(type); url: \(url?.absoluteString ?? "nil"); configuration: \(configurationName); identifier: \(identifier ?? "")"
            + (isReadOnly ? "; read-only" : "")
    }
}

extension NSPersistentContainer {
    /// The stores, or what is to be opened where none is open.
    final var summary: String {
        let stores = persistentStoreCoordinator.persistentStores.map { "\($0)" }
        let shown = stores.isEmpty ? persistentStoreDescriptions.map { "not loaded: \($0)" } : stores
        return "name: \(name); entities: \(managedObjectModel.entities.compactMap(\.name).joined(separator: ", ")); "
            + "stores: [\(shown.joined(separator: ", "))]"
    }
}

extension NSManagedObjectContext {
    /// Name, queue, what it stands on, and how much is pending, as far as the caller may ask.
    final var summary: String {
        var facts: [String] = []
        if let name { facts.append("name: \(name)") }
        switch concurrencyType {
        case .mainQueueConcurrencyType: facts.append("main queue")
        case .privateQueueConcurrencyType, .confinementConcurrencyType: facts.append("private queue")
        }
        if let parent { facts.append("parent: \(parent.name ?? "\(ObjectIdentifier(parent).hexadecimal)")") }
        if isHeldByCaller {
            let counts = (insertedObjects.count, updatedObjects.count, deletedObjects.count)
            facts.append(
                "inserted: \(counts.0); updated: \(counts.1); deleted: \(counts.2); registered: \(allObjects.count)")
        } else {
            facts.append("of another queue")
        }
        return facts.joined(separator: "; ")
    }
}

extension ObjectIdentifier {
    /// The address, as descriptions show it.
    var hexadecimal: String { "0x\(String(UInt(bitPattern: self), radix: 16))" }
}
