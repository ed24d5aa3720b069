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
        fileprivate var base: Base
        fileprivate var readAt = 0
        fileprivate var stamp = 0
        fileprivate var added = ObjectList()
        fileprivate var removed = ObjectList()
        fileprivate var order: ContiguousArray<NSManagedObject>?
        /// Objects that left but are still in `order`: the next look at it removes them together.
        fileprivate var leaving: Set<ObjectIdentifier>?
        /// The place in `order` where a member was last found.
        fileprivate var found = 0
        /// The members in `order`, made by the first question that needs a set.
        fileprivate var ordered: Set<ObjectIdentifier>?
        fileprivate var keys: Set<ObjectKey>?
        /// The keys saved last at the end of an ordered to-many that is not read.
        fileprivate var tail: ContiguousArray<ObjectKey> = []
        /// Whether additions and removals were compared with the members as read.
        fileprivate var isCompared = false
        /// Whether the object's row was read after the members and may be newer.
        fileprivate var mayPrecedeRow = false
        /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
        fileprivate var isUnseen = false
        /// How often the stored members were asked for a row.
        fileprivate var questions: UInt8 = 0
        fileprivate var orderQuestions: UInt8 = 0
        fileprivate var keysSeen = -1
    }

    /// How many members may go before the order of the others gets a list.
    static let unlisted = 4

    /// Behind a pointer for the same reason as a context's tracker: linking is part of every insertion.
    private let contents: UnsafeMutablePointer<Contents>

    /// A copy, for `restore`.
    var everything: Contents { contents.pointee }

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
    var readAt: Int { contents.pointee.readAt }
    /// Whether the object's row was read after the members and may be newer.
    var mayPrecedeRow: Bool { contents.pointee.mayPrecedeRow }
    /// Whether the rows were read for a delete rule, a write or a save, and the program has not asked for them since.
    var isUnseen: Bool { contents.pointee.isUnseen }
    /// How many of the coordinator's new keys a child had accepted when it last checked these keys; -1 if it never has.
    var keysSeen: Int { contents.pointee.keysSeen }
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

    /// Replaces them by what was read at a `rowTime` of the context.
    func setRead(_ base: Base, at time: Int) {
        self.base = base
        contents.pointee.readAt = time
    }

    /// Notes whether the object's row was read, or will be read, after the members and may be newer.
    func setMayPrecedeRow(_ mayPrecedeRow: Bool) { contents.pointee.mayPrecedeRow = mayPrecedeRow }

    /// Notes whether the rows were read for a delete rule, a write or a save, and not for the program.
    func setUnseen(_ isUnseen: Bool) { contents.pointee.isUnseen = isUnseen }

    /// Notes how many of the coordinator's new keys the child had accepted when it checked the stored ones.
    func setKeysSeen(_ count: Int) { contents.pointee.keysSeen = count }

    /// Puts back what `everything` was.
    func restore(_ former: Contents) { contents.pointee = former }

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

// MARK: Members as last read or saved

extension ToMany {
    /// How many times the stored members are searched before a set of their keys is made, which costs as much as 400
    /// searches.
    static let searches = 16

    /// The number of members as last read or saved; 0 for a fault.
    var baseCount: Int {
        switch base {
        case .fault: 0
        case .rows(let batches): batches.reduce(0) { $0 + $1.count }
        case .slices(let slices): slices.count
        case .keys(let keys): keys.count
        }
    }

    /// The keys of the stored members; empty if they were not read.
    func storedKeys(in store: UInt16) -> ContiguousArray<ObjectKey> {
        switch base {
        case .fault: []
        case .keys(let keys): keys
        case .rows(let batches): ContiguousArray(batches.flatMap { $0.keys(inStore: store) })
        case .slices(let slices): slices.keys(inStore: store)
        }
    }

