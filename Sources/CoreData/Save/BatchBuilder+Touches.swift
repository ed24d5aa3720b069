// Rows that a save names only because relationships changed.

import CoreDataValues

extension BatchBuilder {
    /// For an object without changed values. Returns true if the row must be updated with a version check; otherwise
    /// bumps its version, just checks it, or does neither.
    @inline(never)
    func needsVersion(_ object: NSManagedObject) throws -> Bool {
        guard object.hasChangedToMany() else {
            if object.statesTarget || object._state.has(.childBase) { check(object) }
            return false
        }
        guard touches != nil, object.isOnlyTouched() else { return true }
        touches?.add(object, gains: object.gainsMembers)
        try addRelationships(of: object, isTouched: true)
        return false
    }

    /// Notes members of a to-many without inverse: their own row names the owner and must be as it was read.
    func adopt(_ members: ToMany) throws {
        guard touches != nil else { return }
        for member in members.added.objects {
            if member._state.isFault, member._state.has(.persistent) { try member.fireOrThrow() }
            adopted.append((member, true))
        }
        for member in members.removed.objects { adopted.append((member, false)) }
    }

    /// Adds the touched rows to the batch.
    func addTouches() {
        if !adopted.isEmpty { compareAdopted() }
        if let touches, !touches.rows.isEmpty { batch.touches = touches.groups }
    }

    private func compareAdopted() {
        var compared = Set(written.map { $0.object.toOpaque() })
        let touched = touches?.objects ?? []
        for (member, gains) in adopted {
            let object = Unmanaged.passUnretained(member).toOpaque()
            guard member.lastRead != nil, !member._state.has([.deleted, .detached]), compared.insert(object).inserted
            else {
                continue
            }
            check(member)
            if !touched.contains(object) { touches?.add(member, gains: gains) }
        }
        adopted = []
    }
}
