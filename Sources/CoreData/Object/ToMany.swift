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
        /// Whether what is added and removed was compared with the members as read.
        var isCompared = false
        var keysSeen = -1
    }

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
            contents.pointee.isCompared = false
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

    /// Whether a row was a member when the members were last read or saved. The first question costs a look at all of
    /// them, further ones are quick.
    func held(_ key: ObjectKey, store: UInt16) -> Bool {
        if contents.pointee.keys == nil {
            switch base {
            case .fault: return false
            case .rows(let batches): contents.pointee.keys = Set(batches.flatMap { $0.keys(inStore: store) })
            case .slices(let slices): contents.pointee.keys = Set(slices.keys(inStore: store))
            case .keys(let keys): contents.pointee.keys = Set(keys)
            }
        }
        return contents.pointee.keys?.contains(key) ?? false
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

    /// Whether an object stands in the order, which is there. The first question costs a look at all, further ones are quick.
    func isOrdered(_ member: NSManagedObject) -> Bool {
        if contents.pointee.ordered == nil { contents.pointee.ordered = order.map { Set($0.map(ObjectIdentifier.init)) } }
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
        let (near, last) = (contents.pointee.found, order.count - 1)
        func stands(at place: Int) -> Bool { place >= 0 && place <= last && ObjectIdentifier(order[place]) == member }
        for distance in 0..<(order.count + 1) / 2 {
            let place =
                if stands(at: distance) { distance } else if stands(at: last - distance) { last - distance }
                else if stands(at: near + distance) { near + distance } else { near - distance }
            guard stands(at: place) else { continue }
            contents.pointee.found = place
            return place
        }
        return nil
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