    /// Whether a row was a member when the members were last read or saved. The first calls search all members, later
    /// ones use a set.
    func held(_ key: ObjectKey, store: UInt16) -> Bool {
        if let keys = contents.pointee.keys { return keys.contains(key) }
        if isFault { return false }
        guard contents.pointee.questions >= ToMany.searches else {
            contents.pointee.questions += 1
            return storedPlace(of: key, store: store) != nil
        }
        let keys = Set(storedKeys(in: store))
        contents.pointee.keys = keys
        return keys.contains(key)
    }

    /// Whether to ask the store for one member while the members are not read: many questions cost more than reading
    /// them.
    func mayAskForPair() -> Bool {
        contents.pointee.questions &+= 1
        return contents.pointee.questions <= ToMany.searches
    }

    /// The place of a row when the members were last read or saved. The search takes a few instructions a member.
    func storedPlace(of key: ObjectKey, store: UInt16) -> Int? {
        guard case .keys(let keys) = base else {
            return key.store == (key.number > 0 ? store : 0) ? placeOfRow(key) : nil
        }
        return keys.withUnsafeBufferPointer { keys in
            var place = 0
            while place < keys.count {
                if keys[place].isSame(as: key) { return place }
                place += 1
            }
            return nil
        }
    }

    private func placeOfRow(_ key: ObjectKey) -> Int? {
        switch base {
        case .fault, .keys: return nil
        case .slices(let slices): return slices.place(of: key.number, key.entity)
        case .rows(let batches):
            var before = 0
            for batch in batches {
                if let place = batch.place(of: key.number, key.entity) { return before + place }
                before += batch.count
            }
            return nil
        }
    }

    /// Forgets additions and removals that the members read since reflect already: another context has saved them.
    func compare(store: UInt16) {
        guard !contents.pointee.isCompared, !isFault else { return }
        contents.pointee.isCompared = true
        if !added.isEmpty { contents.pointee.added.removeAll { isStored($0, store) } }
        if !removed.isEmpty { contents.pointee.removed.removeAll { !isStored($0, store) } }
    }

    private func isStored(_ member: NSManagedObject, _ store: UInt16) -> Bool {
        member._state.has(.persistent) && held(member._state.key, store: store)
    }

    /// Whether an object is the last of the members as last read or saved.
    func isStoredLast(_ member: NSManagedObject, store: UInt16) -> Bool {
        let key = member._state.key
        switch base {
        case .fault: return contents.pointee.tail.last?.isSame(as: key) == true
        case .keys(let keys): return keys.last?.isSame(as: key) == true
        case .rows, .slices: return storedPlace(of: key, store: store) == baseCount - 1
        }
    }

    /// Drops rows that a save or refresh may have made old: members made from them would have old values.
    ///
    /// Without pending changes the members become a fault, which one statement reads; with them their keys are kept.
    func dropOldRows(_ time: Int, store: UInt16) {
        guard readAt != time else { return }
        switch base {
        case .fault, .keys: return
        case .rows, .slices: if isChanged { keepKeys(store: store) } else { becomeFault() }
        }
    }

    /// Replaces rows that were read by their keys.
    func keepKeys(store: UInt16) {
        switch base {
        case .fault, .keys: return
        case .rows(let batches): setStored(.keys(ContiguousArray(batches.flatMap { $0.keys(inStore: store) })))
        case .slices(let slices): setStored(.keys(slices.keys(inStore: store)))
        }
    }

    /// The rows of the members as slices, which can keep what is prefetched beyond them; nil if there are no rows.
    func asSlices() -> MemberSlices? {
        switch base {
        case .fault, .keys: return nil
        case .slices(let slices): return slices
        case .rows(let batches):
            let slices = MemberSlices(batches)
            setStored(.slices(slices))
            return slices
        }
    }

