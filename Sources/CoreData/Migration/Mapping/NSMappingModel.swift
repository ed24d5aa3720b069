// What becomes of the objects of one model in another one.

import CoreDataValues
import Foundation

/// The entity mappings that lead from one model to another.
open class NSMappingModel: NSObject {
    /// In the order in which they are taken.
    open var entityMappings: [NSEntityMapping]! = []

    public override init() { super.init() }

    /// The mappings by their names; of several of one name the first.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The mapping model that the difference of two models tells: what stayed, was renamed, added and removed.
    ///
    /// Costs a walk through both models.
    /// - Throws: 134190 for a difference that leaves open what becomes of values, with entity and property in words and in the userInfo;
    ///   134020 for a model that contradicts itself.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        do {
            let plan = try MigrationPlan(SchemaDiff(from: sourceModel.schema(), to: destinationModel.schema()))
            return InferredMapping(plan.diff.pairs, sourceModel, destinationModel).model()
        } catch { throw CocoaError.presenting(error) }
    }

    /// How many hashes of the mappings are those of the entities, where the mappings were made for these versions of both models: all
    /// are, or cannot be compared (`VersionHash.isForeign`), or nothing is said of them. nil where they were made for others.
    final func fit(_ source: Schema, _ destination: Schema) -> Int? {
        let mappings = entityMappings ?? []
        if mappings.isEmpty { return nil }
        var count = 0
        for mapping in mappings {
            guard let from = Self.fit(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source),
                let to = Self.fit(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
            else { return nil }
            count += from + to
        }
        return count
    }

    /// Whether two mapping models have the same mappings, in whatever words their user infos have.
    final func says(as other: NSMappingModel) -> Bool {
        let (own, others) = (entityMappings ?? [], other.entityMappings ?? [])
        return own.count == others.count && zip(own, others).allSatisfy { $0.summary == $1.summary }
    }

    private static func fit(_ name: String?, _ hash: Data?, _ schema: Schema) -> Int? {
        guard let name else { return 0 }
        guard let entity = schema.entity(named: name) else { return nil }
        guard let hash else { return 0 }
        return hash == entity.versionHash ? 1 : VersionHash.isForeign(hash, for: entity) ? 0 : nil
    }
}
