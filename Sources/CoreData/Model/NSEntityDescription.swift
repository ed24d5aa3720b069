// One entity of a model.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One entity: a name, a class, properties.
///
/// Editable until a coordinator uses its model; after that any change is a misuse that traps.
open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding {
    open var name: String? { willSet { requireEditable("name") } }
    /// The class of the entity's objects: with its module once it is found, else as the model says it.
    ///
    /// A name is enough, in whatever module the class lies; with a module or the types around it (`Module.Person`, `Box.Person`)
    /// it says which one. What is found neither way is registered with `NSManagedObjectModel.setClass(_:forClassName:)`.
    open var managedObjectClassName: String! {
        get {
            let type = runtimeInfo?.classBinding.type ?? ClassSearch.type(named: declaredClassName)
            return type == NSManagedObject.self ? declaredClassName ?? "NSManagedObject" : ClassSearch.name(of: type)
        }
        set {
            requireEditable("managedObjectClassName")
            declaredClassName = newValue == "NSManagedObject" ? nil : newValue
        }
    }
    open var isAbstract: Bool = false { willSet { requireEditable("isAbstract") } }
    /// The entities that inherit from this one.
    open var subentities: [NSEntityDescription] = [] {
        willSet { requireEditable("subentities") }
        didSet { ownSubentities(insteadOf: oldValue) }
    }
    /// The entity's own properties. Inherited ones stand in `propertiesByName`.
    open var properties: [NSPropertyDescription] = [] {
        willSet { requireEditable("properties") }
        didSet { ownProperties(insteadOf: oldValue) }
    }
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireEditable("indexes") }
        didSet { ownIndexes() }
    }
    /// Each constraint is a list of attribute names or of attribute descriptions.
    open var uniquenessConstraints: [[Any]] = [] { willSet { requireEditable("uniquenessConstraints") } }
    /// Indexes over several attributes, each a list of names or of property descriptions: what `indexes` took the place of.
    ///
    /// A store keeps them beside `indexes`. Those of a model file stand in `indexes`.
    open var compoundIndexes: [[Any]] = [] { willSet { requireEditable("compoundIndexes") } }
    /// Text entries travel with the model file; other values stay with this description and its copies.
    open var userInfo: [AnyHashable: Any]? { willSet { requireEditable("userInfo") } }
    open var versionHashModifier: String? { willSet { requireEditable("versionHashModifier") } }
    /// The name that the entity had in the version before; its name unless set.
    open var renamingIdentifier: String? {
        get { declaredRenamingIdentifier ?? name }
        set {
            requireEditable("renamingIdentifier")
            declaredRenamingIdentifier = newValue
        }
    }

    /// The entity that this one inherits from. Weak: the parent owns its children.
    open internal(set) var superentity: NSEntityDescription? {
        get { parent }
        set { parent = newValue }
    }
    @Unretained private var parent: NSEntityDescription?

    /// The model that owns the entity; nil while there is none. Weak.
    @Unretained package internal(set) final var model: NSManagedObjectModel?
    /// The entity of the schema that this one stands for; nil until the model is frozen.
    package internal(set) final var resolved: Entity?
    /// What the object layer knows of the entity, once the model is in use; the model owns it.
    final var runtimeInfo: EntityInfo? {
        didSet { facts = runtimeInfo.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) } }
    }
    /// The same for objects that are made, which would retain it one after the other.
    private(set) final var facts: UnsafeRawPointer?
    /// The schema of the frozen model; nil until then.
    package internal(set) final var schema: Schema?
    final var declaredClassName: String?
    final var declaredRenamingIdentifier: String?
    final var codeGeneration: String?
    final var location: SourceLocation?
    final var constraintLocations: [SourceLocation] = []
    final var frozenTables: PropertyTables?

    public override init() { super.init() }

    open override var hash: Int { name.hashValue }

    /// Equal when both declare the same, whatever models they belong to.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other || saysTheSame(as: other)
    }

    package final var isFrozen: Bool { resolved != nil }

    /// The model that owns the entity. Asking an entity that belongs to none is a misuse.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else {
            misuse(
                Sentences.ownerless(
                    "The entity '\(name ?? "")'", owner: "model",
                    cure: "Add it to a model's `entities` and keep the model."))
        }
        return model
    }

    /// A copy with copies of the properties, which belongs to no model and can be edited.
    ///
    /// Destinations and inverses still point into the old model; copying the whole model moves them.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSEntityDescription()
        copy.copyProperties(of: self)
        return copy
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// An entity from an archive, which belongs to no model; nil for a damaged one.
    public required convenience init?(coder: NSCoder) {
        guard let made = try? coder.decode(ModelArchive.self)?.entities().first else { return nil }
        self.init()
        copyProperties(of: made)
    }

    /// Archives the entity without its parents and children. Its relationships forget where they lead: archive the model to keep
    /// that.
    open func encode(with coder: NSCoder) { coder.encode(try? ModelArchive(self)) }

    /// Whether the entity is the other one or inherits from it. Constant time in a frozen model.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        if let mine = resolved, let other = entity.resolved, schema === entity.schema {
            return mine.isKind(of: other)
        }
        return lineage.contains { $0 === entity }
    }

    /// The hash that stores record for the entity. Empty without a name and in a model that contradicts
    /// itself.
    open var versionHash: Data {
        if let resolved { return resolved.versionHash }
        guard let name else { return Data() }
        return model?.entityVersionHashesByName[name] ?? Data()
    }

    /// The entity and all it inherits from, nearest first. Ends at a cycle.
    final var lineage: [NSEntityDescription] {
        var found: [NSEntityDescription] = []
        var next: NSEntityDescription? = self
        while let entity = next, !found.contains(where: { $0 === entity }) {
            found.append(entity)
            next = entity.superentity
        }
        return found
    }

    open override var description: String { "<NSEntityDescription: \(summary)>" }

    private func copyProperties(of other: NSEntityDescription) {
        name = other.name
        declaredClassName = other.declaredClassName
        isAbstract = other.isAbstract
        userInfo = other.userInfo
        versionHashModifier = other.versionHashModifier
        declaredRenamingIdentifier = other.declaredRenamingIdentifier
        codeGeneration = other.codeGeneration
        location = other.location
        constraintLocations = other.constraintLocations
        properties = other.properties.compactMap { $0.copy() as? NSPropertyDescription }
        uniquenessConstraints = other.constraintNames
        compoundIndexes = other.compoundNames
        indexes = other.indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        indexes.flatMap(\.elements).forEach { $0.link(to: self) }
    }

    private func ownSubentities(insteadOf old: [NSEntityDescription]) {
        for entity in old where entity.superentity === self { entity.superentity = nil }
        for entity in subentities { entity.superentity = self }
        model?.ownEntities()
    }

    private func ownProperties(insteadOf old: [NSPropertyDescription]) {
        for property in old where property.owner === self { property.owner = nil }
        for property in properties { property.owner = self }
    }

    private func ownIndexes() {
        for index in indexes { index.entity = self }
    }

    final func requireEditable(_ property: String) {
        if isFrozen { misuse(Sentences.frozen("the entity '\(name ?? "")'", property: property)) }
    }
}