    /// Whether a key may be that of an object that was unsaved or had no store when the members were read. The rows of
    /// a chunk are all saved or all unsaved.
    func mayHaveFormerKeys(store: UInt16) -> Bool {
        func isUnsaved(_ chunk: RowChunk) -> Bool { chunk.count > 0 && chunk.row(0).key(chunk.layout) <= 0 }
        return switch base {
        case .fault: false
        case .keys(let keys): keys.contains { $0.number <= 0 || $0.store == 0 }
        case .rows(let batches): store == 0 || batches.contains { $0.chunks.contains(where: isUnsaved) }
        case .slices(let slices): store == 0 || slices.table.chunks.contains(where: isUnsaved)
        }
    }
}

// MARK: Order

extension ToMany {
    /// The present members in order, once members of an ordered relationship have moved or gone; nil before.
    var order: ContiguousArray<NSManagedObject>? {
        _read {
            closeGaps()
            yield contents.pointee.order
        }
    }

    /// Gives the members an order of their own, or with nil none: then they are in stored order, followed by the added
    /// ones.
    func setOrder(_ order: ContiguousArray<NSManagedObject>?) {
        contents.pointee.leaving = nil
        contents.pointee.stamp &+= 1
        contents.pointee.ordered = nil
        contents.pointee.order = order
    }

    func dropOrder() { setOrder(nil) }

    /// Whether there is an `order`.
    var hasOrder: Bool { contents.pointee.order != nil }

    /// Whether an object is in the order, which must exist. The first calls search it, later ones use a set.
    func isOrdered(_ member: NSManagedObject) -> Bool {
        if let ordered = contents.pointee.ordered { return ordered.contains(ObjectIdentifier(member)) }
        guard contents.pointee.orderQuestions >= ToMany.searches else {
            contents.pointee.orderQuestions += 1
            return place(of: member) != nil
        }
        contents.pointee.ordered = order.map { Set($0.map(ObjectIdentifier.init)) }
        return contents.pointee.ordered?.contains(ObjectIdentifier(member)) ?? false
    }

    /// Appends a new member to the order, which must exist.
    func appendToOrder(_ member: NSManagedObject) {
        if contents.pointee.leaving?.contains(ObjectIdentifier(member)) == true { closeGaps() }
        contents.pointee.order?.append(member)
        contents.pointee.ordered?.insert(ObjectIdentifier(member))
    }

    /// Removes an object from the order, which must exist. Several removals in a row cost one pass over it.
    func removeFromOrder(_ member: NSManagedObject) {
        if contents.pointee.leaving == nil { contents.pointee.leaving = [] }
        contents.pointee.leaving?.insert(ObjectIdentifier(member))
        contents.pointee.ordered?.remove(ObjectIdentifier(member))
    }

    /// Removes the objects that pass a test from the order, if there is one.
    func removeFromOrder(where isLeaving: (NSManagedObject) -> Bool) {
        if let order { setOrder(order.filter { !isLeaving($0) }) }
    }

    private func closeGaps() {
        guard let leaving = contents.pointee.leaving else { return }
        contents.pointee.leaving = nil
        if leaving.count > 1 {
            contents.pointee.order?.removeAll { leaving.contains(ObjectIdentifier($0)) }
        } else if let member = leaving.first, let place = search(member) {
            contents.pointee.order?.remove(at: place)
        }
    }

    /// The place of an object in the order, which must exist. Near either end, or near the last place found, the search
    /// is short.
    func place(of member: NSManagedObject) -> Int? {
        closeGaps()
        return search(ObjectIdentifier(member))
    }

    private func search(_ member: ObjectIdentifier) -> Int? {
        guard let order = contents.pointee.order else { return nil }
        let place = order.place(of: member, near: contents.pointee.found)
        if let place { contents.pointee.found = place }
        return place
    }

    /// Moves a member within the order, which must exist.
    func move(from present: Int, to place: Int) {
        contents.pointee.stamp &+= 1
        guard let member = contents.pointee.order?.remove(at: present), let last = contents.pointee.order?.count else {
            return
        }
        contents.pointee.order?.insert(member, at: min(place, last))
        contents.pointee.found = place
    }
}
