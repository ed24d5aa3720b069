// The prefetch key paths of a fetch request as relationships.

import CoreDataValues
import Foundation

/// A relationship to prefetch, and the steps from its targets.
struct PrefetchStep {
    let relationship: ResolvedRelationship
    var beyond: [PrefetchStep] = []

    /// The steps of key paths. Steps that key paths share are merged.
    ///
    /// - Throws: 134060 for a key path that is no chain of relationships.
    static func steps(_ keyPaths: [String], from entity: Entity, in schema: Schema) throws -> [PrefetchStep] {
        var steps: [PrefetchStep] = []
        for keyPath in keyPaths { add(try relationships(keyPath, from: entity, in: schema)[...], to: &steps) }
        return steps
    }

    private static func relationships(
        _ keyPath: String, from entity: Entity, in schema: Schema
    ) throws -> [ResolvedRelationship] {
        var why = "it does not end in a relationship."
        do throws(StoreError) {
            let path = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if let found = try schema.relationships(along: path, from: entity), !found.isEmpty { return found }
        } catch { why = error.sentence }
        throw CocoaError.coreData(
            134060,
            "The key path “\(keyPath)” of \(entity.name) cannot be prefetched: \(why) "
                + "Name relationships of the fetched entity, separated by dots.")
    }

    private static func add(_ path: ArraySlice<ResolvedRelationship>, to steps: inout [PrefetchStep]) {
        guard let relationship = path.first else { return }
        let known = steps.firstIndex { $0.relationship.index == relationship.index }
        if known == nil { steps.append(PrefetchStep(relationship: relationship)) }
        add(path.dropFirst(), to: &steps[known ?? steps.count - 1].beyond)
    }
}
