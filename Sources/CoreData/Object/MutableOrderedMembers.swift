// `mutableOrderedSetValue(forKey:)`: an ordered to-many as an ordered set that writes into the relationship.

import CoreDataValues
import Foundation

extension NSManagedObject {
    final func mutableOrderedSet(_ key: String) -> NSMutableOrderedSet {
        guard case .toMany(let index) = requirePlace(key), relationship(toMany: index).isOrdered else {
            misuse(
                "\(entity.name ?? "").\(key) is no ordered to-many relationship; mutableOrderedSetValue(forKey:) needs one.")
        }
        return _mutableOrderedSet(index)
    }

    /// For generated classes: the live ordered set of an ordered to-many.
    public final func _mutableOrderedSet(_ index: Int) -> NSMutableOrderedSet {
        let made = MutableOrderedMembers(of: self, index)
        made.follow()
        return made
    }

    /// For generated classes: the members of an ordered to-many.
    public final func _orderedSet(_ index: Int) -> NSOrderedSet {
        checkQueue()
        return NSOrderedSet(array: members(at: index))
    }

    /// Puts members into an ordered to-many, the first at a place. Objects that are members stay where they are.
    public final func _insert(_ objects: some Sequence<NSManagedObject>, toMany index: Int, at place: Int) {
        checkQueue()
        var new: ContiguousArray<NSManagedObject> = []
        for object in objects { if isMember(object, at: index) { addMember(index, object) } else { new.append(object) } }
        if new.count == 1 { return insertMember(index, new[0], at: place) }
        var order = ContiguousArray(members(at: index))
        order.insert(contentsOf: new, at: min(place, order.count))
        setMembers(index, order)
    }

    /// Takes the member at a place out of an ordered to-many.
    public final func _remove(at place: Int, toMany index: Int) {
        checkQueue()
        removeMember(index, toManyState(index)?.order?[place] ?? members(at: index)[place])
    }

    /// Puts another member in the place of one.
    public final func _replace(at place: Int, toMany index: Int, with object: NSManagedObject) {
        checkQueue()
        var members = ContiguousArray(members(at: index))
        members[place] = object
        setMembers(index, members)
    }

    fileprivate final func insertMember(_ index: Int, _ object: NSManagedObject, at place: Int) {
        addMember(index, object)
        if place < countOfMembers(at: index) - 1 { move(object, toMany: index, to: place) }
    }
}

/// The members of an ordered to-many.
///
/// Foundation on Linux reads the superclass's own list in places that cannot be overridden (a `for` loop, `array`), so this
/// keeps that list in step: each call compares a stamp with the relationship's and copies the members if something else
/// changed them. A `for` loop shows the members as the last other call found them.
final class MutableOrderedMembers: NSMutableOrderedSet {
    private let owner: NSManagedObject
    private let index: Int
    private var known: ToMany?
    private var stamp = 0
    /// While set, calls concern the superclass's list only.
    private var isCopying = false

    init(of owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
    }

    required init?(coder: NSCoder) { return nil }

    required convenience init(arrayLiteral elements: Any...) {
        misuse("An ordered set of a relationship comes from mutableOrderedSetValue(forKey:) alone.")
    }

    private var members: [NSManagedObject] { owner.members(at: index) }

    /// Makes the list what the relationship is.
    func follow() {
        guard !isCopying else { return }
        owner.checkQueue()
        if let known, known === owner.toManyState(index), known.stamp == stamp { return }
        let members = members
        copying {
            for place in (0..<super.count).reversed() { super.removeObject(at: place) }
            for (place, member) in members.enumerated() { super.insert(member, at: place) }
        }
    }

    private func copying(_ body: () -> Void) {
        isCopying = true
        body()
        isCopying = false
        known = owner.makeToManyState(index)
        stamp = known?.stamp ?? 0
    }

    private func replace(with members: [NSManagedObject]) {
        owner.setMembers(index, ContiguousArray(members))
        follow()
    }

    private func accepted(_ objects: some Sequence<Any>) -> [NSManagedObject] {
        objects.map { owner.member($0, index) }
    }

    // MARK: Asking

    override var count: Int {
        follow()
        return super.count
    }

    override func object(at place: Int) -> Any {
        follow()
        return super.object(at: place)
    }

    override func index(of object: Any) -> Int {
        guard !isCopying else { return super.index(of: object) }
        guard let object = object as? NSManagedObject else { return NSNotFound }
        return members.firstIndex { $0 === object } ?? NSNotFound
    }

    override func contains(_ object: Any) -> Bool {
        guard !isCopying else { return super.contains(object) }
        guard let object = object as? NSManagedObject else { return false }
        return owner.isMember(object, at: index)
    }

    // MARK: Writing one member

    override func insert(_ object: Any, at place: Int) {
        guard !isCopying else { return super.insert(object, at: place) }
        let member = owner.member(object, index)
        guard !owner.isMember(member, at: index) else { return owner.addMember(index, member) }
        follow()
        guard place >= 0, place <= super.count else {
            misuse("An object was inserted at \(place) into an ordered set of \(super.count).")
        }
        owner.insertMember(index, member, at: place)
        copying { super.insert(member, at: place) }
    }

