// Accessors that generated classes use beside slots: types as Xcode generates them, typed collections, enumerations.

import CoreDataValues
import Foundation

extension NSManagedObject {
    // MARK: Attributes

    /// A number as an object; nil for nil.
    public final func _number(_ slot: Int) -> NSNumber? { anyValue(.slot(ownSlot(slot))) as? NSNumber }
    public final func _setNumber(_ slot: Int, _ value: NSNumber?) { setAnyValue(value, .slot(ownSlot(slot)), key: "") }
    public final func _decimalNumber(_ slot: Int) -> NSDecimalNumber? {
        _decimal(slot).map { NSDecimalNumber(decimal: $0) }
    }
    public final func _setDecimalNumber(_ slot: Int, _ value: NSDecimalNumber?) {
        _setDecimal(slot, value?.decimalValue)
    }

    /// A value that is kept as an object; a Swift value is bridged to Foundation.
    public final func _object(_ slot: Int) -> NSObject? {
        _transformable(slot).flatMap { $0 as AnyObject as? NSObject }
    }

    /// The value of a required UUID that was never set.
    public static var _noUUID: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// The value of a required URL that was never set: `about:blank`.
    public static var _noURL: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }

    // MARK: Enumerations

    /// An enumeration by its raw value; nil for nil and for a raw value that is no case of it.
    public final func _enumeration<E: RawRepresentable>(_ slot: Int) -> E? where E.RawValue: FixedWidthInteger {
        _optionalInt(slot).flatMap { E.RawValue(exactly: $0) }.flatMap(E.init)
    }

    public final func _enumeration<E: RawRepresentable>(_ slot: Int) -> E? where E.RawValue == String {
        _text(slot).flatMap(E.init)
    }

    /// An enumeration that always has a value: the default stands in for nil and for a raw value that is no case of it.
    public final func _enumeration<E: RawRepresentable>(_ slot: Int, default value: E.RawValue) -> E
    where E.RawValue: FixedWidthInteger {
        _enumeration(slot) ?? preset(value, slot)
    }

    public final func _enumeration<E: RawRepresentable>(_ slot: Int, default value: String) -> E
    where E.RawValue == String {
        _enumeration(slot) ?? preset(value, slot)
    }

    private final func preset<E: RawRepresentable>(_ value: E.RawValue, _ slot: Int) -> E {
        if let preset = E(rawValue: value) { return preset }
        let name = _state.info.entity.slots[ownSlot(slot)].name
        misuse(
            "\(entity.name ?? "").\(name) has the default \(value) in the model, which is no case of \(E.self). Give the model another "
                + "default, or \(E.self) such a case.")
    }

    public final func _setEnumeration<E: RawRepresentable>(_ slot: Int, _ value: E?)
    where E.RawValue: FixedWidthInteger {
        _setInt(slot, value.map { Int64($0.rawValue) })
    }

    public final func _setEnumeration<E: RawRepresentable>(_ slot: Int, _ value: E?) where E.RawValue == String {
        _setText(slot, value?.rawValue)
    }

    // MARK: Relationships

    /// The target of a to-one as an object of a class; nil if it is of another. If it is of exactly that class, one
    /// comparison spares the cast; generated classes are not final.
    @inlinable
    public final func _target<T: NSManagedObject>(_ slot: Int) -> T? {
        guard let object = _toOne(slot) else { return nil }
        return Swift.type(of: object) == T.self ? unsafeDowncast(object, to: T.self) : object as? T
    }

    /// The members of an unordered to-many as objects of a class. Inlined, so that the class is known at compile time.
    @inlinable
    public final func _members<T: NSManagedObject>(_ index: Int) -> Set<T> {
        let members = _shownMembers(index)
        var set = Set<T>(minimumCapacity: 2 * members.count)
        for member in members { if let member = member as? T { set.insert(member) } }
        return set
    }

    /// The members of an ordered to-many, as objects of a class.
    @inlinable
    public final func _orderedMembers<T: NSManagedObject>(_ index: Int) -> [T] {
        _shownMembers(index).compactMap { $0 as? T }
    }

    @usableFromInline final func _shownMembers(_ index: Int) -> [NSManagedObject] { shownMembers(at: ownToMany(index)) }

    /// A copy of the members as a Foundation set, which later changes leave alone.
    public final func _set(_ index: Int) -> NSSet { NSSet(array: shownMembers(at: ownToMany(index))) }
    public final func _setSet(_ index: Int, _ members: NSSet?) { replace(members, index) }
    public final func _setOrderedSet(_ index: Int, _ members: NSOrderedSet?) { replace(members, index) }

    private final func replace(_ members: Any?, _ index: Int) {
        let own = ownToMany(index)
        fixup.setMembers(own, objects(members, relationship(toMany: own).name))
    }

    public final func _add(_ members: NSSet, toMany index: Int) { _add(given(members, index), toMany: index) }
    public final func _add(_ members: NSOrderedSet, toMany index: Int) { _add(given(members, index), toMany: index) }
    public final func _remove(_ members: NSSet, toMany index: Int) { _remove(given(members, index), toMany: index) }
    public final func _remove(_ members: NSOrderedSet, toMany index: Int) {
        _remove(given(members, index), toMany: index)
    }

    private final func given(_ members: Any, _ index: Int) -> ContiguousArray<NSManagedObject> {
        objects(members, relationship(toMany: ownToMany(index)).name)
    }

    // MARK: Places in ordered to-manys

    /// Inserts each member at its index in the set, the lowest first.
    public final func _insert(_ members: [NSManagedObject], toMany index: Int, at places: IndexSet) {
        for (member, place) in zip(members, places) { _insert([member], toMany: index, at: place) }
    }

    public final func _remove(at places: IndexSet, toMany index: Int) {
        for place in places.reversed() { _remove(at: place, toMany: index) }
    }

    public final func _replace(at places: IndexSet, toMany index: Int, with members: [NSManagedObject]) {
        for (member, place) in zip(members, places) { _replace(at: place, toMany: index, with: member) }
    }

    public final func _insert(_ members: [NSManagedObject], toMany index: Int, at places: NSIndexSet) {
        _insert(members, toMany: index, at: IndexSet(places.map { $0 }))
    }
    public final func _remove(at places: NSIndexSet, toMany index: Int) {
        _remove(at: IndexSet(places.map { $0 }), toMany: index)
    }
    public final func _replace(at places: NSIndexSet, toMany index: Int, with members: [NSManagedObject]) {
        _replace(at: IndexSet(places.map { $0 }), toMany: index, with: members)
    }
}
