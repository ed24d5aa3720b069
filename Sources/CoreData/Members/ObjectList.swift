// A list of distinct objects with a fast search.

/// Distinct objects in the order they came. The cost of searching and adding does not grow with the list, nor does that
/// of removing if the others need not stay in order.
struct ObjectList {
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// Made by the first search of a list that is too long to walk.
    private var places: [ObjectIdentifier: Int]?
    /// How many objects were removed from the middle of a long list that kept its order.
    private(set) var gaps = 0

    private static let walked = 8

    var isEmpty: Bool { objects.isEmpty }
    var count: Int { objects.count }

    private mutating func place(of object: NSManagedObject) -> Int? {
        if places == nil, objects.count > ObjectList.walked { index() }
        if let places { return places[ObjectIdentifier(object)] }
        return objects.firstIndex { $0 === object }
    }

    mutating func contains(_ object: NSManagedObject) -> Bool { place(of: object) != nil }

    /// Adds an object that is not in the list.
    mutating func append(_ object: NSManagedObject) {
        places?[ObjectIdentifier(object)] = objects.count
        objects.append(object)
    }

    private mutating func index() {
        var places: [ObjectIdentifier: Int] = [:]
        places.reserveCapacity(objects.count * 2)
        for (place, object) in objects.enumerated() { places[ObjectIdentifier(object)] = place }
        self.places = places
    }

    /// Removes an object and answers whether it was there.
    ///
    /// - Parameter keepsOrder: whether the others stay in order, which costs a pass over a long list.
    mutating func remove(_ object: NSManagedObject, keepsOrder: Bool) -> Bool {
        guard let place = place(of: object) else { return false }
        if places == nil || keepsOrder && place < objects.count - 1 {
            objects.remove(at: place)
            if places != nil { gaps += 1 }
            places = nil
            return true
        }
        places?[ObjectIdentifier(object)] = nil
        let last = objects.removeLast()
        if last !== object {
            objects[place] = last
            places?[ObjectIdentifier(last)] = place
        }
        return true
    }

    /// Removes the objects that pass a test; the others stay in order.
    mutating func removeAll(where isGone: (NSManagedObject) -> Bool) {
        guard objects.contains(where: isGone) else { return }
        objects.removeAll(where: isGone)
        places = nil
    }

    mutating func removeAll() {
        objects = []
        places = nil
        gaps = 0
    }
}

extension ContiguousArray<NSManagedObject> {
    /// Calls a closure with each object without retaining it, since the array keeps it alive: a save walks its objects
    /// eight times (38 instructions a step).
    @inline(__always)
    func borrowEach(_ body: (NSManagedObject) throws -> Void) rethrows {
        try withUnsafeBytes { bytes in
            let pointers = bytes.bindMemory(to: Unmanaged<NSManagedObject>.self)
            for index in pointers.indices { try pointers[index]._withUnsafeGuaranteedRef(body) }
        }
    }
}

extension ContiguousArray<NSManagedObject> {
    /// Appends one of `count` objects. Mostly all of them or none go into the list, so its memory is reserved at once.
    @inline(__always)
    mutating func append(_ object: NSManagedObject, of count: Int) {
        if isEmpty { reserveCapacity(count) }
        append(object)
    }
}

/// A set of objects, with twice the room it needs: a collision costs a call of `isEqual`.
func objectSet(_ objects: ContiguousArray<NSManagedObject>) -> Set<NSManagedObject> {
    // One object collides with none, and a literal needs no lookup of the set's type at run time.
    if objects.count == 1 { return [objects[0]] }
    var set = Set<NSManagedObject>(minimumCapacity: 2 * objects.count)
    for object in objects { set.insert(object) }
    return set
}

func objectSet(_ objects: [NSManagedObject]) -> Set<NSManagedObject> {
    var set = Set<NSManagedObject>(minimumCapacity: 2 * objects.count)
    for object in objects { set.insert(object) }
    return set
}
