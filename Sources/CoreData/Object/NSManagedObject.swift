// A managed object: identity, values and relationships of one row.

import CCoreDataRuntime
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
        let info = entity.info
        _state = ObjectState.allocate()
        _state.initialize(
            to: ObjectState(
                info: UnsafeRawPointer(Unmanaged.passUnretained(info).toOpaque()),
                entity: info.entity.index.rawValue))
        super.init()
        if let context { context.insert(self) }
    }

    /// Makes an object of the entity whose class this is, and inserts it.
    public convenience init(context: NSManagedObjectContext) {
        self.init(entity: context.entityDescription(for: Self.self), insertInto: context)
    }

    deinit {
        let state = _state
        let pointee = state.pointee
        if let registry = pointee.registry {
            let registry = Unmanaged<Registry>.fromOpaque(registry)
            if state.has(.registered) {
                let pointer = Unmanaged.passUnretained(self).toOpaque()
                registry._withUnsafeGuaranteedRef {
                    $0.remove(pointer, number: pointee.number, entity: pointee.entity, store: pointee.store)
                }
            }
        }
        if pointee.overlay != nil { state.dropOverlay() }
        if let chunk = pointee.chunk { Unmanaged<RowChunk>.fromOpaque(chunk).release() }
        if let id = pointee.objectID { Unmanaged<NSManagedObjectID>.fromOpaque(id).release() }
        if pointee.toMany != nil || pointee.target != nil { state.dropRelationships() }
        // Last: an object that outlives its stack holds the entity's facts, which the above reads, through the
        // registry alone.
        if let registry = pointee.registry { Unmanaged<Registry>.fromOpaque(registry).release() }
        free(state)
    }

    // MARK: Identity

    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }
    open override func isEqual(_ object: Any?) -> Bool {
        // Sets ask this at every collision: another pointer is another object, whatever it is; only a hit is looked at
        // closely (437 instructions).
        guard let object else { return false }
        let word = withUnsafeBytes(of: object) { $0.loadUnaligned(as: UInt.self) }
        guard word == UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) else { return false }
        return (object as AnyObject) === self
    }

    /// The context, nil once the object was deleted and saved, or its context is gone.
    public final var managedObjectContext: NSManagedObjectContext? {
        _state.has(.gone) ? nil : _state.registry?.context
    }

    public final var entity: NSEntityDescription { _state.info.description }

    /// Names the row. A new object's is temporary until it is saved; then it is another one.
    public final var objectID: NSManagedObjectID {
        let state = _state
        if let id = state.pointee.objectID {
            return Unmanaged<NSManagedObjectID>.fromOpaque(id).takeUnretainedValue()
        }
        let id = NSManagedObjectID(key: state.key, identity: state.registry?.context?.identities, info: state.info)
        state.pointee.objectID = UnsafeRawPointer(Unmanaged.passRetained(id).toOpaque())
        return id
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

    public final var isInserted: Bool { _state.has(.inserted) }
    public final var isUpdated: Bool { _state.has(.updated) && !_state.has([.inserted, .deleted]) }
    public final var isDeleted: Bool { _state.has(.deleted) }
    public final var hasChanges: Bool { _state.has(.dirty) }
    /// Whether the next read of a value goes to the row. The row itself may be in memory already.
    public final var isFault: Bool { _state.isFault }
    /// 0 when the object has its values, another number otherwise.
    public final var faultingState: Int { _state.isFault ? 1 : 0 }

    /// Whether anything that would be written changed; reads no value.
    public final var hasPersistentChangedValues: Bool { !changedValues().isEmpty }

    /// Whether the to-many's members, or the to-one's target, still have to be read.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        switch place(of: key) {
        case .slot: return _state.isFault
        case .toMany(let index): return toManyState(index)?.isFault ?? _state.has(.persistent)
        case .fetched, nil: return false
        }
    }

    // MARK: For subclasses

    /// For generated classes: the names of the entity's slots in order, as the class's accessors number them.
    ///
    /// They are compared once with the model in use; if they differ, the class's accessors go by name. nil for a class whose
    /// accessors use keys.
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

    /// Checks the object before its first save; throws one error, or 1560 with all of them.
    open func validateForInsert() throws { try Validation.check(self, for: .insert) }
    open func validateForUpdate() throws { try Validation.check(self, for: .update) }
    open func validateForDelete() throws { try Validation.check(self, for: .delete) }

    open override var description: String {
        let state = isFault ? "fault" : "\(dictionaryOfValues())"
        return "<\(type(of: self)): \(objectID.uriRepresentation().absoluteString); data: \(state)>"
    }
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
            for index in 0..<info.entity.toMany.count {
                if let members = toMany[index] { Unmanaged<ToMany>.fromOpaque(members).release() }
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
            Unmanaged<NSManagedObject>.fromOpaque(target).release()
        }
        guard let targets = pointee.targets else { return }
        for slot in 0..<info.layout.slotCount {
            if let target = targets[slot] { Unmanaged<NSManagedObject>.fromOpaque(target).release() }
        }
        targets.deallocate()
        pointee.targets = nil
    }
}
