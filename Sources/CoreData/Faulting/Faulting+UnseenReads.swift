// Rows that are read without the program seeing them: for a delete rule, a write or a save.
//
// They must not hide another writer's change: the save compares the version that the program last read, even if the
// object was deallocated since. The identity map remembers that version (`VersionTable`).

import CoreDataValues

extension Faulting {
    /// Reads rows that the program does not see.
    func unseen<Result>(_ body: () throws -> Result) rethrows -> Result {
        let former = readsUnseen
        readsUnseen = true
        defer { readsUnseen = former }
        return try body()
    }

    /// Runs the program's code during such reads; what it reads counts as seen.
    func seen(_ body: () -> Void) {
        let former = readsUnseen
        readsUnseen = false
        body()
        readsUnseen = former
    }
}

extension NSManagedObject {
    /// Fires the fault of an object that is about to be written or deleted.
    @inline(never)
    final func fireUnseen(writing slot: Int? = nil) {
        guard let context = managedObjectContext else { return fire() }
        context.faulting.unseen { fire(reading: slot) }
        if slot != nil { recordMissingRow() }
    }

    /// Marks a fault whose row came with others' as unseen, if the context fires it for its own use.
    @inline(never)
    final func noteUnseen() {
        if managedObjectContext?.faulting.readsUnseen == true { _state.set(.unseen) }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// The version of the row if the program has read it, else `IdentityTable.noVersion`.
    @inline(__always)
    var seenVersion: Int32 {
        guard let row = pointee.row, !has(.unseen), !has(.readIncidentally) || !isFault else {
            return IdentityTable.noVersion
        }
        return row.version(info.layout)
    }

    /// Makes an object without changes a fault again if the program has not seen its row.
    @inline(__always)
    func leaveUnseenRow() { if has(.unseen) { detachRow(keepsVersion: true) } }
}
