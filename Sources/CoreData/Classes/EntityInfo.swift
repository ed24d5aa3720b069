// One entity as objects use it: its class, how to make objects, where its values are.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// Runtime facts of one entity of a frozen model. Lives as long as the model.
final class EntityInfo: @unchecked Sendable {
    let entity: Entity
    /// The entity's index as objects store it.
    let number: UInt16
    let schema: Schema
    let layout: RowLayout
    /// The model's description; unowned, as the model owns this object.
    unowned(unsafe) let description: NSEntityDescription
    /// The default values of new objects, slot by slot.
    let defaults: [(slot: Int, value: Value)]
    /// Slots that must not be nil in a save, as mask words.
    let required: UnsafeMutablePointer<UInt64>
    /// Transient attributes that must not be nil in a save. They are in no row, so the mask does not have them.
    let requiredTransients: [Int]
    /// The kind of each slot, for loops that must not touch an array's count and owner.
    let kinds: UnsafeMutablePointer<SlotKind>
    /// Further checks: unbounded reals for NaN, other slots by the model's rules.
    let plainReals: [Int]
    let checkedSlots: [Int]
    /// The resolved relationship of each slot, nil for attributes and tags.
    let slotRelationships: [ResolvedRelationship?]
    /// The resolved relationship of each to-many.
    let toManyRelationships: [ResolvedRelationship]
    /// The inverse of each slot's relationship.
    let slotInverses: [ResolvedRelationship?]
    let hasTransientSlots: Bool
    /// Slots of derived attributes.
    let derivedSlots: [Int]
    /// Slots whose values may be in external files.
    let externalSlots: [Int]
    /// Stored slots whose values are kept as objects in memory.
    let transformables: [Int]
    /// Whether a save must look at the overlay slot by slot before it drops it.
    let keepsValuesBesideRow: Bool
    /// The defaults of transient attributes; nil if there are none.
    let transientDefaults: Overlay?
    let transientMask: [UInt64]
    /// Mask words with no bit set.
    let noSlots: [UInt64]
    /// To-manys whose member count is validated in a save.
    let boundedRelationships: [ResolvedRelationship]
    /// The current `ClassBinding`, retained; read for every object that is made.
    private let binding = Atomic<UnsafeRawPointer?>(nil)
    private let bindingLock = NSLock()
    /// The bound class if its accessors can use their own slot numbers: one comparison for each object made.
    private let straightClass = Atomic<UnsafeRawPointer?>(nil)
    /// The bindings of other classes, by class.
    private let otherBindings = Mutex<[ObjectIdentifier: ClassBinding]>([:])
    /// Whether a to-one's target may be retained, by slot (I-4).
    let isAcyclic: [Bool]
    /// All relationships, inherited ones included.
    let relationships: [ResolvedRelationship]
    /// Relationships whose rule denies a deletion.
    let denying: [ResolvedRelationship]
    /// Validation predicates that the program gave to properties.
    let rules: [PropertyRule]
    /// What the model says of the value of each slot, nil for relationships and tags.
    let valueRules: [ValueRule?]
    /// Whether a save validates nothing but required values and NaN.
    let hasNoRules: Bool
    /// Whether the class overrides the validation of single values.
    let validatesByKey = Atomic<Bool>(false)

    init(entity: Entity, schema: Schema, description: NSEntityDescription, acyclic: [Bool]) {
        self.entity = entity
        number = entity.index.rawValue
        self.schema = schema
        self.layout = entity.layout
        self.description = description
        defaults = entity.slots.enumerated().compactMap { slot, value in
            guard let attribute = value.attribute, !attribute.defaultValue.isNull else { return nil }
            return EntityInfo.initialValue(attribute, of: entity.name).map { (slot, $0) }
        }
        required = .allocate(capacity: entity.layout.maskWords)
        required.initialize(repeating: 0, count: entity.layout.maskWords)
        kinds = .allocate(capacity: max(1, entity.slots.count))
        for (slot, value) in entity.slots.enumerated() {
            (kinds + slot).initialize(to: value.kind)
            if value.isRequired { required[slot >> 6] |= 1 << UInt64(slot & 63) }
        }
        requiredTransients = entity.slots.indices.filter { slot in
            let value = entity.slots[slot]
            return value.isTransient && value.composite == nil && value.attribute?.isOptional == false
        }
        plainReals = entity.slots.indices.filter { EntityInfo.isPlainReal(entity.slots[$0]) }
        let composites = entity.compositesToCheck
        checkedSlots = entity.slots.indices.filter {
            EntityInfo.needsCheck(entity.slots[$0]) && !EntityInfo.isPlainReal(entity.slots[$0])
                || composites.contains($0)
        }
        slotRelationships = entity.slots.map { slot in
            slot.kind == .toOne ? slot.relationship.map { schema[$0] } : nil
        }
        toManyRelationships = entity.toMany.map { schema[$0] }
        isAcyclic = slotRelationships.map { $0.map { acyclic[$0.index.rawValue] } ?? false }
        relationships = entity.relationships.map { schema[$0] }
        denying = relationships.filter { $0.description.deleteRule == .deny }
        slotInverses = slotRelationships.map { $0?.inverse.map { schema[$0] } }
        boundedRelationships = toManyRelationships.filter {
            $0.description.minCount > 0 || $0.description.maxCount > 1
        }
        rules = PropertyRule.rules(entity, description)
        valueRules = entity.slots.map { $0.attribute.map { ValueRule($0) } }
        hasNoRules = checkedSlots.isEmpty && boundedRelationships.isEmpty && rules.isEmpty && entity.composites.isEmpty
        noSlots = Array(repeating: 0, count: entity.layout.maskWords)
        var transient = noSlots
        for (slot, value) in entity.slots.enumerated() where value.isTransient {
            transient[slot >> 6] |= 1 << UInt64(slot & 63)
        }
        transientMask = transient
        derivedSlots = entity.derivedSlots
        externalSlots = entity.slots.indices.filter { entity.slots[$0].kind == .externalData }
        hasTransientSlots = entity.slots.contains { $0.isTransient }
        transformables = entity.slots.indices.filter {
            entity.slots[$0].kind == .transformable && !entity.slots[$0].isTransient
        }
        keepsValuesBesideRow = hasTransientSlots || !transformables.isEmpty
        transientDefaults = EntityInfo.transientDefaults(entity, defaults)
    }

