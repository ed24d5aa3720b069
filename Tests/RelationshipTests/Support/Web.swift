// A model with every shape of relationship, and how tests speak of it.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

enum Web {
    /// Node (and Boss, a kind of Node), Tag, Step, Badge, Animal (abstract: Dog, Cat).
    static func draft() -> SchemaDraft {
        var node = entity("Node")
        node.relationships = [
            Clinic.toOne("parent", "Node", inverse: "children"), Clinic.toMany("children", "Node", inverse: "parent"),
            Clinic.toMany("friends", "Node", inverse: "friends"), Clinic.toOne("spouse", "Node", inverse: "spouse"),
            Clinic.toOne("mentor", "Node", inverse: "pupil"), Clinic.toOne("pupil", "Node", inverse: "mentor"),
            Clinic.toOne("badge", "Badge", inverse: "node"), Clinic.toMany("tags", "Tag", inverse: "nodes"),
            Clinic.toMany("list", "Tag", inverse: "lists", ordered: true),
            Clinic.toMany("steps", "Step", inverse: "node", ordered: true),
            Clinic.toOne("pet", "Animal", inverse: "keepers"), Clinic.toMany("zoo", "Animal", inverse: "keeper"),
            Clinic.toMany("walks", "Animal", inverse: "walkers"),
            Clinic.toOne("favorite", "Node", inverse: nil), Clinic.toMany("likes", "Tag", inverse: nil),
        ]
        let boss = EntityDraft("Boss", [Clinic.attribute("rank", .integer32)], parent: "Node")
        var tag = entity("Tag")
        tag.relationships = [
            Clinic.toMany("nodes", "Node", inverse: "tags"), Clinic.toMany("lists", "Node", inverse: "list"),
        ]
        var step = entity("Step")
        step.relationships = [Clinic.toOne("node", "Node", inverse: "steps")]
        var badge = entity("Badge")
        badge.relationships = [Clinic.toOne("node", "Node", inverse: "badge")]
        var animal = entity("Animal")
        animal.isAbstract = true
        animal.relationships = [
            Clinic.toMany("keepers", "Node", inverse: "pet"), Clinic.toOne("keeper", "Node", inverse: "zoo"),
            Clinic.toMany("walkers", "Node", inverse: "walks"),
        ]
        let dog = EntityDraft("Dog", parent: "Animal")
        let cat = EntityDraft("Cat", parent: "Animal")
        return SchemaDraft(node, boss, tag, step, badge, animal, dog, cat)
    }

    private static func entity(_ name: String) -> EntityDraft {
        EntityDraft(name, [Clinic.attribute("n", .integer32)])
    }

    static func stack(_ type: String = NSSQLiteStoreType, undo: Bool = true) throws -> Stack {
        try Stack(type, model: NSManagedObjectModel(draft: draft()), undo: undo)
    }
}

extension NSManagedObject {
    /// The members of a to-many in their order; without order by `n`.
    func many(_ key: String) -> [NSManagedObject] {
        if let set = value(forKey: key) as? NSOrderedSet { return set.array.compactMap { $0 as? NSManagedObject } }
        return (value(forKey: key) as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
    }

    func members(_ key: String) -> Set<NSManagedObject> { Set(many(key)) }

    /// The place of a to-many among those of the entity.
    func toManyIndex(_ key: String) throws -> Int {
        guard case .toMany(let index)? = place(of: key) else { throw CocoaError(.coreData) }
        return index
    }
}

let everyStore = StoreMaker.types
