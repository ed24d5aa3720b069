// `mutableSetValue(forKey:)`: a to-many as a live set.

import CoreDataValues
import Foundation

extension NSManagedObject {
    final func mutableSet(_ key: String) -> NSMutableSet {
        guard case .toMany(let index) = requirePlace(key) else {
            misuse("\(entity.name ?? "").\(key) is no to-many relationship; mutableSetValue(forKey:) needs one.")
        }
        return _mutableSet(index)
    }

    /// The live set at the end of a key path.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = owner(atEndOf: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// The live ordered set at the end of a key path.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = owner(atEndOf: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    private func owner(atEndOf keyPath: String) -> (NSManagedObject, String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else {
            misuse("The key path \(keyPath) of \(entity.name ?? "") leads to no object whose members could be changed.")
        }
        return (owner, String(keyPath[keyPath.index(after: dot)...]))
    }

    /// For generated classes: the live set of a to-many.
    public final func _mutableSet(_ index: Int) -> NSMutableSet { MutableMembers(of: self, index) }
}

/// The members of a to-many as a live set. Each call reads or writes the relationship; the set stores no members
/// itself.
///
/// Adding and removing write both sides and do not read the members, unless objects of a many-to-many are saved
/// already. A call that changes all members makes one pass over them. Foundation on Linux cannot cast a set of another
/// class to a Swift `Set`: use `allObjects`, a loop, or `value(forKey:)` instead.
final class MutableMembers: NSMutableSet {
    private let holder: NSManagedObject
    private let index: Int

    init(of owner: NSManagedObject, _ index: Int) {
        holder = owner
        self.index = index
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        misuse("A set of a relationship comes from mutableSetValue(forKey:) alone.")
    }

    required init?(coder: NSCoder) { return nil }

    /// The object that has the relationship; traps on the wrong queue.
    private var owner: NSManagedObject {
        holder.checkQueue()
        return holder
    }

    private var members: [NSManagedObject] { reader.members(at: index) }

    /// The owner for a call that reads: a fault fires.
    private var reader: NSManagedObject {
        if holder._state.isFault { owner.fire() }
        return owner
    }

    private func replace(with members: some Sequence<NSManagedObject>) {
        owner.fixup.setMembers(index, ContiguousArray(members))
    }

    private func accepted(_ object: Any) -> NSManagedObject { owner.member(object, index) }

    // MARK: Asking

    override var count: Int { reader.countOfMembers(at: index) }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, reader.isMember(object, at: index) else { return nil }
        return object
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: members).objectEnumerator() }

    // MARK: Writing

    override func add(_ object: Any) { owner.fixup.addMember(index, accepted(object)) }

    override func remove(_ object: Any) {
        if let object = object as? NSManagedObject { owner.fixup.removeMember(index, object) }
    }

    override func addObjects(from array: [Any]) { for object in array { add(object) } }
    override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
    override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
    override func removeAllObjects() { replace(with: []) }
    override func setSet(_ otherSet: Set<AnyHashable>) { replace(with: otherSet.map { accepted($0.base) }) }

    override func intersect(_ otherSet: Set<AnyHashable>) {
        replace(with: members.filter { otherSet.contains($0) })
    }

    // MARK: Copies and texts

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members) }
    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members) }
    override var description: String { "{(\(members.map(\.description).joined(separator: ", ")))}" }
    override func description(withLocale locale: Locale?) -> String { description }
}

extension NSManagedObject {
    /// Casts an element of an untyped collection to a member of a to-many.
    final func member(_ object: Any, _ index: Int) -> NSManagedObject {
        guard let member = object as? NSManagedObject else {
            misuse(
                "\(entity.name ?? "").\(relationship(toMany: index).name) is a to-many relationship and was given "
                    + "\(type(of: object)).")
        }
        return member
    }

    /// How many members a to-many has. Members that were read or saved are counted without making objects.
    final func countOfMembers(at index: Int) -> Int {
        let members = makeToManyState(index)
        if let order = members.order { return order.count }
        guard let context = _state.identityMap?.context, !members.isFault else { return self.members(at: index).count }
        compare(members, context)
        return members.baseCount + members.added.count - members.removed.count
    }
}
