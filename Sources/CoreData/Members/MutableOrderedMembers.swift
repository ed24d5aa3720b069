// `mutableOrderedSetValue(forKey:)`: an ordered to-many as a live ordered set.

import CoreDataValues
import Foundation

/// The members of an ordered to-many as a live ordered set.
///
/// Foundation on Linux reads the superclass's own list in places that cannot be overridden (a `for` loop, `array`), so
/// this class keeps that list up to date: each call compares a stamp with the relationship's and takes over changes
/// made elsewhere. A `for` loop shows the members as the last other call found them.
///
/// Filling that list costs 5,000 instructions a member, in Foundation. So the context keeps a set that was written
/// through until the event ends, and hands it out again (`openSet(of:_:)`).
final class MutableOrderedMembers: NSMutableOrderedSet {
    let owner: NSManagedObject
    let index: Int
    private var known: ToMany?
    private var stamp = 0
    /// The context's `rowTime` when the members were last read.
    private var rowTime = 0
    /// What the superclass's list contains.
    private var shown: ContiguousArray<NSManagedObject> = []
    /// The place in `shown` where a member was last found.
    private var found = 0
    /// While true, calls concern only the superclass's list.
    private var isCopying = false
    /// Whether it was read or written since it was handed out. If not, a `for` loop may be running over it.
    private(set) var wasUsed = false
    /// Whether members were read only in order to write so far.
    private var isUnread = true

    /// Calls with more objects than this write all members at once.
    private static let few = 16

    init(of owner: NSManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        super.init(capacity: 0)
    }

    required init?(coder: NSCoder) { return nil }

    required convenience init(arrayLiteral elements: Any...) {
        misuse("An ordered set of a relationship comes from mutableOrderedSetValue(forKey:) alone.")
    }

    private var members: [NSManagedObject] {
        isUnread ? owner.membersToWrite(at: index) : owner.members(at: index)
    }
    private var context: NSManagedObjectContext? { owner._state.identityMap?.context }

    // MARK: Keeping in step

    /// Brings the superclass's list up to date with the relationship.
    func follow() {
        guard !isCopying else { return }
        owner.checkQueue()
        wasUsed = true
        if let known, known === owner.toManyState(index), known.stamp == stamp { return }
        show(ContiguousArray(members))
    }

    /// Prepares the set for another caller. If rows may have been read again since, the list is renewed.
    func handOut() {
        if context?.faulting.rowTime != rowTime { known = nil }
        follow()
        wasUsed = false
    }

    /// Changes the list where it differs from the members: *remove what went, last first · insert what came*.
    private func show(_ members: ContiguousArray<NSManagedObject>) {
        copying {
            let (same, rest) = shown.change(to: members)
            for place in (same..<shown.count - rest).reversed() { removeMember(at: place) }
            for place in same..<members.count - rest { put(members[place], at: place) }
        }
    }

    private func copying(_ body: () -> Void) {
        isCopying = true
        body()
        isCopying = false
        known = owner.makeToManyState(index)
        stamp = known?.stamp ?? 0
        rowTime = context?.faulting.rowTime ?? 0
    }

    private func put(_ member: NSManagedObject, at place: Int) {
        super.insert(member, at: place)
        shown.insert(member, at: place)
    }

    private func removeMember(at place: Int) {
        super.removeObject(at: place)
        shown.remove(at: place)
    }

    private func replace(with members: [NSManagedObject]) {
        owner.fixup.setMembers(index, ContiguousArray(members))
        follow()
        context?.keepOpen(self)
    }

    private func accepted(_ objects: some Sequence<Any>) -> [NSManagedObject] {
        objects.map { owner.member($0, index) }
    }

    // MARK: Asking

    /// Notes that the program reads the members: rows read for a write count as read by it now, unless the owner has
    /// changes already.
    private func noteAsked() {
        guard isUnread, !isCopying, !owner._state.has(.dirty) else { return }
        isUnread = false
        owner._state.clear([.readIncidentally, .unseen])
        _ = owner.members(at: index)
    }

    override var count: Int {
        noteAsked()
        follow()
        return shown.count
    }

    override func object(at place: Int) -> Any {
        noteAsked()
        follow()
        return super.object(at: place)
    }

    override func index(of object: Any) -> Int {
        guard !isCopying else { return super.index(of: object) }
        guard let object = object as? NSManagedObject else { return NSNotFound }
        noteAsked()
        return place(of: object) ?? NSNotFound
    }

