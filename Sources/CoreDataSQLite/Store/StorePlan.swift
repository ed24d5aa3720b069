// What a store works out of its model.

import CoreDataSQL
import CoreDataValues
import Foundation
import Synchronization

/// Tables, statements and decode plans of a model: the same for all stores of one model and configuration, so that opening another
/// one, or the same one again, does not make them anew.
package final class StorePlan: Sendable {
    let map: StoreMap
    let selects: SelectCompiler
    let writes: WriteCompiler
    let constraints: ConstraintNames
    let derivedTexts: DerivedTexts
    let shapes: ShapeCache
    let selections = SelectionCache()
    /// The last metadata that were found to fit exactly. Stores of one model have equal ones but for their identity.
    private let known = Mutex<(plist: Data, metadata: StoreMetadata)?>(nil)
    private let byNames = StorePlansByNames()

    /// - Parameter configuration: the configuration whose entities the stores keep, nil for all.
    package convenience init(schema: Schema, configuration: String?) throws {
        try self.init(StoreMap(schema: schema, configuration: configuration))
    }

    private init(_ map: StoreMap) throws {
        self.map = map
        selects = SelectCompiler(map)
        writes = WriteCompiler(map)
        constraints = try ConstraintNames(map)
        derivedTexts = try DerivedTexts(map)
        shapes = ShapeCache(map)
    }

    /// The metadata of a record whose property list is one that fits the model, byte for byte; nil for any other. Reading the
    /// list costs 250,000 instructions, most of what opening a store costs beside SQLite.
    func fitting(_ record: MetadataRecord) -> StoreMetadata? {
        known.withLock { known in
            guard let known, known.plist == record.plist else { return nil }
            var metadata = known.metadata
            metadata.uuid = record.uuid
            return metadata
        }
    }

    /// The plan for a file with many-to-many relationships, whose join tables may have other names than computed.
    ///
    /// - Parameters:
    ///   - definitions: those of the file's join tables.
    ///   - isOwn: whether the model is the one that the file was written with.
    ///   - columns: reads the columns of these tables by their names; asked once for each text of definitions.
    ///   - unknown: is told of relationships without a table that can be told; unless it throws they keep the computed names.
    func plan(
        joins definitions: String, isOwn: Bool, _ columns: () throws -> [String: [String]],
        unknown: (StoredJoins.Answer) throws -> Void
    ) throws -> StorePlan {
        if isOwn, let known = byNames.plan(definitions) { return known.plan ?? self }
        let computed = Set(map.joins.map { Definitions(map).join($0) })
        if computed.isSubset(of: definitions.split(separator: "\n").map(String.init)) {
            byNames.keep(nil, definitions)
            return self
        }
        let answer = StoredJoins(map.joins, schema: map.schema, tables: try columns()).resolve(byEntities: isOwn)
        if !answer.unknown.isEmpty { try unknown(answer) }
        let joins = map.joins.enumerated().map { answer.found[$0.offset] ?? $0.element }
        let plan = joins == map.joins ? nil : try StorePlan(StoreMap(map, joins: joins))
        if isOwn, answer.unknown.isEmpty { byNames.keep(plan, definitions) }
        return plan ?? self
    }

    func remember(_ record: MetadataRecord, _ metadata: StoreMetadata) {
        guard let plist = record.plist else { return }
        known.withLock { $0 = (plist, metadata) }
    }
}

/// The plans of files by the definitions of their join tables.
private final class StorePlansByNames: Sendable {
    /// nil where the names are as computed.
    struct Known: Sendable { let plan: StorePlan? }

    private static let limit = 32
    private let plans = Mutex<[String: Known]>([:])

    func plan(_ definitions: String) -> Known? { plans.withLock { $0[definitions] } }

    func keep(_ plan: StorePlan?, _ definitions: String) {
        plans.withLock { plans in
            if plans.count >= StorePlansByNames.limit { plans.removeAll() }
            plans[definitions] = Known(plan: plan)
        }
    }
}

/// Decode plans, made once for each kind of result.
final class ShapeCache: Sendable {
    private let map: StoreMap
    /// Four an entity: alone or with its descendants, with values or without.
    private let shapes: Mutex<[RowShape?]>
    /// That of all rows of an entity's tree, with values.
    private let trees: Mutex<[RowShape?]>

    init(_ map: StoreMap) {
        self.map = map
        shapes = Mutex(Array(repeating: nil, count: 4 * map.schema.entities.count))
        trees = Mutex(Array(repeating: nil, count: map.schema.entities.count))
    }

    /// All rows of the tree that an entity belongs to, with values.
    func tree(_ index: EntityIndex) throws -> RowShape {
        if let known = trees.withLock({ $0[index.value] }) { return known }
        let root = map.schema[map.schema[index].root]
        let shape = try shape(root, last: root.last, includesValues: true)
        trees.withLock { $0[index.value] = shape }
        return shape
    }

    /// - Parameter last: the entity itself, or the last of its descendants.
    func shape(_ entity: Entity, last: EntityIndex, includesValues: Bool) throws -> RowShape {
        let place = 4 * entity.index.value + (last == entity.index ? 0 : 2) + (includesValues ? 1 : 0)
        return try shapes.withLock { shapes in
            if let known = shapes[place] { return known }
            let shape = try RowShape(map: map, entity: entity, last: last, includesValues: includesValues)
            shapes[place] = shape
            return shape
        }
    }
}
