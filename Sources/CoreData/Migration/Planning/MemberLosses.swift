// Members that a migration drops although their relationship goes on.

import CoreDataValues

/// Counts what relationships lose that hold fewer members afterwards, or that led to objects which do not come along
/// or have the inverse no longer.
///
/// A to-many of which a to-one becomes keeps one member, and a member that may have one owner from then on keeps one of several. Costs the
/// reading of the objects of such relationships, of all others nothing.
struct MemberLosses {
    private let fates: Fates
    /// The entities of the first version that have objects.
    private let present: Set<String>
    private let context: NSManagedObjectContext
    /// The members that have an owner already, of relationships whose members keep one.
    private var claimed: [RelationshipIndex: Set<NSManagedObjectID>] = [:]

    /// - Parameter context: over the store as it is.
    init(_ fates: Fates, _ present: Set<String>, _ context: NSManagedObjectContext) {
        (self.fates, self.present, self.context) = (fates, present, context)
    }

    /// What the objects of an entity lose, without those of sub-entities.
    mutating func losses(of entity: Entity) throws -> [StoreMigrationPlan.Loss] {
        guard let source = fates.versions.first else { return [] }
        return try entity.relationships.map { source[$0] }.compactMap { relationship in
            guard !relationship.description.isTransient,
                let limits = fresh(relationship, entity, source)
            else { return nil }
            let names = relationship.destinations.map { source[EntityIndex(rawValue: $0)].name }
            let left = Set(
                names.filter { present.contains($0) && !fates.leads(entity.name, relationship.name, to: $0) })
            guard !left.isEmpty || limits != Fates.Limits() else { return nil }
            return try .init(
                entity: entity.name, property: relationship.name, rows: count(relationship, entity, limits, left))
        }
    }

    /// The limits that it did not have; nil for one that does not go on. What both sides lose is told of the one whose owners keep one.
    private func fresh(_ relationship: ResolvedRelationship, _ entity: Entity, _ source: Schema) -> Fates.Limits? {
        guard var limits = fates.limits(entity.name, relationship.name) else { return nil }
        if !relationship.isToMany { limits.ownersHaveOne = false }
        if let inverse = source.inverse(of: relationship.name, entity) {
            let hadOne = relationship.inverse.map { !source[$0].isToMany } ?? false
            if hadOne || fates.goesOn(inverse.entity, inverse.property) { limits.membersHaveOne = false }
        } else if relationship.isToMany {
            limits.membersHaveOne = false
        }
        return limits
    }

    /// - Parameter left: the entities whose objects it leads to no longer.
    private mutating func count(
        _ relationship: ResolvedRelationship, _ entity: Entity, _ limits: Fates.Limits, _ left: Set<String>
    ) throws -> Int {
        var lost = 0
        try context.forEachBatch(of: entity.name, with: relationship.isToMany ? [relationship.name] : []) { object in
            var members = object.objectIDs(forRelationshipNamed: relationship.name)
            let all = members.count
            members.removeAll { left.contains($0.entity.name ?? "") }
            if limits.ownersHaveOne { members = Array(members.prefix(1)) }
            if limits.membersHaveOne {
                members = members.filter { claimed[relationship.index, default: []].insert($0).inserted }
            }
            lost += all - members.count
        }
        return lost
    }
}

extension NSManagedObjectContext {
    /// Reads all objects of an entity, without those of sub-entities, a thousand at a time; then the context is empty.
    ///
    /// - Parameter relationships: whose targets are read along.
    final func forEachBatch(
        of entity: String, with relationships: [String] = [], _ body: (NSManagedObject) throws -> Void
    ) throws {
        let all = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        all.resultType = .managedObjectIDResultType
        all.includesSubentities = false
        let ids = try fetch(all)
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "SELF IN %@", Array(ids[start..<min(start + 1000, ids.count)]))
            request.returnsObjectsAsFaults = false
            request.relationshipKeyPathsForPrefetching = relationships
            for object in try fetch(request) { try body(object) }
            reset()
        }
    }
}
