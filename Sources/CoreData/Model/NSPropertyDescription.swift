// What all properties of an entity have in common.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One property of an entity.
///
/// Editable until a coordinator uses the model; after that any change is a misuse that traps.
open class NSPropertyDescription: NSObject, NSCopying, NSSecureCoding {
    open var name: String = "" { willSet { requireEditable("name") } }
    /// Whether the value may be nil when the object is saved.
    open var isOptional: Bool = true { willSet { requireEditable("isOptional") } }
    /// Whether the value is left out of the store.
    open var isTransient: Bool = false { willSet { requireEditable("isTransient") } }
    /// Text entries travel with the model file; other values stay with this description and its copies.
    open var userInfo: [AnyHashable: Any]? { willSet { requireEditable("userInfo") } }
    /// Asks for an index over this property alone. Newer models list `NSEntityDescription.indexes` instead.
    open var isIndexed: Bool = false { willSet { requireEditable("isIndexed") } }
    /// A flag for tools; there is no Spotlight here.
    open var isIndexedBySpotlight: Bool = false { willSet { requireEditable("isIndexedBySpotlight") } }
    /// A flag for tools; there are no external records here.
    open var isStoredInExternalRecord: Bool = false { willSet { requireEditable("isStoredInExternalRecord") } }
    /// A text that enters the version hash, to mark a change that the hash would not show.
    open var versionHashModifier: String? { willSet { requireEditable("versionHashModifier") } }
    /// The name that the property had in the version before; its name unless set.
    open var renamingIdentifier: String? {
        get { declaredRenamingIdentifier ?? name }
        set {
            requireEditable("renamingIdentifier")
            declaredRenamingIdentifier = newValue
        }
    }

    /// The predicates that a value must satisfy: those that the program set, else what the model says in bounds, lengths and patterns.
    open var validationPredicates: [NSPredicate] { programPredicates }
    /// The messages that belong to the predicates, in the same order: texts of the program, or numbers of error codes.
    open var validationWarnings: [Any] { programWarnings }
    /// As set by the program.
    private(set) final var programPredicates: [NSPredicate] = []
    private(set) final var programWarnings: [Any] = []

    /// The entity that declares the property; nil while there is none. Weak: the entity owns its properties.
    @Unretained package internal(set) var owner: NSEntityDescription?
    package internal(set) final var isFrozen = false
    final var declaredRenamingIdentifier: String?
    final var location: SourceLocation?

    public override init() { super.init() }

    open override var hash: Int { name.hashValue }

    /// Equal when both are properties of one kind, of entities of one name, that declare the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return self === other || saysTheSame(as: other)
    }

    /// The entity that declares the property. Asking a property that belongs to none is a misuse.
    open var entity: NSEntityDescription {
        guard let owner else {
            misuse(
                Sentences.ownerless(
                    "The property '\(name)'", owner: "entity",
                    cure: "Add it to an entity's `properties` first."))
        }
        return owner
    }

    /// The hash that the property adds to its entity's; empty for a property that adds none or is incomplete.
    open var versionHash: Data { Data() }

    /// Replaces the predicates that values are validated with, those of the model file included.
    ///
    /// - Parameters:
    ///   - validationPredicates: what every value must satisfy; nil for nothing.
    ///   - validationWarnings: one message for each predicate, or nil.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        requireEditable("validationPredicates")
        programPredicates = validationPredicates ?? []
        programWarnings = validationWarnings ?? []
    }

    /// A copy that belongs to no entity and can be edited.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = emptyCopy()
        copy.copyProperties(of: self)
        return copy
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// A property from an archive, which belongs to no entity; nil for a damaged one.
    public required convenience init?(coder: NSCoder) {
        guard let made = try? coder.decode(ModelArchive.self)?.property() else { return nil }
        self.init()
        copyProperties(of: made)
    }

    /// Archives the property. A relationship forgets where it leads: archive the model to keep that.
    open func encode(with coder: NSCoder) { coder.encode(try? ModelArchive(self)) }

    /// An unconfigured description of the same class.
    func emptyCopy() -> NSPropertyDescription { NSPropertyDescription() }

    /// Takes over everything but the owner.
    func copyProperties(of other: NSPropertyDescription) {
        name = other.name
        isOptional = other.isOptional
        isTransient = other.isTransient
        userInfo = other.userInfo
        isIndexed = other.isIndexed
        isIndexedBySpotlight = other.isIndexedBySpotlight
        isStoredInExternalRecord = other.isStoredInExternalRecord
        versionHashModifier = other.versionHashModifier
        declaredRenamingIdentifier = other.declaredRenamingIdentifier
        programPredicates = other.programPredicates
        programWarnings = other.programWarnings
        location = other.location
    }

    /// Marks the property and what it holds as no longer editable.
    func freeze() { isFrozen = true }

    final func requireEditable(_ property: String) {
        if isFrozen { misuse(Sentences.frozen(sentenceName, property: property)) }
    }

    /// `Entity.property`, for sentences.
    final var sentenceName: String { "\(owner?.name ?? "(no entity)").\(name)" }
}

/// The entries of a user info that a model file can carry.
func textEntries(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
    var entries: [String: String] = [:]
    for (key, value) in userInfo ?? [:] {
        if let key = key as? String, let value = value as? String { entries[key] = value }
    }
    return entries
}
