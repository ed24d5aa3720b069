// The order of an ordered to-many after members have moved or gone.

import CoreDataValues

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

extension ContiguousArray<NSManagedObject> {
    /// The keys of objects, 12 instructions each.
    var keys: ContiguousArray<ObjectKey> {
        // Without this the count would be written to the empty array that all share.
        guard !isEmpty else { return [] }
        return ContiguousArray<ObjectKey>(unsafeUninitializedCapacity: count) { keys, made in
            borrowEach { object in
                keys.initializeElement(at: made, to: object._state.key)
                made += 1
            }
        }
    }

    /// The place of an object. Near either end, or near a given place, the search is short.
    func place(of member: ObjectIdentifier, near: Int) -> Int? {
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
