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

    /// Whether the mappings were made for these versions of the entities: their hashes are these, or nothing is said of them.
    final func fits(_ source: [String: Data], _ destination: [String: Data]) -> Bool {
        let mappings = entityMappings ?? []
        return !mappings.isEmpty
            && mappings.allSatisfy { mapping in
                Self.fits(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source)
                    && Self.fits(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
            }
    }

    /// Whether two mapping models have the same mappings, in whatever words their user infos have.
    final func says(as other: NSMappingModel) -> Bool {
        let (own, others) = (entityMappings ?? [], other.entityMappings ?? [])
        return own.count == others.count && zip(own, others).allSatisfy { $0.summary == $1.summary }
    }

    private static func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
        guard let name else { return true }
        guard let known = hashes[name] else { return false }
        return hash == nil || hash == known
    }
}