    override func removeObject(at place: Int) {
        guard !isCopying else { return super.removeObject(at: place) }
        follow()
        guard place >= 0, place < super.count else {
            misuse("The object at \(place) was removed from an ordered set of \(super.count).")
        }
        owner.removeMember(index, owner.member(super.object(at: place), index))
        copying { super.removeObject(at: place) }
    }

    override func replaceObject(at place: Int, with object: Any) {
        guard !isCopying else { return super.replaceObject(at: place, with: object) }
        var new = members
        guard new.indices.contains(place) else {
            misuse("The object at \(place) was replaced in an ordered set of \(new.count).")
        }
        let member = owner.member(object, index)
        guard new[place] === member || !new.contains(where: { $0 === member }) else { return }
        new[place] = member
        replace(with: new)
    }

    override func setObject(_ object: Any, at place: Int) {
        if place == count { insert(object, at: place) } else { replaceObject(at: place, with: object) }
    }

    override func add(_ object: Any) { insert(object, at: count) }

    override func remove(_ object: Any) {
        let place = index(of: object)
        if place != NSNotFound { return removeObject(at: place) }
        // Its own side may say that it is one.
        if let member = object as? NSManagedObject, owner.mayHold(member, at: index) { owner.removeMember(index, member) }
    }

    // MARK: Writing several

    override func addObjects(from array: [Any]) { replace(with: members + accepted(array)) }

    override func insert(_ objects: [Any], at indexes: IndexSet) {
        var new = members
        let known = Set(new)
        for (object, place) in zip(accepted(objects), indexes) where !known.contains(object) {
            new.insert(object, at: Swift.min(place, new.count))
        }
        replace(with: new)
    }

    override func exchangeObject(at place: Int, withObjectAt other: Int) {
        var new = members
        new.swapAt(place, other)
        replace(with: new)
    }

    override func moveObjects(at indexes: IndexSet, to place: Int) {
        var new = members
        let moved = indexes.map { new[$0] }
        for place in indexes.reversed() { new.remove(at: place) }
        new.insert(contentsOf: moved, at: Swift.min(place, new.count))
        replace(with: new)
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        var new = members
        for (object, place) in zip(accepted(objects), indexes) { new[place] = object }
        replace(with: new)
    }

    override func removeObjects(at indexes: IndexSet) {
        var new = members
        for place in indexes.reversed() { new.remove(at: place) }
        replace(with: new)
    }

    override func removeObjects(in array: [Any]) { remove(Set(array.compactMap { $0 as? NSManagedObject })) }
    override func removeObjects(in range: NSRange) {
        removeObjects(at: IndexSet(integersIn: range.location..<range.location + range.length))
    }
    override func removeAllObjects() { replace(with: []) }

    // MARK: Sets

    private func remove(_ gone: Set<NSManagedObject>) { replace(with: members.filter { !gone.contains($0) }) }
    private func keep(_ kept: Set<NSManagedObject>) { replace(with: members.filter { kept.contains($0) }) }
    private static func objects(_ set: Set<AnyHashable>) -> Set<NSManagedObject> {
        Set(set.compactMap { $0.base as? NSManagedObject })
    }
    private static func objects(_ set: NSOrderedSet) -> Set<NSManagedObject> {
        Set(set.array.compactMap { $0 as? NSManagedObject })
    }

    override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
    override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }
    override func minus(_ other: NSOrderedSet) { remove(Self.objects(other)) }
    override func minusSet(_ other: Set<AnyHashable>) { remove(Self.objects(other)) }
    override func intersect(_ other: NSOrderedSet) { keep(Self.objects(other)) }
    override func intersectSet(_ other: Set<AnyHashable>) { keep(Self.objects(other)) }

    // MARK: Order

    override func sort(comparator: (Any, Any) -> ComparisonResult) {
        replace(with: sorted(members, comparator))
    }

    override func sort(options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
        replace(with: sorted(members, comparator))
    }

    override func sortRange(
        _ range: NSRange, options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult
    ) {
        var new = members
        let places = range.location..<range.location + range.length
        new.replaceSubrange(places, with: sorted(Array(new[places]), comparator))
        replace(with: new)
    }

    override func sort(using descriptors: [NSSortDescriptor]) {
        replace(
            with: sorted(members) { a, b in
                for descriptor in descriptors {
                    let result = descriptor.compare(a, to: b)
                    if result != .orderedSame { return result }
                }
                return .orderedSame
            })
    }

    private func sorted(
        _ objects: [NSManagedObject], _ comparator: (Any, Any) -> ComparisonResult
    ) -> [NSManagedObject] {
        objects.enumerated().sorted { a, b in
            let result = comparator(a.element, b.element)
            return result == .orderedSame ? a.offset < b.offset : result == .orderedAscending
        }.map(\.element)
    }

    // MARK: Copies and texts

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
    override var description: String { "{(\(members.map(\.description).joined(separator: ", ")))}" }
}
