// A child's change to an object that its parent does not find.

import CoreDataValues
import Foundation

/// Decides what becomes of such a change: dropped with the object, or refused.
///
/// What this context or one above has deleted takes relationships and a second deletion with it. A row that another writer has deleted
/// is another matter: what was changed together with it was decided on a row that is gone, as if the versions differed. A deletion
/// that comes with nothing else has what it wants.
struct MissingTwin {
    private let object: NSManagedObject
    private let parent: NSManagedObjectContext

    init(of object: NSManagedObject, in parent: NSManagedObjectContext) {
        self.object = object
        self.parent = parent
    }

    /// - Parameters:
    ///   - isAlone: whether nothing but deletions is saved.
    ///   - isGiven: whether the program wants the object compared although it is not changed.
    func check(isAlone: @autoclosure () -> Bool, isGiven: @autoclosure () -> Bool) throws {
        if object._state.has(.deleted) {
            guard isDeletedElsewhere, !isAlone(), parent.refusesConflicts else { return }
            throw CocoaError.deletedAbove(object, "roll back, and look again at what is to be deleted")
        }
        guard hasChangedValues || (hasChangedRow || isGiven()) && isDeletedElsewhere else { return }
        throw CocoaError.deletedAbove(object, "delete it here too, or roll back")
    }

    private var isDeletedElsewhere: Bool {
        guard let read = object.standing, parent.renewed(read, of: object).version > 0 else { return false }
        return !parent.familyHasDeleted(object._state.key)
    }

    private var hasChangedValues: Bool { object.slots.contains { ChildSave.isAttribute(object, $0) && isChanged($0) } }

    /// Whether more is changed than what delete rules have taken out of it.
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
