// A frozen model as the object layer uses it.

import CoreDataFoundation
import CoreDataSQL
import CoreDataSQLite
import CoreDataValues
import Foundation
import Synchronization

/// The schema of a model in use, with what objects need of each entity. Made once a model.
final class ModelRuntime: @unchecked Sendable {
    let schema: Schema
    /// The model, which owns this and the entity descriptions.
    unowned let model: NSManagedObjectModel
    private(set) var infos: [EntityInfo] = []
    /// The root of each entity, by number.
    let roots: UnsafeMutablePointer<UInt16>
    /// Whether a save has values to transform.
    let hasTransformables: Bool
    private let acyclic: [Bool]
    /// Whether a relationship has no inverse, so that deleting its target leaves it pointing at nothing.
    let hasOneWayRelationships: Bool
    /// Whether a deleted object keeps the target of a to-one, as its rule is to do nothing.
    let keepsTargets: Bool
    private let classes = Mutex<[ObjectIdentifier: ClassMeaning]>([:])
    private let named = Mutex(RecentEntities())
    /// By configuration; the plan of all entities has the empty name.
    private let storePlans = Mutex<[String: StorePlan]>([:])
    private static let used = Mutex<[WeakRuntime]>([])

    /// The entity of a class, and how well it names the class.
    private struct ClassMeaning {
        let info: EntityInfo
        let fit: ClassSearch.Fit?
    }

    private struct WeakRuntime: @unchecked Sendable {
        @Unretained var runtime: ModelRuntime?
        @Unretained var model: NSManagedObjectModel?
    }

    init(schema: Schema, model: NSManagedObjectModel) {
        self.schema = schema
        self.model = model
        roots = .allocate(capacity: max(1, schema.entities.count))
        for (index, entity) in schema.entities.enumerated() { (roots + index).initialize(to: entity.root.rawValue) }
        let acyclic = ModelRuntime.acyclicRelationships(schema)
        self.acyclic = acyclic
        hasOneWayRelationships = schema.relationships.contains { $0.inverse == nil }
        keepsTargets = schema.relationships.contains { !$0.isToMany && $0.description.deleteRule == .noAction }
        let infos = schema.entities.map { entity in
            EntityInfo(
                entity: entity, schema: schema, description: model.entityDescription(at: entity.index),
                acyclic: acyclic)
        }
        self.infos = infos
        hasTransformables = ModelRuntime.hasTransformables(infos)
        ModelRuntime.used.withLock { $0 = $0.filter { $0.runtime != nil } + [WeakRuntime(runtime: self, model: model)] }
    }

    deinit { roots.deallocate() }

    /// Whether holding targets along this to-one can never close a cycle of objects (I-4).
    func isAcyclic(_ relationship: RelationshipIndex) -> Bool { acyclic[relationship.rawValue] }

    /// Takes to-ones in order as long as the graph of root entities that they form has no cycle.
    private static func acyclicRelationships(_ schema: Schema) -> [Bool] {
        var edges: [EntityIndex: Set<EntityIndex>] = [:]
        func reaches(_ from: EntityIndex, _ to: EntityIndex) -> Bool {
            var seen: Set<EntityIndex> = [from]
            var open = [from]
            while let next = open.popLast(), next != to {
                open += edges[next, default: []].filter { seen.insert($0).inserted }
            }
            return seen.contains(to)
        }
        return schema.relationships.map { relationship in
            guard !relationship.isToMany else { return false }
            let source = schema[relationship.owner].root
            let destination = schema[relationship.destination].root
            guard !reaches(destination, source) else { return false }
            edges[source, default: []].insert(destination)
            return true
        }
    }

    /// How SQLite stores keep a configuration's entities, worked out for the first of them.
    func storePlan(_ configuration: String?) throws -> StorePlan {
        if let known = storePlans.withLock({ $0[configuration ?? ""] }) { return known }
        let made = try StorePlan(schema: schema, configuration: configuration)
        storePlans.withLock { $0[configuration ?? ""] = made }
        return made
    }

    /// The entity of a name.
    func info(named name: String) -> EntityInfo? {
        if let known = named.withLock({ $0[name] }) { return known }
        guard let index = schema.index(ofEntity: name) else { return nil }
        named.withLock { $0.insert(infos[index.value], for: name) }
        return infos[index.value]
    }

    /// The entity of a class: by the class's name in the model. A subclass without an entity of its own has none.
    func info(for type: NSManagedObject.Type) -> EntityInfo? { meaning(of: type)?.info }

    private func meaning(of type: NSManagedObject.Type) -> ClassMeaning? {
        if let known = classes.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        guard let info = find(type) else { return nil }
        let meaning = ClassMeaning(info: info, fit: info.entity.className.flatMap { ClassSearch.fit(type, $0) })
        classes.withLock { $0[ObjectIdentifier(type)] = meaning }
        return meaning
    }

    /// Of several entities that can mean the class the one that does.
    private func find(_ type: NSManagedObject.Type) -> EntityInfo? {
        guard type != NSManagedObject.self else { return nil }
        let fitting = infos.filter { $0.entity.className.flatMap { ClassSearch.fit(type, $0) } != nil }
        let info =
            fitting.first { $0.classBinding.type == type }
            ?? fitting.first { $0.classBinding.type == NSManagedObject.self } ?? fitting.first
            ?? infos.first { $0.entity.name == String(describing: type) }
        info?.bind(type)
        return info
    }

    /// A model in use that has an entity of a class, for a caller who must keep it from going meanwhile.
    ///
    /// Of several the latest one of those that name the class best: another program part's model may have an entity whose class has
    /// the same name in another module, or one of the same name without a class.
    static func inUse(for type: NSManagedObject.Type) -> (
        model: NSManagedObjectModel, runtime: ModelRuntime, info: EntityInfo
    )? {
        var best: (model: NSManagedObjectModel, runtime: ModelRuntime, meaning: ClassMeaning)?
        for entry in used.withLock({ $0 }).reversed() {
            guard let model = entry.model, let runtime = entry.runtime, let meaning = runtime.meaning(of: type) else {
                continue
            }
            if meaning.fit == .wholeName { return (model, runtime, meaning.info) }
            if best == nil || best?.meaning.fit == nil && meaning.fit != nil { best = (model, runtime, meaning) }
        }
        return best.map { ($0.model, $0.runtime, $0.meaning.info) }
    }
}

/// Entities by where the texts of their names lie: a program's literals lie where they lay, and need no hashing (300 instructions).
private struct RecentEntities {
    private static let count = 16
    private var entries: ContiguousArray<(name: String, info: EntityInfo)?> = .init(repeating: nil, count: Self.count)

    /// What a text is made of. Two that agree in this are equal as long as one is kept; two that do not may be equal still.
    @inline(__always)
    private static func words(_ text: String) -> (UInt64, UInt64) { unsafeBitCast(text, to: (UInt64, UInt64).self) }

    @inline(__always)
    private static func place(_ words: (UInt64, UInt64)) -> Int {
        Int(truncatingIfNeeded: ((words.0 ^ words.1) &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }

    subscript(name: String) -> EntityInfo? {
        let words = RecentEntities.words(name)
        guard let entry = entries[RecentEntities.place(words)], RecentEntities.words(entry.name) == words else {
            return nil
        }
        return entry.info
    }

    mutating func insert(_ info: EntityInfo, for name: String) {
        entries[RecentEntities.place(RecentEntities.words(name))] = (name, info)
    }
}