    private func place(of member: NSManagedObject) -> Int? {
        follow()
        guard let place = shown.place(of: ObjectIdentifier(member), near: found) else { return nil }
        found = place
        return place
    }

    /// The superclass asks this before it inserts a member into its list. A member occurs only once, so `false` is
    /// right without a search.
    override func contains(_ object: Any) -> Bool {
        guard !isCopying, let object = object as? NSManagedObject else { return false }
        wasUsed = true
        return owner.isMember(object, at: index)
    }

    // MARK: Writing one member

    override func insert(_ object: Any, at place: Int) {
        guard !isCopying else { return super.insert(object, at: place) }
        let member = owner.member(object, index)
        guard !owner.isMember(member, at: index) else { return owner.fixup.addMember(index, member) }
        follow()
        guard place >= 0, place <= shown.count else {
            misuse("An object was inserted at \(place) into an ordered set of \(shown.count).")
        }
        owner.fixup.insertMember(index, member, at: place)
        copying { put(member, at: place) }
        context?.keepOpen(self)
    }

    override func removeObject(at place: Int) {
        guard !isCopying else { return super.removeObject(at: place) }
        follow()
        guard place >= 0, place < shown.count else {
            misuse("The object at \(place) was removed from an ordered set of \(shown.count).")
        }
        owner.fixup.removeMember(index, shown[place])
        copying { removeMember(at: place) }
        context?.keepOpen(self)
    }

    override func replaceObject(at place: Int, with object: Any) {
        guard !isCopying else { return super.replaceObject(at: place, with: object) }
        follow()
        guard shown.indices.contains(place) else {
            misuse("The object at \(place) was replaced in an ordered set of \(shown.count).")
        }
        let member = owner.member(object, index)
        guard !owner.isMember(member, at: index) else { return }
        removeObject(at: place)
        insert(member, at: place)
    }

    override func setObject(_ object: Any, at place: Int) {
        if place == presentCount { insert(object, at: place) } else { replaceObject(at: place, with: object) }
    }

    override func add(_ object: Any) { insert(object, at: presentCount) }

    private var presentCount: Int {
        follow()
        return shown.count
    }

    override func remove(_ object: Any) {
        guard let member = object as? NSManagedObject else { return }
        if let place = place(of: member) { return removeObject(at: place) }
        // The member's own side may still have the pair.
        if owner.mayHold(member, at: index) { owner.fixup.removeMember(index, member) }
    }

    // MARK: Writing several

    override func addObjects(from array: [Any]) {
        guard array.count > Self.few else { return array.forEach(add) }
        replace(with: members + accepted(array))
    }

    override func insert(_ objects: [Any], at indexes: IndexSet) {
        guard objects.count > Self.few else {
            for (object, place) in zip(objects, indexes) where !contains(object) {
                insert(object, at: Swift.min(place, presentCount))
            }
            return
        }
        var new = members
        let known = Set(new)
        for (object, place) in zip(accepted(objects), indexes) where !known.contains(object) {
            new.insert(object, at: Swift.min(place, new.count))
        }
        replace(with: new)
    }

    override func exchangeObject(at place: Int, withObjectAt other: Int) {
        let (first, last) = (Swift.min(place, other), Swift.max(place, other))
        guard first < last else { return }
        move(from: last, to: first)
        move(from: first + 1, to: last)
    }

    /// Moves one member; members outside the two places keep theirs.
    private func move(from present: Int, to place: Int) {
        follow()
        guard present < shown.count else {
            misuse("The object at \(present) was moved in an ordered set of \(shown.count).")
        }
        let member = shown[present]
        let place = Swift.min(place, shown.count - 1)
        guard place != present else { return }
        owner.fixup.move(member, toMany: index, to: place)
        copying {
            removeMember(at: present)
            put(member, at: place)
        }
        context?.keepOpen(self)
    }

    override func moveObjects(at indexes: IndexSet, to place: Int) {
        if let only = indexes.first, indexes.count == 1 { return move(from: only, to: place) }
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
        guard indexes.count > Self.few else { return indexes.reversed().forEach(removeObject) }
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

    private func remove(_ gone: Set<NSManagedObject>) {
        guard gone.count > Self.few else { return gone.forEach(remove) }
        replace(with: members.filter { !gone.contains($0) })
    }
    private func removeOthers(than kept: Set<NSManagedObject>) { replace(with: members.filter { kept.contains($0) }) }
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
    override func intersect(_ other: NSOrderedSet) { removeOthers(than: Self.objects(other)) }
    override func intersectSet(_ other: Set<AnyHashable>) { removeOthers(than: Self.objects(other)) }

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
