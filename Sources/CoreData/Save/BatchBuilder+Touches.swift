// Rows that a save names for their relationships alone.

import CoreDataValues

extension BatchBuilder {
    /// Packs an object of which no value changed as far as it is not compared. Answers whether its row is to get a new version
    /// only if it is as it was read.
    @inline(never)
    func needsVersion(_ object: NSManagedObject) throws -> Bool {
        guard object.hasChangedToMany() else {
            if object.statesTarget || object._state.has(.based) { check(object) }
            return false
        }
        guard touches != nil, object.isOnlyTouched() else { return true }
        touches?.add(object, gains: object.gainsMembers, room: room.updates)
        try addRelationships(of: object, isTouched: true)
        return false
    }

    /// Members of a to-many without inverse have their owner in their own row, which must be as it was read.
    func adopt(_ members: ToMany) throws {
        guard touches != nil else { return }
        for member in members.added.objects {
            if member._state.isFault, member._state.has(.persistent) { try member.fireOrThrow() }
            adopted.append((member, true))
        }
        for member in members.removed.objects { adopted.append((member, false)) }
    }

    /// Puts the touched rows into the batch.
    func addTouches() {
        if !adopted.isEmpty { compareAdopted() }
        if let touches, !touches.rows.isEmpty { batch.touches = touches.groups }
    }

    private func compareAdopted() {
        var compared = Set(written.map { $0.object.toOpaque() })
        let touched = touches?.objects ?? []
        for (member, gains) in adopted {
            let object = Unmanaged.passUnretained(member).toOpaque()
            guard member.lastRead != nil, !member._state.has([.deleted, .gone]), compared.insert(object).inserted else {
                continue
            }
            check(member)
            if !touched.contains(object) { touches?.add(member, gains: gains, room: room.updates) }
        }
        adopted = []
    }
}
