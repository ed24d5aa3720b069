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
        /// How often it was asked whether a row is among the members as read.
        var questions: UInt8 = 0
        var orderQuestions: UInt8 = 0
        var keysSeen = -1
    }

    /// So many times the members as read are searched, before a set of their keys is made, which costs as much as 400 searches.
    private static let searches = 16

    /// So many members can have gone before an order of those that are left is made.
    static let unlisted = 4

    /// Behind a pointer for the same reason as a context's tracker: linking is part of every insertion.
    private let contents: UnsafeMutablePointer<Contents>

    var everything: Contents {
        get { contents.pointee }
        set { contents.pointee = newValue }
    }

    var base: Base {
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
    /// The present members in order, once members of an ordered relationship have moved or gone.
    var order: ContiguousArray<NSManagedObject>? {
        _read {
            closeGaps()
            yield contents.pointee.order
        }
        _modify {
            closeGaps()
            contents.pointee.stamp &+= 1
            contents.pointee.ordered = nil
            yield &contents.pointee.order
        }
    }

    init(base: Base) {
        contents = .allocate(capacity: 1)
        contents.initialize(to: Contents(base: base))
    }

    deinit {
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    var isFault: Bool { if case .fault = base { true } else { false } }

    /// How many members there were when they were last read or saved; 0 for a fault.
    var baseCount: Int {
        switch base {
        case .fault: 0
        case .rows(let batches): batches.reduce(0) { $0 + $1.count }
        case .slices(let slices): slices.count
        case .keys(let keys): keys.count
        }
    }

    /// Whether there is an `order`.
    var hasOrder: Bool { contents.pointee.order != nil }
    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || hasOrder }

    func hasAdded(_ member: NSManagedObject) -> Bool { !added.isEmpty && added.contains(member) }
    func hasRemoved(_ member: NSManagedObject) -> Bool { !removed.isEmpty && removed.contains(member) }

    /// Whether an object is the last that came.
    func isLastAdded(_ member: NSManagedObject) -> Bool { added.objects.last === member }

    /// Whether a row was a member when the members were last read or saved. The first questions search all members, further ones
    /// are quick.
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

    /// Where a row stood when the members were last read or saved: a search of a few instructions a member.
    func storedPlace(of key: ObjectKey, store: UInt16) -> Int? {
        guard case .keys(let keys) = base else { return key.store == (key.number > 0 ? store : 0) ? placeOfRow(key) : nil }
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

    /// Forgets what was added or removed here and is so in the members that were read afterwards: another context has saved it.
    func compare(store: UInt16) {
        guard !contents.pointee.isCompared, !isFault else { return }
        contents.pointee.isCompared = true
        for member in added.objects where isStored(member, store) { _ = added.remove(member) }
        for member in removed.objects where !isStored(member, store) { _ = removed.remove(member) }
    }

    private func isStored(_ member: NSManagedObject, _ store: UInt16) -> Bool {
        member._state.has(.persistent) && held(member._state.key, store: store)
    }

    /// Whether an object stands in the order, which is there. The first questions search it, further ones are quick.
    func isOrdered(_ member: NSManagedObject) -> Bool {
        if let ordered = contents.pointee.ordered { return ordered.contains(ObjectIdentifier(member)) }
        guard contents.pointee.orderQuestions >= ToMany.searches else {
            contents.pointee.orderQuestions += 1
            return place(of: member) != nil
        }
        contents.pointee.ordered = order.map { Set($0.map(ObjectIdentifier.init)) }
        return contents.pointee.ordered?.contains(ObjectIdentifier(member)) ?? false
    }

    /// Puts an object that is no member at the end of the order, which is there.
    func appendToOrder(_ member: NSManagedObject) {
        if contents.pointee.leaving?.contains(ObjectIdentifier(member)) == true { closeGaps() }
        contents.pointee.order?.append(member)
        contents.pointee.ordered?.insert(ObjectIdentifier(member))
    }

    /// Takes an object out of the order, which is there: many, one after the other, cost one pass over it.
    func removeFromOrder(_ member: NSManagedObject) {
        if contents.pointee.leaving == nil { contents.pointee.leaving = [] }
        contents.pointee.leaving?.insert(ObjectIdentifier(member))
        contents.pointee.ordered?.remove(ObjectIdentifier(member))
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

    /// Where an object stands in the order, which is there. At either end, or near to the last one asked for, it is found at once.
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

    /// Moves a member in the order, which is there.
    func move(from present: Int, to place: Int) {
        contents.pointee.stamp &+= 1
        guard let member = contents.pointee.order?.remove(at: present), let last = contents.pointee.order?.count else { return }
        contents.pointee.order?.insert(member, at: min(place, last))
        contents.pointee.found = place
    }

    /// Takes an object in that is no member, or a removed one back.
    func link(_ member: NSManagedObject) {
        contents.pointee.stamp &+= 1
        if removed.isEmpty || !removed.remove(member) { added.append(member) }
    }

    func unlink(_ member: NSManagedObject) {
        contents.pointee.stamp &+= 1
        if added.isEmpty || !added.remove(member) { removed.append(member) }
    }

    /// Makes the present members the saved ones. Members that were not read stay unread; of ordered ones the last are known then.
    func settle(isOrdered: Bool) {
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

    /// Whether an object is the last of the members as last read or saved.
    func isStoredLast(_ member: NSManagedObject, store: UInt16) -> Bool {
        let key = member._state.key
        switch base {
        case .fault: return contents.pointee.tail.last?.isSame(as: key) == true
        case .keys(let keys): return keys.last?.isSame(as: key) == true
        case .rows, .slices: return storedPlace(of: key, store: store) == baseCount - 1
        }
    }

    /// Lets go of rows that a save or refresh may have made old: members made from them would have old values.
    ///
    /// Without pending changes the members are read again, in one statement; with them their keys are kept.
    func dropOldRows(_ time: Int, store: UInt16) {
        guard readAt != time else { return }
        switch base {
        case .fault, .keys: return
        case .rows, .slices: if isChanged { keepKeys(store: store) } else { base = .fault }
        }
    }

    /// Keeps of rows that were read the keys only.
    func keepKeys(store: UInt16) {
        switch base {
        case .fault, .keys: return
        case .rows(let batches): base = .keys(ContiguousArray(batches.flatMap { $0.keys(inStore: store) }))
        case .slices(let slices): base = .keys(slices.keys(inStore: store))
        }
    }

    /// The rows of the members as a list that can say more of them; nil when there are no rows.
    func asSlices() -> MemberSlices? {
        switch base {
        case .fault, .keys: return nil
        case .slices(let slices): return slices
        case .rows(let batches):
            let slices = MemberSlices(batches)
            base = .slices(slices)
            return slices
        }
    }

    /// Forgets all changes.
    func revert() {
        added.removeAll()
        removed.removeAll()
        order = nil
    }
}

extension ContiguousArray<NSManagedObject> {
    /// The keys of objects, 12 instructions each.
    var keys: ContiguousArray<ObjectKey> {
        // Without room the count would be written to the one empty array that all share.
        guard !isEmpty else { return [] }
        return ContiguousArray<ObjectKey>(unsafeUninitializedCapacity: count) { keys, made in
            borrowEach { object in
                keys.initializeElement(at: made, to: object._state.key)
                made += 1
            }
        }
    }

    /// Where an object stands. At either end, or near to a place, it is found at once.
    fileprivate func place(of member: ObjectIdentifier, near: Int) -> Int? {
        withUnsafeBytes { bytes in
            let objects = bytes.bindMemory(to: ObjectIdentifier.self)
            let last = objects.count - 1
            for distance in 0..<(objects.count + 1) / 2 {
                if objects[distance] == member { return distance }
                if objects[last - distance] == member { return last - distance }
                let (behind, before) = (near + distance, near - distance)
                if behind <= last, behind >= 0, objects[behind] == member { return behind }
                if before >= 0, before <= last, objects[before] == member { return before }
            }
            return nil
        }
    }
}

extension ObjectKey {
    /// What `==` answers, in 6 instructions: that one is a call.
    @inline(__always)
    func isSame(as other: ObjectKey) -> Bool {
        number == other.number && entity.rawValue == other.entity.rawValue && store == other.store
    }
}

extension ContiguousArray<ObjectKey> {
    /// Takes some keys out, in one pass.
    mutating func remove(_ gone: Self) {
        if gone.count == 1 {
            if let place = firstIndex(where: gone[0].isSame) { remove(at: place) }
        } else {
            let gone = Set(gone)
            removeAll(where: gone.contains)
        }
    }
}
