// What one step of a migration makes of what, in names.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Which entities and properties of a version go on in which of the next.
///
/// What a policy makes of an object is not known: all that it could read counts as going on.
struct StepFlow {
    struct Target: Hashable {
        let entity: String
        let property: String
    }
    /// For each former entity what its objects become.
    private(set) var entities: [String: Set<String>] = [:]
    /// For each former entity and property what has something of its values afterwards. Elements of composites stand beside them under
    /// their paths.
    private(set) var properties: [String: [String: Set<Target>]] = [:]
    /// Relationships whose members a mapping hands on as they are; nil where the models tell, as all are then.
    private let carried: Set<Carried>?
    /// Whether the models tell.
    var isInferred: Bool { carried == nil }
    private struct Carried: Hashable {
        let from: Target
        let to: Target
    }

    /// Whether the members of one relationship are those of another, and nobody has a say in which.
    func carriesMembers(_ from: Target, to: Target) -> Bool {
        carried?.contains(Carried(from: from, to: to)) ?? true
    }

    /// What the two models tell.
    init(_ pairs: SchemaPairs) {
        carried = nil
        for later in pairs.destination.entities {
            guard let former = pairs.source(of: later) else { continue }
            entities[former.name, default: []].insert(later.name)
            for (name, property) in pairs.sourceProperties(of: later) {
                add(property.name, of: former.name, Target(entity: later.name, property: name))
            }
            for (path, source) in pairs.sourceElements(of: later) {
                add(source, of: former.name, Target(entity: later.name, property: path))
            }
        }
    }

    /// What a mapping model says.
    init(_ mappings: [ReadMapping], from: Schema, to: Schema) {
        carried = Self.carried(mappings)
        for mapping in mappings {
            guard let later = mapping.mapping.destinationEntityName.flatMap(to.entity(named:)) else { continue }
            for former in mapping.sources.compactMap(from.entity(named:)) {
                entities[former.name, default: []].insert(later.name)
                let all = from.properties(of: former).map(\.name)
                if mapping.hasPolicy {
                    for target in to.properties(of: later) {
                        all.forEach { add($0, of: former.name, Target(entity: later.name, property: target.name)) }
                    }
                }
                for (name, uses) in mapping.uses {
                    for property in uses.all ? all : uses.keys.sorted() {
                        add(property, of: former.name, Target(entity: later.name, property: name))
                    }
                }
                addElements(of: former, to)
            }
        }
    }

    private static func carried(_ mappings: [ReadMapping]) -> Set<Carried> {
        var found: Set<Carried> = []
        for mapping in mappings where !mapping.hasPolicy {
            guard let later = mapping.mapping.destinationEntityName else { continue }
            for property in mapping.uses.keys {
                guard let name = mapping.members(property) else { continue }
                for former in mapping.sources {
                    found.insert(
                        Carried(
                            from: Target(entity: former, property: name), to: Target(entity: later, property: property))
                    )
                }
            }
        }
        return found
    }

    /// A mapping takes composites whole: an element goes where its composite goes, if that has one of its name or is none.
    private mutating func addElements(of former: Entity, _ to: Schema) {
        for slot in former.slots {
            guard let attribute = slot.composite else { continue }
            let path = slot.name.dropFirst(attribute.count)
            for target in properties[former.name]?[attribute] ?? [] {
                guard let later = to.entity(named: target.entity) else { continue }
                let name = later.composites[target.property] == nil ? target.property : target.property + path
                guard name == target.property || later.slots.contains(where: { $0.name == name }) else { continue }
                add(slot.name, of: former.name, Target(entity: target.entity, property: name))
            }
        }
    }

    private mutating func add(_ property: String, of entity: String, _ target: Target) {
        properties[entity, default: [:]][property, default: []].insert(target)
    }
}
