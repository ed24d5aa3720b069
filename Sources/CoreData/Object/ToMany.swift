// The members of one to-many relationship of one object.

import CoreDataValues

/// What the store has, and what changed since. A clean to-many holds rows or keys, never objects, so it forms no cycle.
final class ToMany {
    /// What is known of the members as last read or saved.
    enum Base {
        case fault
        /// As read: the rows stay with it, so that members can be made again without another read.
        case rows([RowBatch])
        /// As saved.
        case keys(ContiguousArray<ObjectKey>)
    }

    var base: Base
    /// The context's `rowTime` when rows were read: later ones may have taken their place since.
    var readAt = 0
    private(set) var added = ObjectList()
    private(set) var removed = ObjectList()
    /// The present members in order, once an ordered relationship was changed.
    var order: ContiguousArray<NSManagedObject>?

    init(base: Base) { self.base = base }

    var isFault: Bool { if case .fault = base { true } else { false } }

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || order != nil }

    func hasAdded(_ member: NSManagedObject) -> Bool { !added.isEmpty && added.contains(member) }
    func hasRemoved(_ member: NSManagedObject) -> Bool { !removed.isEmpty && removed.contains(member) }

    /// Takes an object in that is no member, or a removed one back.
    func link(_ member: NSManagedObject) {
        if !removed.remove(member) { added.append(member) }
    }

    func unlink(_ member: NSManagedObject) {
        if !added.remove(member) { removed.append(member) }
    }

    /// Makes the present members the saved ones. Members that were not read stay unread.
    func settle() {
        guard isChanged else { return }
        if let order {
            base = .keys(ContiguousArray(order.map { $0._state.key }))
        } else if case .keys(let keys) = base {
            let gone = Set(removed.objects.map { $0._state.key })
            base = .keys(keys.filter { !gone.contains($0) } + added.objects.map { $0._state.key })
        } else {
            base = .fault
        }
        revert()
    }

    /// Lets go of rows that a save or refresh may have made old: members made from them would have old values.
    ///
    /// Without pending changes the members are read again, in one statement; with them their keys are kept.
    func dropOldRows(_ time: Int, store: UInt16) {
        guard readAt != time, case .rows(let batches) = base else { return }
        guard isChanged else {
            base = .fault
            return
        }
        base = .keys(ContiguousArray(batches.flatMap { $0.keys(inStore: store) }))
    }

    /// Forgets all changes.
    func revert() {
        added.removeAll()
        removed.removeAll()
        order = nil
    }
}
