// Whether one object is a member of a to-many that is not read.

import CoreDataValues

extension NSManagedObjectContext {
    /// Asks the store for one pair of saved objects; nil when it cannot tell without a look at all members.
    ///
    /// Reading a member costs 2,000 instructions, a question 8,000.
    final func isStored(_ member: NSManagedObject, in owner: NSManagedObject, toMany index: Int) -> Bool? {
        let (key, other) = (owner._state.key, member._state.key)
        guard key.number > 0, other.number > 0, key.store != 0, key.store == other.store,
            let rows = rows(of: key.store),
            rows.capabilities.contains(.membership)
        else { return nil }
        // What fails here fails again where all members are read, which says so.
        guard
            let answer = try? rows.isMember(
                other.row, of: owner.relationship(toMany: index).index, owner: key.row, .latest)
        else {
            return nil
        }
        noteFault(of: owner, toMany: index)
        return answer
    }

    /// What a context answers its child: with its pending changes, for objects that it has not deleted.
    final func isMember(_ member: ObjectKey, of relationship: RelationshipIndex, owner: ObjectKey) throws -> Bool {
        if registered(member)?._state.has([.deleted, .gone]) == true { return false }
        if let index = runtime.schema[relationship].toManyIndex, let owner = knowing(owner) {
            let isMember = owner.isMember(object(for: member), at: index)
            try throwReadError()
            return isMember
        }
        return try storedRows(of: owner.store)?.isMember(member.row, of: relationship, owner: owner.row, .latest)
            ?? false
    }
}
