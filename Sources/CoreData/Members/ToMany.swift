// The members of one to-many relationship of one object.

import CoreDataValues

/// The stored members and what changed since. A clean to-many holds rows or keys, never objects, so that it forms no
/// cycle (I-4).
final class ToMany {
    /// The members as last read or saved.
    enum Base {
        case fault
        /// As read. The rows are kept, so that members can be made again without another read.
        case rows([RowBatch])
        /// As read for many owners at once.
        case slices(MemberSlices)
        /// As saved.
        case keys(ContiguousArray<ObjectKey>)
    }

    /// Everything that the object holds, as a value that can be saved and put back.
    struct Contents {
        var base: Base
        var readAt = 0
        var stamp = 0
        var added = ObjectList()
        var removed = ObjectList()
        var order: ContiguousArray<NSManagedObject>?
        /// Objects that left but are still in `order`: the next look at it removes them together.
        var leaving: Set<ObjectIdentifier>?
        /// The place in `order` where a member was last found.
        var found = 0
        /// The members in `order`, made by the first question that needs a set.
        var ordered: Set<ObjectIdentifier>?
        var keys: Set<ObjectKey>?
        /// The keys saved last at the end of an ordered to-many that is not read.
        var tail: ContiguousArray<ObjectKey> = []
        /// Whether additions and removals were compared with the members as read.
        var isCompared = false
        /// Whether the object's row was read after the members and may be newer.
        var mayPrecedeRow = false
        /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
        var isUnseen = false
        /// How often the stored members were asked for a row.
        var questions: UInt8 = 0
        var orderQuestions: UInt8 = 0
        var keysSeen = -1
    }

    /// How many members may go before the order of the others gets a list.
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
    /// Increases with each change of the members.
    var stamp: Int { contents.pointee.stamp }
    /// The context's `rowTime` when the rows were read; rows may have been read again since.
    var readAt: Int {
        get { contents.pointee.readAt }
        set { contents.pointee.readAt = newValue }
    }
    /// Whether the object's row was read after the members and may be newer.
    var mayPrecedeRow: Bool {
        get { contents.pointee.mayPrecedeRow }
        set { contents.pointee.mayPrecedeRow = newValue }
    }
    /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
    var isUnseen: Bool {
        get { contents.pointee.isUnseen }
        set { contents.pointee.isUnseen = newValue }
    }
    /// How many of the coordinator's new keys a child had accepted when it last checked these keys; -1 if it never has.
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

    /// Replaces the members as last read or saved.
    func setStored(_ base: Base) { self.base = base }

    /// Forgets the stored members; the next look at them reads them.
    func becomeFault() { base = .fault }

    var isFault: Bool { if case .fault = base { true } else { false } }

    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || hasOrder }

    func hasAdded(_ member: NSManagedObject) -> Bool { !added.isEmpty && added.contains(member) }
    func hasRemoved(_ member: NSManagedObject) -> Bool { !removed.isEmpty && removed.contains(member) }

    /// Whether an object was added last.
    func isLastAdded(_ member: NSManagedObject) -> Bool { added.objects.last === member }

    /// Adds an object that is not a member, or takes a removal back.
    func link(_ member: NSManagedObject) {
        contents.pointee.stamp &+= 1
        if removed.isEmpty || !removed.remove(member, keepsOrder: false) { added.append(member) }
    }

    /// - Parameter isOrdered: whether the relationship is. Then the added members stay in order, unless `order` has
    ///   them.
    func unlink(_ member: NSManagedObject, isOrdered: Bool) {
        contents.pointee.stamp &+= 1
        if added.isEmpty || !added.remove(member, keepsOrder: isOrdered && !hasOrder) { removed.append(member) }
    }

    /// Makes the present members the saved ones. Members that were not read stay a fault; of an ordered to-many the
    /// last ones are known.
    func acceptChanges(isOrdered: Bool) {
        if let order {
            base = .keys(order.keys)
        } else if case .keys(var keys) = base {
            // Without the other reference the keys are changed in place and not copied.
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
