// The stored half of an object that a merge changes: its row and its stored members.

import CoreDataValues

/// The stored half (row, members) of an object being merged: the only way in which a policy replaces these or an order.
///
/// Creating one first snapshots the object, so that a failed save can restore it. What a merge writes as a program
/// would, into overlays and pending members, needs none: `SaveMemory` reverts objects that had no changes before.
struct StoredState {
    private let object: NSManagedObject
    private var state: UnsafeMutablePointer<ObjectState> { object._state }

    init(_ object: NSManagedObject) {
        self.object = object
        object.managedObjectContext?.saveMemory?.remember(object)
    }

    // MARK: The row

    func attach(_ row: RowSnapshot) { state.attach(row.chunk, row: row.row) }

    /// Makes the object a fault. Overlay values equal to the old row would hide those of the new one.
    func detachRow() {
        state.revertUnchanged()
        object.forEachStoredToMany { _, members in members.becomeFault() }
        state.detachRow()
    }

    // MARK: Members

    func forget(_ members: ToMany) { members.becomeFault() }

    func forgetOrder(of members: ToMany) { members.dropOrder() }

    func setOrder(_ order: ContiguousArray<NSManagedObject>?, of members: ToMany) { members.setOrder(order) }

    func forgetAll(of members: ToMany) { members.setStored(.keys([])) }

    /// Adds a key to the stored members or removes it. Members that were not read stay unread.
    func setStored(_ member: ObjectKey, _ isStored: Bool, in members: ToMany) {
        guard !members.isFault, member.store != 0, members.held(member, store: member.store) != isStored else { return }
        let known = members.storedKeys(in: member.store)
        members.setStored(.keys(isStored ? known + [member] : known.filter { $0 != member }))
    }
}
