// A child's change to an object that the parent does not have.

import CoreDataValues
import Foundation

/// Decides whether such a change is dropped with the object or refused.
///
/// If this context or an ancestor deleted the object, changes of its relationships and a second deletion are dropped.
/// If another writer deleted the row, the save is refused as for a version conflict: what was changed together with it
/// relied on that row. A deletion that is saved alone already has its effect.
struct MissingParentObject {
    private let object: NSManagedObject
    private let parent: NSManagedObjectContext

    init(of object: NSManagedObject, in parent: NSManagedObjectContext) {
        self.object = object
        self.parent = parent
    }

    /// - Parameters:
    ///   - isAlone: whether nothing but deletions is saved.
    ///   - isGiven: whether the program wants the object compared although it is unchanged.
    func check(isAlone: @autoclosure () -> Bool, isGiven: @autoclosure () -> Bool) throws {
        if object._state.has(.deleted) {
            guard isDeletedElsewhere, !isAlone(), parent.refusesConflicts else { return }
            throw CocoaError.deletedAbove(object, "roll back, and look again at what is to be deleted")
        }
        guard hasChangedValues || (hasChangedRow || isGiven()) && isDeletedElsewhere else { return }
        throw CocoaError.deletedAbove(object, "delete it here too, or roll back")
    }

    private var isDeletedElsewhere: Bool {
        guard let read = object.standing, parent.raised(read, of: object).version > 0 else { return false }
        return !parent.familyHasDeleted(object._state.key)
    }

    private var hasChangedValues: Bool { object.slots.contains { ChildSave.isAttribute(object, $0) && isChanged($0) } }

    /// Whether more is changed than to-ones nullified by delete rules.
    var hasChangedRow: Bool {
        let targets = object.slots.filter { object.kind($0) == .toOne && isChanged($0) }
        return targets.isEmpty ? object.isRowChanged : !targets.allSatisfy(isNullified)
    }

    private func isNullified(_ slot: Int) -> Bool {
        guard object._state.overlay?.object(slot) == nil, let read = object.lastRead,
            let target = object.targetKey(at: slot, of: read), let context = object.managedObjectContext
        else { return false }
        return context.registered(target)?._state.has(.deleted) == true
    }

    private func isChanged(_ slot: Int) -> Bool {
        guard let transients = object.managedObjectContext?.tracker.transients else { return false }
        return ChildSave.isChanged(object, slot, transients)
    }
}
