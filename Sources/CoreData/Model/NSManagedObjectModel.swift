// A model: the entities that a program and its stores agree on.

import CoreDataModelFile
import CoreDataValues
import Foundation

/// The entities of a program, from a model file or made in code.
///
/// A model can be edited until a coordinator uses it. From then on it is frozen: a change is a misuse that
/// traps. A copy can be edited again. Editing is for one thread; a frozen model may be read from all.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding {
    /// All entities. Subentities that the list leaves out are added.
    open var entities: [NSEntityDescription] {
        get { allEntities }
        set {
            requireEditable("entities")
            for entity in newValue where entity.isFrozen {
                misuse(Sentences.frozen("the entity '\(entity.name ?? "")'", property: "managedObjectModel"))
            }
            for entity in allEntities where entity.model === self { entity.model = nil }
            allEntities = newValue
            ownEntities()
        }
    }

    /// Names of this version of the model; stores record them.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable("versionIdentifiers") } }
    /// Translations of names for people, by keys such as `Entity/Book`.
    open var localizationDictionary: [String: String]?

    private var allEntities: [NSEntityDescription] = []
    /// Entities by configuration; the default configuration is not listed.
    final var configurationMembers: [String: [NSEntityDescription]] = [:]
    final var templates: [FetchTemplate] = []
    /// Those of the templates that a program set, with predicates and sort orders.
    final var templateRequests: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    /// What a model file says beside the above; its entities and names are not used.
    final var declared = SchemaDraft()

    private let lock = NSLock()
    private var frozen: FrozenModel?
    final let runtimeLock = NSLock()
    /// What the object layer made of the frozen model.
    final var runtimeCache: ModelRuntime?

    private struct FrozenModel {
        let schema: Schema
        /// By entity index.
        let entities: [NSEntityDescription]
    }

    public override init() { super.init() }

    open override var hash: Int { versionIdentifiers.hashValue }

    /// Equal when both declare the same entities, configurations and templates. Costs a walk through both models.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || saysTheSame(as: other)
    }

    public var entitiesByName: [String: NSEntityDescription] {
        Dictionary(allEntities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A copy of the model and all it holds, which can be edited.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel()
        copy.entities = linkedCopies(of: allEntities)
        copy.versionIdentifiers = versionIdentifiers
        copy.localizationDictionary = localizationDictionary
        copy.configurationNames = configurationNames
        copy.templates = templates
        copy.templateRequests = templateRequests.mapValues { $0.byName() }
        copy.declared = declared
        return copy
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// A model from an archive, which can be edited; nil for a damaged one.
    public required convenience init?(coder: NSCoder) {
        guard let archive = coder.decode(ModelArchive.self) else { return nil }
        self.init(draft: archive.draft)
        guard (try? archive.fill(self)) != nil else { return nil }
    }

    /// Archives what the model declares: entities, configurations, templates, text entries of user infos.
    ///
    /// A model that contradicts itself, or has a predicate that no text can say, leaves an archive that cannot be read.
    open func encode(with coder: NSCoder) { coder.encode(try? ModelArchive(self)) }

    // MARK: the schema

    package final var isFrozen: Bool { lock.withLock { frozen != nil } }

    /// The schema that the model stands for. Costs a check of the whole model until the model is frozen.
    ///
    /// - Throws: `SchemaError` for the first contradiction.
    package final func schema() throws(SchemaError) -> Schema {
        if let frozen = lock.withLock({ frozen }) { return frozen.schema }
        return try Schema(checking: draft())
    }

    /// Checks the model and makes it uneditable. The second and later calls only answer the schema.
    ///
    /// - Throws: `SchemaError` for the first contradiction; the model stays editable.
    @discardableResult
    package final func freeze() throws(SchemaError) -> Schema {
        lock.lock()
        defer { lock.unlock() }
        if let frozen { return frozen.schema }
        let schema = try Schema(checking: draft())
        let byName = entitiesByName
        let ordered = schema.entities.compactMap { byName[$0.name] }
        for (entity, description) in zip(schema.entities, ordered) {
            description.freeze(as: entity, of: schema)
        }
        frozen = FrozenModel(schema: schema, entities: ordered)
        return schema
    }

    /// The description of an entity of the schema, in constant time. Asking an unfrozen model is a misuse.
    package final func entityDescription(at index: EntityIndex) -> NSEntityDescription {
        guard let frozen = lock.withLock({ frozen }), index.value < frozen.entities.count else {
            misuse("Entity \(index.rawValue) was asked of a model that is not frozen or does not hold it.")
        }
        return frozen.entities[index.value]
    }

    final func ownEntities() {
        var seen = Set<ObjectIdentifier>()
        var found: [NSEntityDescription] = []
        var waiting = Array(allEntities.reversed())
        while let entity = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
            entity.model = self
            found.append(entity)
            waiting.insert(contentsOf: entity.subentities.reversed(), at: 0)
        }
        allEntities = found
    }

    final func requireEditable(_ property: String) {
        if isFrozen { misuse(Sentences.frozen("the model", property: property)) }
    }
}

extension NSManagedObjectModel: Sequence {
    /// Goes through the entities.
    public func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}

extension NSEntityDescription {
    /// Ties the description to its entity for good.
    func freeze(as entity: Entity, of schema: Schema) {
        frozenTables = PropertyTables(self)
        for property in properties { property.freeze() }
        for index in indexes { index.isFrozen = true }
        self.schema = schema
        resolved = entity
    }
}
