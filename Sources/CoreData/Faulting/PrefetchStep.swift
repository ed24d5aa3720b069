// The key paths of a fetch request as relationships to read beforehand.

import CoreDataValues
import Foundation

/// A relationship that a fetch reads beforehand, and the steps that begin at its targets.
struct PrefetchStep {
    let relationship: ResolvedRelationship
    var beyond: [PrefetchStep] = []

    /// The steps of key paths. What paths have in common is one step.
    ///
    /// - Throws: 134060 for a path that is no chain of relationships.
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
