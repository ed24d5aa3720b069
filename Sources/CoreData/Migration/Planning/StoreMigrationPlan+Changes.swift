// What a step does to every entity and property, in words.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension StoreMigrationPlan.Change {
    /// Of what is as it was.
    static let stays = "stays"

    /// Whether anything happens.
    public var isDifference: Bool { change != Self.stays }

    /// What the models tell, in the order of the later model; removed entities come last.
    static func inferred(_ diff: SchemaDiff) -> [Self] {
        let schema = diff.pairs.destination
        let told = Dictionary(grouping: diff.changes, by: \.entity)
        let present = schema.entities.flatMap { entity -> [Self] in
            let words = told[entity.name] ?? []
            var own = words.filter { $0.property == nil }.map(\.words)
            if own.isEmpty { own = [stays] }
            let properties = Dictionary(grouping: words.filter { $0.property != nil }, by: { $0.property ?? "" })
            let names = Set(properties.keys).union(
                schema.properties(of: entity).filter { $0.entity == entity.name }.map(\.name))
            return own.map { Self(entity: entity.name, property: nil, change: $0) }
                + names.sorted().flatMap { name in
                    (properties[name]?.map(\.words) ?? [stays]).map {
                        Self(entity: entity.name, property: name, change: $0)
                    }
                }
        }
        let gone = diff.changes.filter { schema.entity(named: $0.entity) == nil }
        return present + gone.map { Self(entity: $0.entity, property: $0.property, change: $0.words) }
    }

    /// What a mapping model says, in its order; what it leaves out comes last.
    static func mapped(_ mappings: [ReadMapping], from: Schema, to: Schema) -> [Self] {
        let carried = mappings.filter(\.isCarried)
        let made = mappings.flatMap { mapping -> [Self] in
            guard let name = mapping.mapping.destinationEntityName, let later = to.entity(named: name) else {
                return []
            }
            return [Self(entity: name, property: nil, change: words(mapping))]
                + to.properties(of: later).map(\.name).sorted().map {
                    Self(entity: name, property: $0, change: words(mapping, $0))
                }
        }
        let left = from.entities.flatMap { entity -> [Self] in
            let readers = carried.filter { $0.sources.contains(entity.name) }
            if readers.isEmpty { return [Self(entity: entity.name, property: nil, change: "is not taken")] }
            if readers.contains(where: \.hasPolicy) { return [] }
            let used = readers.flatMap(\.uses.values)
            if used.contains(where: \.all) { return [] }
            let keys = used.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
            return from.properties(of: entity).map(\.name).filter { !keys.contains($0) }.sorted()
                .map { Self(entity: entity.name, property: $0, change: "is not taken") }
        }
        return made + left
    }

    private static func words(_ mapping: ReadMapping) -> String {
        let name = mapping.mapping.name ?? ""
        if mapping.sources.isEmpty { return "begins without objects by the mapping \(name)" }
        return
            "comes from \(mapping.sources.joined(separator: ", "))\(mapping.condition.map { " where \($0)" } ?? "") by the mapping \(name)"
            + (mapping.hasPolicy ? " and the policy \(mapping.mapping.entityMigrationPolicyClassName ?? "")" : "")
    }

    private static func words(_ mapping: ReadMapping, _ property: String) -> String {
        if mapping.sources.isEmpty { return "keeps its default" }
        let given = ((mapping.mapping.attributeMappings ?? []) + (mapping.mapping.relationshipMappings ?? [])).first {
            $0.name == property
        }
        if let expression = given?.valueExpression { return "is \(expression)" }
        if given == nil, let former = mapping.copied(property) { return "is $source.\(former)" }
        return mapping.hasPolicy ? "is what the policy makes it" : "keeps its default"
    }
}
