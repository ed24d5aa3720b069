// Asking whether one object is a member of a to-many that was not read.

import CoreDataValues

extension NSManagedObjectContext {
    /// Asks the store for one pair of saved objects; nil if it cannot tell without reading all members.
    ///
    /// Reading a member costs 2,000 instructions, a question 8,000.
    final func isStored(_ member: NSManagedObject, in owner: NSManagedObject, toMany index: Int) -> Bool? {
        let (key, other) = (owner._state.key, member._state.key)
        guard key.number > 0, other.number > 0, key.store != 0, key.store == other.store,
            let rows = reader(of: key.store),
            rows.capabilities.contains(.membership)
        else { return nil }
        // A question that fails is answered by reading all members, which reports the error.
        guard
            let answer = try? rows.isMember(
                other.row, of: owner.relationship(toMany: index).index, owner: key.row, .latest)
        else {
            return nil
        }
        faulting.noteFault(of: owner, toMany: index)
        return answer
    }

    /// Answers a child whether a pair exists here, with pending changes; a deleted member is in none.
    final func isMember(_ member: ObjectKey, of relationship: RelationshipIndex, owner: ObjectKey) throws -> Bool {
        if registered(member)?._state.has([.deleted, .detached]) == true { return false }
        if let index = runtime.schema[relationship].toManyIndex, let owner = knowing(owner) {
            let isMember = owner.isMember(object(for: member), at: index)
            try faulting.throwReadError()
            return isMember
        }
        return try requiredReader(of: owner.store)?.isMember(member.row, of: relationship, owner: owner.row, .latest)
            ?? false
    }
}
