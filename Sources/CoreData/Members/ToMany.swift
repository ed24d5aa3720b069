// The members of one to-many relationship of one object.

import CoreDataValues

/// What the store has, and what changed since. A clean to-many holds rows or keys, never objects, so it forms no cycle.
final class ToMany {
    /// What is known of the members as last read or saved.
    enum Base {
        case fault
        /// As read: the rows stay with it, so that members can be made again without another read.
        case rows([RowBatch])
        /// As read for many owners at once.
        case slices(MemberSlices)
        /// As saved.
        case keys(ContiguousArray<ObjectKey>)
    }

    /// All that the object holds; a copy of it can be put back.
    struct Contents {
        var base: Base
        var readAt = 0
        var stamp = 0
        var added = ObjectList()
        var removed = ObjectList()
        var order: ContiguousArray<NSManagedObject>?
        /// What has left and still stands in `order`: taken out together by the next look at it.
        var leaving: Set<ObjectIdentifier>?
        /// Where in `order` a member was last found.
        var found = 0
        /// The members in `order`, made by the first question that needs it.
        var ordered: Set<ObjectIdentifier>?
        var keys: Set<ObjectKey>?
        /// What was saved as the last members, while the members are not read.
        var tail: ContiguousArray<ObjectKey> = []
        /// Whether what is added and removed was compared with the members as read.
        var isCompared = false
        /// Whether the object's row was read after the members: it may be newer than they.
        var mayPrecedeRow = false
        /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
        var isUnseen = false
        /// How often it was asked whether a row is among the members as read.
        var questions: UInt8 = 0
        var orderQuestions: UInt8 = 0
        var keysSeen = -1
    }

    /// So many members can have gone before an order of those that are left is made.
    static let unlisted = 4

    /// Behind a pointer for the same reason as a context's tracker: linking is part of every insertion.
    let contents: UnsafeMutablePointer<Contents>

    var everything: Contents {
        get { contents.pointee }
        set { contents.pointee = newValue }
    }

    private(set) var base: Base {
        get { contents.pointee.base }
        set {
            contents.pointee.base = newValue
            contents.pointee.keys = nil
            if !contents.pointee.tail.isEmpty { contents.pointee.tail = [] }
            contents.pointee.isCompared = false
            contents.pointee.questions = 0
            contents.pointee.keysSeen = -1
            contents.pointee.stamp &+= 1
        }
    }
    /// Another number after each change of the members.
    var stamp: Int { contents.pointee.stamp }
    /// The context's `rowTime` when rows were read: later ones may have taken their place since.
    var readAt: Int {
        get { contents.pointee.readAt }
        set { contents.pointee.readAt = newValue }
    }
    /// Whether the object's row may be newer than what is known of the members: it was not there when they were read.
    var mayPrecedeRow: Bool {
        get { contents.pointee.mayPrecedeRow }
        set { contents.pointee.mayPrecedeRow = newValue }
    }
    /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
    var isUnseen: Bool {
        get { contents.pointee.isUnseen }
        set { contents.pointee.isUnseen = newValue }
    }
    /// How many of the coordinator's new keys a child had taken over when it looked through the keys; -1 when it has not.
    var keysSeen: Int {
        get { contents.pointee.keysSeen }
        set { contents.pointee.keysSeen = newValue }
    }
    private(set) var added: ObjectList {
        _read { yield contents.pointee.added }
        _modify { yield &contents.pointee.added }
    }
    private(set) var removed: ObjectList {
        _read { yield contents.pointee.removed }
        _modify { yield &contents.pointee.removed }
    }

    init(base: Base) {
        contents = .allocate(capacity: 1)
        contents.initialize(to: Contents(base: base))
    }

    deinit {
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    /// Makes something else what is known of the members as last read or saved.
    func setStored(_ base: Base) { self.base = base }

    /// Lets go of what is known of the stored members: the next look at them reads them.
    func becomeFault() { base = .fault }

    var isFault: Bool { if case .fault = base { true } else { false } }

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || hasOrder }

    func hasAdded(_ member: NSManagedObject) -> Bool { !added.isEmpty && added.contains(member) }
    func hasRemoved(_ member: NSManagedObject) -> Bool { !removed.isEmpty && removed.contains(member) }

    /// Whether an object is the last that came.
    func isLastAdded(_ member: NSManagedObject) -> Bool { added.objects.last === member }

    /// Takes an object in that is no member, or a removed one back.
    func link(_ member: NSManagedObject) {
        contents.pointee.stamp &+= 1
        if removed.isEmpty || !removed.remove(member, keepsOrder: false) { added.append(member) }
    }

    /// - Parameter isOrdered: Whether the relationship is. What was added stands in order then, unless there is an order that says more.
    func unlink(_ member: NSManagedObject, isOrdered: Bool) {
        contents.pointee.stamp &+= 1
        if added.isEmpty || !added.remove(member, keepsOrder: isOrdered && !hasOrder) { removed.append(member) }
    }

    /// Makes the present members the saved ones. Members that were not read stay unread; of ordered ones the last are known then.
    func acceptChanges(isOrdered: Bool) {
        if let order {
            base = .keys(order.keys)
        } else if case .keys(var keys) = base {
            // Nothing else holds the keys then, so that they are not copied.
            base = .fault
            if !removed.isEmpty { keys.remove(removed.objects.keys) }
            keys += added.objects.keys
            base = .keys(keys)
        } else {
            var tail = isOrdered ? contents.pointee.tail : []
            if !removed.isEmpty, !tail.isEmpty { tail.remove(removed.objects.keys) }
            if isOrdered { tail += added.objects.keys }
            base = .fault
            contents.pointee.tail = tail
        }
        revert()
    }

    /// Forgets all changes.
    func revert() {
        added.removeAll()
        removed.removeAll()
        dropOrder()
    }
}
