// A store with rows for everything that a model declares.

import CoreData
import Foundation

/// For each entity that has objects: one with the lowest values, one with the highest, one with nothing where nothing is allowed; and every
/// relationship filled, the ordered ones in an order that is not that of the keys.
final class SampleStore {
    private let model: NSManagedObjectModel
    private let context: NSManagedObjectContext
    private var objects: [NSManagedObject] = []
    private static let each = 3

    private init(_ model: NSManagedObjectModel, _ context: NSManagedObjectContext) {
        (self.model, self.context) = (model, context)
    }

    /// Makes the store.
    ///
    /// - Returns: how many objects it has.
    static func make(of model: NSManagedObjectModel, at url: URL) throws -> Int {
        for transformable in model.entities.flatMap(\.attributesByName.values)
        where transformable.attributeType == .transformableAttributeType {
            if let name = transformable.valueTransformerName, !StandInTransformer.isLibrarys(name) {
                StandInTransformer.stand(in: name)
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        nonisolated(unsafe) let owned = model
        let count = try context.performAndWait { try SampleStore(owned, context).fill() }
        try coordinator.remove(store)
        return count
    }

    /// *objects · attributes · relationships · save*
    private func fill() throws -> Int {
        for entity in model.entities where !entity.isAbstract {
            for _ in 0..<Self.each {
                objects.append(NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context))
            }
        }
        var numbers: [String: Int] = [:]
        for (place, object) in objects.enumerated() {
            let root = root(of: object.entity)
            let number = numbers[root, default: 0]
            numbers[root] = number + 1
            fill(object, number, isEmpty: place % Self.each == 2)
        }
        for entity in model.entities {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
            where relationship.entity === entity {
                relate(relationship)
            }
        }
        return try save()
    }

    private func root(of entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return root.name ?? ""
    }

    // MARK: Attributes

    private func fill(_ object: NSManagedObject, _ number: Int, isEmpty: Bool) {
        for (name, attribute) in object.entity.attributesByName {
            if attribute.isTransient || attribute is NSDerivedAttributeDescription { continue }
            if isEmpty, attribute.isOptional {
                object.setValue(nil, forKey: name)
                continue
            }
            let fitting = SampleValues.candidates(for: attribute, number).first { isValid($0, name, object) }
            if let fitting { object.setValue(fitting, forKey: name) }
        }
    }

    private func isValid(_ value: Any, _ name: String, _ object: NSManagedObject) -> Bool {
        var checked: AnyObject? = value as AnyObject
        return (try? object.validateValue(&checked, forKey: name)) != nil
    }

    // MARK: Relationships

    private func all(_ entity: NSEntityDescription) -> [NSManagedObject] {
        objects.filter { $0.entity.isKindOf(entity: entity) }
    }

    private func relate(_ relationship: NSRelationshipDescription) {
        guard !relationship.isTransient, let target = relationship.destinationEntity else { return }
        let (owners, members) = (all(relationship.entity), all(target))
        guard !owners.isEmpty, !members.isEmpty else { return }
        let (name, inverse) = (relationship.name, relationship.inverseRelationship)
        if !relationship.isToMany {
            // The other side of a pair of to-ones follows.
            if let inverse, !inverse.isToMany { return pair(owners, members, name, inverse.name) }
            for (place, owner) in owners.enumerated() {
                owner.setValue(members[(place + 1) % members.count], forKey: name)
            }
        } else if let inverse, !inverse.isToMany {
            return
        } else if inverse == nil {
            for (place, owner) in owners.enumerated() {
                set(
                    members.enumerated().filter { $0.offset % owners.count == place }.map(\.element), relationship,
                    of: owner)
            }
        } else {
            for (place, owner) in owners.enumerated() where present(of: owner, relationship).isEmpty {
                set([members[(place + 1) % members.count], members[place % members.count]], relationship, of: owner)
            }
        }
    }

    private func pair(_ owners: [NSManagedObject], _ members: [NSManagedObject], _ name: String, _ inverse: String) {
        var free = members.filter { $0.value(forKey: inverse) == nil }
        for owner in owners where owner.value(forKey: name) == nil {
            guard let place = free.lastIndex(where: { $0 !== owner }) ?? free.indices.last else { return }
            owner.setValue(free.remove(at: place), forKey: name)
            free.removeAll { $0.value(forKey: inverse) != nil }
        }
    }

    private func present(of owner: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        let value = owner.value(forKey: relationship.name)
        return (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? (value as? NSSet)?.allObjects
            as? [NSManagedObject] ?? []
    }

    private func set(_ members: [NSManagedObject], _ relationship: NSRelationshipDescription, of owner: NSManagedObject)
    {
        owner.setValue(
            relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name)
    }

    // MARK: Saving

    /// What cannot be made to satisfy the model, such as one of three that need a partner of two, is left out.
    private func save() throws -> Int {
        for owner in objects {
            for relationship in owner.entity.relationshipsByName.values
            where relationship.isOrdered && !relationship.isTransient {
                set(present(of: owner, relationship).reversed(), relationship, of: owner)
            }
        }
        for _ in 0..<10 {
            let failing = objects.filter { object in (try? object.validateForInsert()) == nil }
            if failing.isEmpty { break }
            objects.removeAll { object in failing.contains { $0 === object } }
            failing.forEach(context.delete)
            context.processPendingChanges()
            objects.removeAll(where: \.isDeleted)
        }
        try context.save()
        return objects.count
    }
}
