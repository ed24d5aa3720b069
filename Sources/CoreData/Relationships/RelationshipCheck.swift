// Which objects may be related: checked at each write, and again by a save where an object left the context unsaved.

import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The same for what the fast check did not let through: tells what is wrong, or notes a link with a deleted object.
    final func checkSlowly(_ new: NSManagedObject, fits relationship: ResolvedRelationship) {
        let info = new._state.info
        let name = "\(entity.name ?? "").\(relationship.name)"
        guard info.schema === _state.info.schema else {
            misuse("\(name) was given an object of another model, a \(new.entity.name ?? "?"). Use one model for both.")
        }
        guard info.entity.isKind(of: info.schema[relationship.destination]) else {
            misuse(
                "\(name) leads to \(_state.info.schema[relationship.destination].name), not to \(new.entity.name ?? "?")."
            )
        }
        guard new._state.pointee.identityMap == _state.pointee.identityMap else {
            guard new._state.identityMap != nil, _state.identityMap != nil else {
                misuse(
                    "\(name) was given a pair of which one object belongs to no context. Insert it first: "
                        + "context.insert(object).")
            }
            misuse(
                "\(name) was given an object of another context. "
                    + "Pass its objectID and call object(with:) on the context of the owner.")
        }
        managedObjectContext?.noticeLink(self, new)
    }
}

extension NSManagedObjectContext {
    /// Notes that two objects were related of which one is deleted or gone.
    ///
    /// The delete rules of a deleted object are applied again. A gone object is refused by the next save.
    final func noticeLink(_ one: NSManagedObject, _ other: NSManagedObject) {
        for object in [one, other] {
            let state = object._state
            if state.has(.detached) {
                hasStrays = true
            } else if state.has(.rulesApplied) {
                state.clear(.rulesApplied)
                tracker.deletePropagation.add(object)
            }
        }
    }
}

/// Checks at a save that no relationship leads to an object that will have no row.
struct RelationshipCheck {
    private let context: NSManagedObjectContext

    /// nil if no object left the context unsaved, so that no relationship can be wrong.
    init?(_ context: NSManagedObjectContext) {
        guard context.hasStrays else { return nil }
        self.context = context
    }

    /// - Throws: 1550 for a relationship to an object that will have no row; 1560 for several.
    func run(_ objects: ContiguousArray<NSManagedObject>...) throws {
        var errors: [any Error] = []
        for objects in objects {
            for object in objects { check(object, &errors) }
        }
        try Validation.throwing(errors)
        context.hasStrays = false
    }

    private func check(_ object: NSManagedObject, _ errors: inout [any Error]) {
        object._state.forEachPresentToOne { slot, overlay in
            let relationship = object.relationship(at: slot)
            guard !relationship.description.isTransient, let target = overlay.object(slot) else { return }
            check(object, relationship, target, &errors)
        }
        object.forEachToMany { index, members in
            let relationship = object.relationship(toMany: index)
            for member in members.added.objects where !relationship.description.isTransient {
                check(object, relationship, member, &errors)
            }
        }
    }

    private func check(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ target: NSManagedObject,
        _ errors: inout [any Error]
    ) {
        let there = target._state
        if there.has(.detached) || !there.has([.persistent, .inserted]) {
            errors.append(
                error(
                    object, relationship, target,
                    "refers to a \(target.entity.name ?? "?") that was deleted or never inserted. Set it to nil, or to "
                        + "an object of this context"))
        }
    }

    private func error(
        _ object: NSManagedObject, _ relationship: ResolvedRelationship, _ target: NSManagedObject,
        _ sentence: String
    ) -> CocoaError {
        .coreData(
            1550, "\(object.entity.name ?? "").\(relationship.name) \(sentence).",
            [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: relationship.name,
                NSValidationValueErrorKey: target, NSAffectedObjectsErrorKey: [object, target],
            ])
    }
}
