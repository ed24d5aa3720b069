// Rows that are read without the program's seeing them: for a delete rule, a write or a save.
//
// They are no excuse for losing another writer's change: the save compares the version that the program has last read, whether or not
// it has held the object since. What it has let go of is remembered by the identity map (`VersionTable`).

import CoreDataValues

extension NSManagedObjectContext {
    /// Reads rows for the context's own sake.
    final func unseen<Result>(_ body: () throws -> Result) rethrows -> Result {
        let former = readsUnseen
        readsUnseen = true
        defer { readsUnseen = former }
        return try body()
    }

    /// Runs code of the program's in the middle of that.
    final func seen(_ body: () -> Void) {
        let former = readsUnseen
        readsUnseen = false
        body()
        readsUnseen = former
    }
}

extension NSManagedObject {
    /// Reads the row of a fault that is about to be written or removed.
    @inline(never)
    final func fireUnseen(writing slot: Int? = nil) {
        guard let context = managedObjectContext else { return fire() }
        context.unseen { if let slot { fire(reading: slot) } else { fire() } }
        if slot != nil { noteMissed() }
    }

    /// Says of a fault whose row came unasked what it is read for now.
    @inline(never)
    final func noteUnseen() {
        if managedObjectContext?.readsUnseen == true { _state.set(.unseen) }
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// The version of the row if the program has read it, else `IdentityTable.noVersion`.
    @inline(__always)
    var seenVersion: Int32 {
        guard let row = pointee.row, !has(.unseen), !has(.unasked) || !isFault else { return IdentityTable.noVersion }
        return row.version(info.layout)
    }

    /// Makes an object that has no changes any more a fault again, if the program has not seen its row.
    @inline(__always)
    func leaveUnseenRow() { if has(.unseen) { detachRow(keepsVersion: true) } }
}
