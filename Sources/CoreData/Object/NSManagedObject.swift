// A managed object: the identity, values and relationships of one row.

import CCoreDataRuntime
import CoreDataFoundation
import CoreDataValues
import Foundation

/// An object of a managed object context, described by an entity.
///
/// Its state is behind one pointer. The values of a fetched object stay in the row that the fetch read; changed values
/// are in an overlay of typed slots. An object belongs to one context for life and may be used on that context's queue
/// only. Equality and hash are by identity: a context has one object for each row.
open class NSManagedObject: NSObject {
    @usableFromInline final let _state: UnsafeMutablePointer<ObjectState>

    /// Makes an object and, given a context, inserts it there.
    ///
    /// Sets the entity's default values, then calls `awakeFromInsert()`. Without a context it does neither, and nothing
    /// is tracked until `NSManagedObjectContext.insert(_:)`.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        _state = ObjectState.allocate()
        _state.initialize(to: ObjectState(info: entity.unretainedInfo))
        super.init()
        if let context { context.insert(self) }
    }

    deinit {
        // Field by field: copying the state takes 14 instructions more.
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
        // Last: after its coordinator is gone, only the identity map retains the entity's info, which is read above.
        identityMap?.release()
        coredata_give_state(state)
    }

    // MARK: Identity

    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }
    open override func isEqual(_ object: Any?) -> Bool {
        // Sets call this for each collision: compare pointers first. Only a hit is compared as an object (437
        // instructions). The optional is not unwrapped before, which would copy it (200); its word means nothing if it
        // is nil.
        let word = withUnsafeBytes(of: object) { $0.loadUnaligned(as: UInt.self) }
        guard word == UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) else { return false }
        return object.map { ($0 as AnyObject) === self } ?? false
    }

    /// The context; nil once the object was deleted and saved, or its context is gone.
    public final var managedObjectContext: NSManagedObjectContext? {
        _state.has(.detached) ? nil : _state.identityMap?.context
    }

    public final var entity: NSEntityDescription { _state.info.description }

    /// Identifies the object. A new object has a temporary ID until it is saved, and then another one.
    ///
    /// May be read on any thread, but not while the object is saved for the first time on another one.
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

    /// The entity of this class in the model that uses the class.
    open class func entity() -> NSEntityDescription {
        guard let (model, _, info) = ModelRuntime.inUse(for: self) else {
            misuse("No model in use has an entity of the class \(self). Load the model into a coordinator first.")
        }
        return withExtendedLifetime(model) { info.description }
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
    /// Whether the next read of a value fires the fault. The row itself may be in memory already.
    public final var isFault: Bool {
        checkQueue()
        return _state.isFault
    }
    /// 0 if the object has its values, another number otherwise.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether the object has changes that a save would write.
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

    /// Whether changes of properties that the model lacks leave the object unchanged. Always true here, since nothing
    /// observes them.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Computed properties of the class that key-value coding knows by name, besides the model's:
    /// `["isAdult": \Person.isAdult]`.
    ///
    /// `value(forKey:)`, and predicates and sort orders in memory, can then use them; stores cannot, and a fetch by one
    /// throws 134060. An override that keeps the keys of its superclass includes them. Called once for each class.
    open class var additionalKeys: [String: AnyKeyPath] { [:] }

    /// For generated classes: the names of the entity's slots in the order in which the class's accessors number them,
    /// each with the kind of its accessors (`name:text`; also `int`, `double`, `data`, `uuid`, `decimal`,
    /// `transformable`, `toOne`), then those of its to-manys (`visits:toMany`).
    ///
    /// They are compared once with the model in use. If they differ, the class's accessors go by name, and one that the
    /// entity lacks ends the process with a message. A name without a kind is not checked. nil for a class whose
    /// accessors use keys.
    open class var _managedKeys: [String]? { nil }

    open func awakeFromInsert() {}
    open func awakeFromFetch() {}
    open func willSave() {}
    open func didSave() {}
    open func prepareForDeletion() {}
    open func willTurnIntoFault() {}
    open func didTurnIntoFault() {}
    /// Called when values were reset from a snapshot, with the reasons. Changes made here are not tracked.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Validates a value for a property, and replaces it by a converted one if the property has another type.
    ///
    /// Checks what the model requires (presence, bounds, lengths, patterns, counts), then the property's validation
    /// predicates, then calls `validateProperty(_:value:)`. A save does so for every property of a class that overrides
    /// either method.
    /// - Throws: one error with object, key, value and predicate, or 1560 for several.
    open func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try PropertyValidation(self, key).run(value)
    }

    /// For subclasses: validates single properties, as `validate<Key>:error:` does in Objective-C.
    ///
    /// Throw to refuse the value; write another value through the pointer to replace it.
    open func validateProperty(_ key: String, value: UnsafeMutablePointer<AnyObject?>) throws {}
    // MARK: Values by name

    /// The value of a property, read from the store if the object is a fault.
    ///
    /// Numbers are `NSNumber` (`as? Int`, `as? Int16`, `as? Bool` all work), Decimal is `NSDecimalNumber`, to-manys are
    /// `NSSet` or `NSOrderedSet`. A key that the entity lacks goes to `value(forUndefinedKey:)`.
    open func value(forKey key: String) -> Any? { anyValue(forKey: key) }
    /// Sets a property; nil and `NSNull` clear it. A relationship's inverse follows at once.
    open func setValue(_ value: Any?, forKey key: String) { setAnyValue(value, forKey: key) }
    /// The value at the end of a key path, which may contain collection operators (`@count`, `@sum.age` …).
    open func value(forKeyPath keyPath: String) -> Any? { KeyValue.value(of: self, forKeyPath: keyPath) }
    open func setValue(_ value: Any?, forKeyPath keyPath: String) { KeyValue.set(value, on: self, forKeyPath: keyPath) }
    /// The value of a key that the entity lacks: by `additionalKeys` or a stored property of the class. An unknown key
    /// ends the process.
    open func value(forUndefinedKey key: String) -> Any? { undefinedValue(key) }
    /// Ends the process, since the entity lacks the key. Override it to accept such values.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { refuse(key) }
    /// Called when nil is set for a number; clears the attribute.
    open func setNilValueForKey(_ key: String) { clearValue(key) }
    /// The values of some keys, `NSNull` for nil.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(of: keys) }
    /// Sets all values of a dictionary, nil for `NSNull`.
    open func setValuesForKeys(_ keyedValues: [String: Any]) { setValues(keyedValues) }
    /// The members of an unordered to-many as a live set, which writes into the relationship.
    open func mutableSetValue(forKey key: String) -> NSMutableSet { mutableSet(key) }
    /// The members of an ordered to-many as a live ordered set, which writes into the relationship.
    open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { mutableOrderedSet(key) }
    /// The value without access notifications. A to-many is a copy.
    open func primitiveValue(forKey key: String) -> Any? { primitive(key) }
    /// Sets a value without logging it, marking the object changed or setting inverses.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) { setPrimitive(value, key) }
    /// Reads the row of a fault. A custom accessor calls it before it reads a primitive value.
    open func willAccessValue(forKey key: String?) { announceAccess(key) }
    open func didAccessValue(forKey key: String?) {}
    /// Notes the former value for an undo. A custom accessor calls it before it writes a primitive value.
    open func willChangeValue(forKey key: String) { announceChange(key) }
    /// Sets the inverse of a relationship. A custom accessor calls it after it has written a primitive value.
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

    /// Validates the object before its first save; throws one error, or 1560 for several.
    open func validateForInsert() throws { try Validation.check(self, for: .insert) }
    open func validateForUpdate() throws { try Validation.check(self, for: .update) }
    open func validateForDelete() throws { try Validation.check(self, for: .delete) }

    /// The object's identity and its values in the model's order. Reads nothing: a fault shows no values, nor does an
    /// object whose context the caller does not hold. May be read on any thread.
    open override var description: String { ObjectDescription(object: self).text }
}

@available(*, unavailable)
extension NSManagedObject: @unchecked Sendable {}