    deinit {
        if let bound = binding.load(ordering: .acquiring) { Unmanaged<ClassBinding>.fromOpaque(bound).release() }
        transientDefaults?.deallocate(layout, kinds)
        required.deallocate()
        kinds.deallocate()
    }

    /// Whether a slot is a real number without bounds, of which only NaN is refused.
    private static func isPlainReal(_ slot: Slot) -> Bool {
        guard let attribute = slot.attribute, !slot.isTransient else { return false }
        switch slot.kind {
        case .double, .float, .date: return attribute.minimum == nil && attribute.maximum == nil
        case .int, .bool, .decimal, .text, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag:
            return false
        }
    }

    private static func needsCheck(_ slot: Slot) -> Bool {
        guard let attribute = slot.attribute, !slot.isTransient else { return false }
        switch slot.kind {
        case .double, .float, .date, .decimal: return true
        case .int:
            return attribute.type != .integer64 || attribute.minimum != nil || attribute.maximum != nil
        case .text:
            return attribute.minimumLength != nil || attribute.maximumLength != nil || attribute.pattern != nil
        case .bool, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag: return false
        }
    }

    /// The binding of the entity's class, found at the first use.
    var classBinding: ClassBinding {
        if let bound = binding.load(ordering: .acquiring) {
            return Unmanaged<ClassBinding>.fromOpaque(bound)._withUnsafeGuaranteedRef { $0 }
        }
        bindingLock.lock()
        defer { bindingLock.unlock() }
        if let bound = binding.load(ordering: .acquiring) {
            return Unmanaged<ClassBinding>.fromOpaque(bound).takeUnretainedValue()
        }
        let made = ClassBinding(ClassSearch.type(named: entity.className, for: entity), for: entity)
        validatesByKey.store(made.validatesByKey, ordering: .relaxed)
        straightClass.store(made.straightClass, ordering: .relaxed)
        binding.store(UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque()), ordering: .releasing)
        return made
    }

    /// Binds a class that a caller named (`Patient(context:)`, `NSFetchRequest<Patient>`) if the model's class name was
    /// not found. The former binding is never freed: another thread may be reading it.
    func bind(_ type: NSManagedObject.Type) {
        if let bound = binding.load(ordering: .acquiring) {
            let present = Unmanaged<ClassBinding>.fromOpaque(bound).takeUnretainedValue().type
            if present != NSManagedObject.self { return }
        }
        guard let name = entity.className, ClassSearch.fit(type, name) != nil else { return }
        bindingLock.lock()
        defer { bindingLock.unlock() }
        let made = ClassBinding(type, for: entity)
        validatesByKey.store(made.validatesByKey, ordering: .relaxed)
        straightClass.store(made.straightClass, ordering: .relaxed)
        binding.store(UnsafeRawPointer(Unmanaged.passRetained(made).toOpaque()), ordering: .releasing)
    }

    /// Whether accessors of a class must look up their slots.
    @inline(__always)
    func goesAround(_ type: NSManagedObject.Type) -> Bool {
        let word = unsafeBitCast(type, to: UnsafeRawPointer.self)
        return straightClass.load(ordering: .relaxed) != word && binding(of: type).slots != nil
    }

    /// The binding of a class: the bound one, or another class of which a program makes objects.
    func binding(of type: NSManagedObject.Type) -> ClassBinding {
        let bound = classBinding
        // A class without accessors works with any binding.
        if bound.type == type || type == NSManagedObject.self { return bound }
        bind(type)
        if classBinding.type == type { return classBinding }
        return otherBindings.withLock { known in
            if let made = known[ObjectIdentifier(type)] { return made }
            let made = ClassBinding(type, for: entity)
            known[ObjectIdentifier(type)] = made
            return made
        }
    }

    /// Makes an object without a context, without reading or writing anything.
    func makeObject() -> NSManagedObject { classBinding.make(description) }
}
