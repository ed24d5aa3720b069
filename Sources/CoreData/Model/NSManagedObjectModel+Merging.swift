// Models made of models.

import CoreDataValues
import Foundation

extension NSManagedObjectModel {
    /// A model of copies of all entities, which can be edited. nil when two models declare different entities
    /// of one name; `init(merging:)` says which.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        do { try self.init(merging: models ?? []) } catch { return nil }
    }

    /// A model of copies of all entities. Entities that several models declare alike are taken once.
    ///
    /// - Throws: `CocoaError` 134020 naming the first entity that two models declare differently.
    public convenience init(merging models: [NSManagedObjectModel]) throws {
        var chosen: [String: NSEntityDescription] = [:]
        var order: [NSEntityDescription] = []
        for entity in models.flatMap(\.entities) {
            let name = entity.name ?? ""
            guard let present = chosen[name] else {
                chosen[name] = entity
                order.append(entity)
                continue
            }
            guard present === entity || present.versionHash == entity.versionHash else {
                throw CocoaError(
                    SchemaError(
                        "Two of the models to be merged declare the entity '\(name)' differently\(Self.places(present, entity)). "
                            + "Rename one of them or leave one of the models out.",
                        entity: name, location: entity.location))
            }
        }
        self.init()
        take(order, from: models)
    }

    /// Where two declarations stand; nothing of models made in code.
    private static func places(_ first: NSEntityDescription, _ second: NSEntityDescription) -> String {
        guard let first = first.location, let second = second.location else { return "" }
        return ", \(first.path):\(first.line) and \(second.path):\(second.line)"
    }

    /// A model of the entities, from any of the models, that a store was written with; nil when one is
    /// missing.
    public convenience init?(
        byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
    ) {
        guard let wanted = metadata["NSStoreModelVersionHashes"] as? [String: Data], !wanted.isEmpty else {
            return nil
        }
        var chosen: [NSEntityDescription] = []
        let known = models.map { (model: $0, hashes: $0.entityVersionHashesByName) }
        for (name, hash) in wanted.sorted(by: { $0.key < $1.key }) {
            let model = known.first { $0.hashes[name] == hash }?.model
            guard let entity = model?.entitiesByName[name] else { return nil }
            chosen.append(entity)
        }
        self.init()
        take(chosen, from: models)
    }

    private func take(_ chosen: [NSEntityDescription], from models: [NSManagedObjectModel]) {
        let names = Set(chosen.compactMap(\.name))
        entities = linkedCopies(of: chosen)
        versionIdentifiers = models.reduce(into: []) { $0.formUnion($1.versionIdentifiers) }
        // A store of several models was written with a version of each.
        declared.versions = models.count == 1 ? models[0].declared.versions : nil
        for model in models {
            for (configuration, members) in model.configurationNames {
                let present = configurationNames[configuration] ?? []
                configurationNames[configuration] =
                    present + members.filter { names.contains($0) && !present.contains($0) }
            }
            for template in model.templates where names.contains(template.entityName) {
                setFetchTemplate(template, forName: template.name)
                templateRequests[template.name] = model.templateRequests[template.name]?.byName()
            }
            for composite in model.declared.composites
            where !declared.composites.contains(where: { $0.name == composite.name }) {
                declared.composites.append(composite)
            }
            if let words = model.localizationDictionary {
                localizationDictionary = (localizationDictionary ?? [:]).merging(words) { first, _ in first }
            }
        }
    }
}

/// Copies of entities that refer to each other as the originals do. References to other entities are dropped.
func linkedCopies(of entities: [NSEntityDescription]) -> [NSEntityDescription] {
    let copies = entities.compactMap { $0.copy() as? NSEntityDescription }
    let byName = Dictionary(copies.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    for (original, copy) in zip(entities, copies) {
        copy.subentities = original.subentities.compactMap { byName[$0.name ?? ""] }
    }
    for copy in copies {
        for case let relationship as NSRelationshipDescription in copy.properties {
            let inverse = relationship.inverseRelationship
            relationship.destinationEntity = relationship.destinationEntity.flatMap { byName[$0.name ?? ""] }
            relationship.inverseRelationship = inverse.flatMap { inverse in
                byName[inverse.owner?.name ?? ""]?.relationshipsByName[inverse.name]
            }
        }
        for element in copy.indexes.flatMap(\.elements) { element.link(to: copy) }
    }
    return copies
}
