// A managed object: identity, values and relationships of one row.

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation

/// An object of a managed object context, described by an entity.
///
/// Its state hangs behind one pointer; the values of a fetched object stay in the row that the fetch read, changed values in an
/// overlay of typed slots. An object belongs to one context for life and may be touched on that context's queue only. Equality
/// and hash are by identity: in one context there is one object for each row.
open class NSManagedObject: NSObject {
    @usableFromInline final let _state: UnsafeMutablePointer<ObjectState>

    /// Makes an object and, given a context, inserts it there.
    ///
    /// Sets the entity's default values, then calls `awakeFromInsert()`. Without a context nothing is called and nothing
    /// observes the object until `NSManagedObjectContext.insert(_:)`.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        _state = ObjectState.allocate()
        _state.initialize(to: ObjectState(info: entity.unretainedInfo))
        super.init()
        if let context { context.insert(self) }
    }

    deinit {
        // Field by field: a copy of the state is 14 instructions longer.
        let state = _state
        let identityMap = state.pointee.identityMap.map { Unmanaged<IdentityMap>.fromOpaque($0) }
        if let identityMap, state.has(.registered) {
            let pointer = Unmanaged.passUnretained(self).toOpaque()
            identityMap._withUnsafeGuaranteedRef {
                $0.remove(
                    pointer, number: state.pointee.number, entity: state.pointee.entity, store: state.pointee.store,
                    version: state.seenVersion)
            }
        }
        if state.pointee.overlay != nil { state.dropOverlay() }
        if let chunk = state.pointee.chunk { Unmanaged<RowChunk>.fromOpaque(chunk).release() }
        if let id = state.pointee.objectID { Unmanaged<NSManagedObjectID>.fromOpaque(id).release() }
        if state.pointee.toMany != nil || state.pointee.target != nil { state.dropRelationships() }
        // Last: an object that outlives its stack holds the entity's facts, which the above reads, through the
        // identityMap alone.
        identityMap?.release()
        coredata_give_state(state)
    }

    // MARK: Identity

    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }
    open override func isEqual(_ object: Any?) -> Bool {
        // Sets ask this at every collision: another pointer is another object, whatever it is; only a hit is looked at
        // closely (437 instructions). Nothing is unwrapped before, which would copy it (200); of nil the word means nothing.
        let word = withUnsafeBytes(of: object) { $0.loadUnaligned(as: UInt.self) }
        guard word == UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) else { return false }
        return object.map { ($0 as AnyObject) === self } ?? false
    }

    /// The context, nil once the object was deleted and saved, or its context is gone.
    public final var managedObjectContext: NSManagedObjectContext? {
        _state.has(.gone) ? nil : _state.identityMap?.context
    }

    public final var entity: NSEntityDescription { _state.info.description }

    /// Names the row. A new object's is temporary until it is saved; then it is another one.
    ///
    /// May be asked for on any thread, but not while the object's first save is under way on another one.
    public final var objectID: NSManagedObjectID {
        let state = _state
        if let id = coredata_published(&state.pointee.objectID) {
            return Unmanaged<NSManagedObjectID>.fromOpaque(id).takeUnretainedValue()
        }
        let id = NSManagedObjectID(key: state.key, identity: state.identityMap?.identities, info: state.info)
        let made = Unmanaged.passRetained(id)
        let first = coredata_publish(&state.pointee.objectID, made.toOpaque())
        if first != UnsafeRawPointer(made.toOpaque()) { made.release() }
        return Unmanaged<NSManagedObjectID>.fromOpaque(first).takeUnretainedValue()
    }

    /// The entity whose class this is, in the model that uses the class.
    open class func entity() -> NSEntityDescription {
        guard let info = ModelRuntime.info(for: self) else {
            misuse("No model in use has an entity of the class \(self). Load the model into a coordinator first.")
        }
        return info.description
    }

    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity()
        return request
    }

    // MARK: State

    public final var isInserted: Bool {
        checkQueue()
        return _state.has(.inserted)
    }
    public final var isUpdated: Bool {
        checkQueue()
        return _state.has(.updated) && !_state.has([.inserted, .deleted])
    }
    public final var isDeleted: Bool {
        checkQueue()
        return _state.has(.deleted)
    }
    public final var hasChanges: Bool {
        checkQueue()
        return _state.has(.dirty)
    }
    /// Whether the next read of a value goes to the row. The row itself may be in memory already.
    public final var isFault: Bool {
        checkQueue()
        return _state.isFault
    }
    /// 0 when the object has its values, another number otherwise.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether anything that would be written changed; reads no value.
    public final var hasPersistentChangedValues: Bool { !changedValues().isEmpty }

    /// Whether the to-many's members, or the to-one's target, still have to be read.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        checkQueue()
        switch place(of: key) {
        case .slot(let slot): return !knowsTarget(at: slot) && hasFault(at: slot)
        case .toMany(let index): return toManyState(index)?.isFault ?? _state.has(.persistent)
        case .fetched, nil: return false
        }
    }

    // MARK: For subclasses

    /// Whether changes of properties that the model does not know leave the object unchanged. Always so here: nothing observes
    /// them.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Computed properties of the class that key-value coding knows by name, besides the model's: `["isAdult": \Person.isAdult]`.
    ///
    /// `value(forKey:)`, predicates and sort orders in memory then reach them; stores do not, and a fetch by one throws 134060. Key
    /// paths of the superclass's keys are its own; an override adds them to its list. Asked once for each class.
    open class var additionalKeys: [String: AnyKeyPath] { [:] }

    /// For generated classes: the names of the entity's slots in order, as the class's accessors number them, each with the
    /// accessors that it has (`name:text`; also `int`, `double`, `data`, `uuid`, `decimal`, `transformable`, `toOne`), then those of
    /// its to-manys (`visits:toMany`).
    ///
    /// They are compared once with the model in use; if they differ, the class's accessors go by name, and one for which the entity
    /// has nothing ends the process with a sentence. A name alone is believed. nil for a class whose accessors use keys.
    open class var _managedKeys: [String]? { nil }

    open func awakeFromInsert() {}
    open func awakeFromFetch() {}
    open func willSave() {}
    open func didSave() {}
    open func prepareForDeletion() {}
    open func willTurnIntoFault() {}
    open func didTurnIntoFault() {}
    /// The values were reset from a snapshot, for the reasons given. Changes made here are not noticed.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Checks a value for a property, and puts a converted one in its place where the property wants another type.
    ///
    /// Checks what the model says (presence, bounds, lengths, patterns, counts), then the property's validation predicates, then
    /// calls `validateProperty(_:value:)`. A save does so for every property of a class that overrides either method.
    /// - Throws: one error with object, key, value and predicate, or 1560 with all of them.
    open func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try PropertyValidation(self, key).run(value)
    }

    /// For subclasses: the checks of single properties, which Objective-C has as `validate<Key>:error:`.
    ///
    /// Throw if the value is refused; write another value through the pointer to have it taken.
    open func validateProperty(_ key: String, value: UnsafeMutablePointer<AnyObject?>) throws {}
    // MARK: Values by name

    /// The value of a property, read from the store if the object is a fault.
    ///
    /// Numbers come as `NSNumber` (`as? Int`, `as? Int16`, `as? Bool` all work), Decimal as `NSDecimalNumber`, to-manys as
    /// `NSSet` or `NSOrderedSet`. A key that the entity lacks goes to `value(forUndefinedKey:)`.
    open func value(forKey key: String) -> Any? { anyValue(forKey: key) }
    /// Sets a property; nil and `NSNull` clear it. A relationship's inverse follows at once.
    open func setValue(_ value: Any?, forKey key: String) { setAnyValue(value, forKey: key) }
    /// The value at the end of dotted keys; collection operators (`@count`, `@sum.age` …) apply where they stand.
    open func value(forKeyPath keyPath: String) -> Any? { KeyValue.value(of: self, forKeyPath: keyPath) }
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { KeyValue.set(value, on: self, forKeyPath: keyPath) }
    /// Answers for keys that the entity lacks: by `additionalKeys` or a stored property of the class; a key that nobody knows ends the process.
    open func value(forUndefinedKey key: String) -> Any? { undefinedValue(key) }
    /// Ends the process: nothing can be set by this key. Override it to take such values.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { refuse(key) }
    /// Called when nil is set for a number; clears the attribute.
    open func setNilValueForKey(_ key: String) { clearValue(key) }
    /// Values by key, nil as `NSNull`.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(of: keys) }
    /// Sets all values of a dictionary, `NSNull` as nil.
    open func setValuesForKeys(_ keyedValues: [String: Any]) { setValues(keyedValues) }
    /// The members of a to-many without order, as a set that stays in step with the relationship and writes into it.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { mutableSet(key) }
    /// The members of an ordered to-many, as an ordered set that stays in step with the relationship and writes into it.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { mutableOrderedSet(key) }
    /// The value without notice to anyone. A to-many is a copy.
    open func primitiveValue(forKey key: String) -> Any? { primitive(key) }
    /// Sets a value without logging it, marking the object changed, or keeping inverses.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) { setPrimitive(value, key) }
    /// Reads the row of a fault; a custom accessor calls it before it reads a primitive value.
    open func willAccessValue(forKey key: String?) { announceAccess(key) }
    open func didAccessValue(forKey key: String?) {}
    /// A custom accessor calls this before it writes a primitive value: an undo will know the former value.
    open func willChangeValue(forKey key: String) { announceChange(key) }
    /// A custom accessor calls this when it wrote a primitive value: the inverse of a relationship follows.
    open func didChangeValue(forKey key: String) { completeChange(key) }
    open func willChangeValue(
        forKey key: String, withSetMutation kind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { announceChange(key, kind, objects) }
    open func didChangeValue(
        forKey key: String, withSetMutation kind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { completeChange(key) }
    open func willChange(_ change: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        announceChange(key)
    }
    open func didChange(_ change: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        completeChange(key)
    }

    /// Checks the object before its first save; throws one error, or 1560 with all of them.
    open func validateForInsert() throws { try Validation.check(self, for: .insert) }
    open func validateForUpdate() throws { try Validation.check(self, for: .update) }
    open func validateForDelete() throws { try Validation.check(self, for: .delete) }

    /// Names the object, with its values by the model's order. Reads nothing: a fault tells none. Any thread may ask; one that does not
    /// hold the context is told no values either.
    open override var description: String { ObjectDescription(object: self).text }
}

@available(*, unavailable)
extension NSManagedObject: @unchecked Sendable {}

extension UnsafeMutablePointer<ObjectState> {
    var overlay: Overlay? { pointee.overlay.map { Overlay(base: $0) } }

    /// The overlay, made when missing.
    func makeOverlay() -> Overlay {
        if let overlay { return overlay }
        let made = Overlay.allocate(info.layout)
        pointee.overlay = made.base
        pointee.slow |= SlowReason.overlay
        return made
    }

    func dropOverlay() {
        overlay?.deallocate(info.layout, info.kinds)
        pointee.overlay = nil
        pointee.slow &= ~SlowReason.overlay
    }

    func dropRelationships() {
        if let toMany = pointee.toMany {
            for index in 0..<info.relationshipStateCount {
                if let members = toMany[index] { Unmanaged<AnyObject>.fromOpaque(members).release() }
            }
            toMany.deallocate()
            pointee.toMany = nil
        }
        dropTargets()
    }

    /// Lets go of cached to-one targets.
    func dropTargets() {
        if let target = pointee.target {
            pointee.target = nil
            Unmanaged<AnyObject>.fromOpaque(target).release()
        }
        guard let targets = pointee.targets else { return }
        for slot in 0..<info.layout.slotCount {
            if let target = targets[slot] { Unmanaged<AnyObject>.fromOpaque(target).release() }
        }
        targets.deallocate()
        pointee.targets = nil
    }
}
