// What a store works out of its model.

import CoreDataValues
import Foundation
import Synchronization

/// Tables, statements and decode plans of a model: the same for all stores of one model and configuration, so that opening another
/// one, or the same one again, does not make them anew.
package final class StorePlan: Sendable {
    package let map: StoreMap
    package let selects: SelectCompiler
    package let writes: WriteCompiler
    package let constraints: ConstraintNames
    package let derivedTexts: DerivedTexts
    package let shapes: ShapeCache
    package let selections = SelectionCache()
    /// Of statements that count rows.
    package let counts = SelectionCache()
    /// The last metadata that were found to fit exactly. Stores of one model have equal ones but for their identity.
    private let known = Mutex<(plist: Data, metadata: StoreMetadata)?>(nil)
    private let byNames = StorePlansByNames()

    /// - Parameter configuration: the configuration whose entities the stores keep, nil for all.
    package convenience init(schema: Schema, configuration: String?, dialect: any SQLDialect) throws {
        try self.init(StoreMap(schema: schema, configuration: configuration, dialect: dialect))
    }

    private init(_ map: StoreMap) throws {
        self.map = map
        selects = SelectCompiler(map)
        writes = WriteCompiler(map)
        constraints = try ConstraintNames(map)
        derivedTexts = try DerivedTexts(map)
        shapes = ShapeCache(map)
    }

    /// The metadata of a store whose property list is one that fits the model, byte for byte; nil for any other. Reading the
    /// list costs 250,000 instructions, most of what opening a store costs beside SQLite.
    package func fitting(_ plist: Data?, uuid: String) -> StoreMetadata? {
        known.withLock { known in
            guard let known, known.plist == plist else { return nil }
            var metadata = known.metadata
            metadata.uuid = uuid
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
    package func plan(
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

    /// The plan for a file that has these R-trees alone, in which no other is looked.
    package func plan(rTrees names: Set<String>) throws -> StorePlan {
        let absent = Set(try Definitions(map).spatialIndexes().map(\.name)).subtracting(names)
        return absent.isEmpty ? self : try StorePlan(StoreMap(map, withoutRTrees: absent))
    }

    package func remember(_ plist: Data?, _ metadata: StoreMetadata) {
        guard let plist else { return }
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
