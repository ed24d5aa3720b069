// How many members a to-many may have, and what must have none before its owner is deleted.

import CoreDataValues
import Foundation

extension Validation {
    /// Refuses to delete an object while a relationship with the rule deny has targets.
    static func checkDeletion(_ object: NSManagedObject) throws {
        var errors: [any Error] = []
        for relationship in object._state.info.denying {
            let remaining = object.targets(of: relationship).filter { !$0._state.has([.deleted, .detached]) }
            if !remaining.isEmpty {
                let complaint = Complaint(
                    code: 1600, sentence: "still has \(remaining.count) members, and its delete rule is deny")
                errors.append(error(complaint, object, relationship.name, object.anyValue(relationship.place)))
            }
        }
        try throwing(errors)
    }

    /// Reads the members of which an object must have some, or may not have many: those that nobody has read count as they were saved.
    static func readCounted(_ object: NSManagedObject) {
        for relationship in object._state.info.toManyRelationships {
            let description = relationship.description
            guard let index = relationship.toManyIndex, description.minCount > 0 || description.maxCount > 0 else {
                continue
            }
            _ = object.members(at: index)
        }
    }

    static func checkCount(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ errors: inout [any Error]
    ) {
        guard let index = relationship.toManyIndex else { return }
        guard object.toManyState(index) != nil || object._state.has(.inserted) else { return }
        let count = object.members(at: index).count
        guard let complaint = complaint(aboutCount: count, of: relationship) else { return }
        errors.append(error(complaint, object, relationship.name, object.anyValue(.toMany(index))))
    }

    /// Checks a member count. Optional relationships may be empty (4.10), required ones too without a minimum (4.13).
    static func complaint(aboutCount count: Int, of relationship: ResolvedRelationship) -> Complaint? {
        let description = relationship.description
        if count == 0, description.isOptional { return nil }
        if count < description.minCount {
            return Complaint(
                code: 1580, sentence: "has \(count) members and needs \(description.minCount)",
                predicate: NSPredicate(format: "SELF.@count >= %@", argumentArray: [description.minCount]))
        }
        guard description.maxCount > 0, count > description.maxCount else { return nil }
        return Complaint(
            code: 1590, sentence: "has \(count) members and may have \(description.maxCount)",
            predicate: NSPredicate(format: "SELF.@count <= %@", argumentArray: [description.maxCount]))
    }
}
