// An entity mapping as what it reads.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An entity mapping as what it reads.
struct ReadMapping {
    struct Uses {
        /// The properties of the source object that are named.
        var keys: Set<String> = []
        /// Whether it is handed on as a whole.
        var all = false
    }
    let mapping: NSEntityMapping
    /// What carries it out; nil for one that cannot be carried out here.
    let step: MappingStep?
    /// The entities whose objects it reads.
    let sources: [String]
    /// Which of them; nil for all, or where it is not told in a predicate.
    let condition: String?
    /// By the destination's properties.
    let uses: [String: Uses]

    var hasPolicy: Bool { !["", "NSEntityMigrationPolicy"].contains(mapping.entityMigrationPolicyClassName ?? "") }
    var isCarried: Bool { mapping.destinationEntityName != nil && !sources.isEmpty }

    init(_ mapping: NSEntityMapping, _ step: MappingStep?, _ schema: Schema) {
        self.mapping = mapping
        self.step = step
        let isEmpty = mapping.mappingType == .addEntityMappingType || mapping.mappingType == .removeEntityMappingType
        let chosen = ReadMapping.choice(step?.source)
        let name = isEmpty ? nil : chosen?.entity ?? mapping.sourceEntityName
        let root = name.flatMap(schema.entity(named:))
        let tree =
            root.map { root in chosen?.isDeep == true ? schema.entities.filter { $0.isKind(of: root) } : [root] } ?? []
        sources = tree.map(\.name)
        condition = chosen?.condition
        var uses: [String: Uses] = [:]
        for property in (step?.attributes ?? []) + (step?.relationships ?? []) {
            uses[property.name] = ReadMapping.uses(property.value)
        }
        self.uses = uses
    }

    /// What a source expression of the usual form fetches.
    private static func choice(_ value: MappingValue?) -> (entity: String, condition: String?, isDeep: Bool)? {
        guard case .fetch(.manager(let function, let arguments), _, _)? = value,
            function == .request || function == .fullRequest,
            case .constant(let entity as String)? = arguments.first, arguments.count > 1,
            case .constant(let text as String) = arguments[1]
        else { return nil }
        var isDeep = false
        if arguments.count > 2, case .constant(let flag) = arguments[2] {
            isDeep = (flag as? NSNumber)?.boolValue ?? (flag as? Bool) ?? false
        }
        return (entity, ["", "TRUEPREDICATE"].contains(text) ? nil : text, isDeep)
    }

    private static func uses(_ value: MappingValue) -> Uses {
        switch value {
        case .constant, .variable(.manager), .variable(.destination), .variable(.entityMapping),
            .variable(.propertyMapping), .variable(.entityPolicy):
            return Uses()
        case .variable(.source): return Uses(all: true)
        case .path(.variable(.source), let path): return Uses(keys: [ReadMapping.key(path)])
        case .path(let target, _): return uses(target)
        case .manager(.related, let arguments):
            guard case .constant(let name as String)? = arguments.first else { return union(arguments) }
            return Uses(keys: [name])
        case .manager(_, let arguments), .policy(_, let arguments): return union(arguments)
        case .fetch(let request, let context, let count): return union([request, context, count])
        case .expression(let computed):
            var found = union(computed.parts.map(\.value))
            _ = computed.expression.replacing { part in
                if part.expressionType == .keyPath { found.keys.insert(ReadMapping.key(part.keyPath)) }
                if part.expressionType == .evaluatedObject { found.all = true }
                return nil
            }
            return found
        }
    }

    private static func union(_ values: [MappingValue]) -> Uses {
        values.map(uses).reduce(into: Uses()) { all, one in
            all.keys.formUnion(one.keys)
            all.all = all.all || one.all
        }
    }

    private static func key(_ path: String) -> String {
        path.split(separator: ".").first { !$0.hasPrefix("@") }.map(String.init) ?? path
    }

    /// `$source.name` alone, or what became of its members: the property of the source that is taken as it is.
    func copied(_ property: String) -> String? {
        guard
            let value = ((step?.attributes ?? []) + (step?.relationships ?? [])).first(where: { $0.name == property })?
                .value
        else { return nil }
        switch value {
        case .path(.variable(.source), let path): return path.contains(".") || path.hasPrefix("@") ? nil : path
        case .manager(.related, let arguments):
            guard case .constant(let name as String)? = arguments.first else { return nil }
            return name
        case .constant, .variable, .path, .manager, .policy, .fetch, .expression: return nil
        }
    }

    /// The relationship of the source whose members a property has, whatever they became; nil where an expression makes something else.
    func members(_ property: String) -> String? {
        guard let value = step?.relationships.first(where: { $0.name == property })?.value else { return nil }
        switch value {
        case .manager(.destinations, let arguments):
            guard arguments.count == 2, case .path(.variable(.source), let path) = arguments[1] else { return nil }
            return path.contains(".") || path.hasPrefix("@") ? nil : path
        case .manager(.related, _): return copied(property)
        case .constant, .variable, .path, .manager, .policy, .fetch, .expression: return nil
        }
    }
}
