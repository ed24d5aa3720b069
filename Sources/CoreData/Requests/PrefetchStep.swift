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
        for keyPath in keyPaths {
            let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
            try take(names[...], of: keyPath, from: entity, in: schema, into: &steps)
        }
        return steps
    }

    private static func take(
        _ names: ArraySlice<Substring>, of keyPath: String, from entity: Entity, in schema: Schema,
        into steps: inout [PrefetchStep]
    ) throws {
        guard let name = names.first else { return }
        guard let index = entity.relationships.first(where: { schema[$0].name == name }) else {
            throw CocoaError.coreData(
                134060,
                "The key path “\(keyPath)” cannot be prefetched: \(entity.name) has no relationship “\(name)”. "
                    + "Name relationships of the fetched entity, separated by dots.")
        }
        let relationship = schema[index]
        let known = steps.firstIndex { $0.relationship.index == index }
        if known == nil { steps.append(PrefetchStep(relationship: relationship)) }
        try take(
            names.dropFirst(), of: keyPath, from: schema[relationship.destination], in: schema,
            into: &steps[known ?? steps.count - 1].beyond)
    }
}
