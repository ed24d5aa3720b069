// Which classes are made of a model, and what stands in each.

import CoreDataValues

/// One class to be made.
struct ClassPlan {
    enum Kind { case definition, category }
    let kind: Kind
    let entity: Entity
    /// As Swift declares it, without module.
    let name: String
    /// As the model says it, without a leading dot.
    let modelName: String
    /// The class that it inherits from.
    let superclass: String
    /// Attributes and relationships in the order of their names: its own, and those of ancestors without a class.
    var attributes: [Attribute] = []
    var relationships: [ResolvedRelationship] = []
    var fetchedProperties: [FetchedProperty] = []
    var isIdentifiable = false
    /// The slots in order with the accessors that they have, then the to-manys: what `_managedKeys` of a class says.
    let keys: [String]
}

/// Finds out the classes of a model.
struct ClassPlanner {
    let schema: Schema
    let options: GenerationOptions

    /// - Throws: `SchemaError` at the declaration for what no Swift class can have.
    func plans() throws(SchemaError) -> [ClassPlan] {
        var plans: [ClassPlan] = []
        var owners: [String: Entity] = [:]
        for entity in schema.entities {
            guard let kind = kind(of: entity), let name = className(of: entity) else { continue }
            if let owner = owners[name.swift] {
                try checkSharing(entity, owner, name.swift)
                continue
            }
            owners[name.swift] = entity
            plans.append(try plan(entity, kind, name))
        }
        markIdentifiable(&plans)
        return plans
    }

    private func kind(of entity: Entity) -> ClassPlan.Kind? {
        switch (options.scope, entity.draft.codeGeneration) {
        case (_, "class"), (.all, nil): .definition
        case (_, "category"): .category
        default: nil
        }
    }

    /// The class of an entity, nil for `NSManagedObject` itself.
    func className(of entity: Entity) -> (swift: String, model: String)? {
        guard var name = entity.className, !name.isEmpty else { return nil }
        if name.hasPrefix(".") { name.removeFirst() }
        guard let last = name.split(separator: ".").last.map(String.init), last != "NSManagedObject" else { return nil }
        return (last, name)
    }

    /// The class of an entity's objects as Swift knows it.
    func type(of entity: Entity) -> String { className(of: entity)?.swift ?? "NSManagedObject" }

    /// A class may stand for an entity and descendants that add nothing.
    private func checkSharing(_ entity: Entity, _ owner: Entity, _ name: String) throws(SchemaError) {
        let addsNothing =
            entity.draft.attributes.isEmpty && entity.draft.relationships.isEmpty
            && entity.draft.fetchedProperties.isEmpty
        if entity.isKind(of: owner), addsNothing, entity.parent.map({ type(of: schema[$0]) }) == name { return }
        throw SchemaError(
            "“\(entity.name)” and “\(owner.name)” both name the class \(name), which can be made for one of them only. Give one another "
                + "class, or set its code generation to Manual/None", entity: entity.name,
            location: entity.draft.location)
    }

    private func plan(_ entity: Entity, _ kind: ClassPlan.Kind, _ name: (swift: String, model: String))
        throws(SchemaError) -> ClassPlan
    {
        guard SwiftName.canBeClass(name.swift) else {
            throw SchemaError(
                "“\(entity.name)” names the class “\(name.swift)”, which Swift cannot declare. Rename the class",
                entity: entity.name,
                location: entity.draft.location)
        }
        var declaring: [Entity] = [entity]
        var next = entity.parent.map { schema[$0] }
        // One with this very class, which is made here, has none above it.
        while let ancestor = next, className(of: ancestor).map({ $0.swift == name.swift }) ?? true {
            declaring.append(ancestor)
            next = ancestor.parent.map { schema[$0] }
        }
        var plan = ClassPlan(
            kind: kind, entity: entity, name: name.swift, modelName: name.model,
            superclass: next.map(type) ?? "NSManagedObject",
            keys: keys(of: entity))
        plan.attributes = declaring.flatMap(\.draft.attributes).sorted { $0.name < $1.name }
        let owners = Set(declaring.map(\.index))
        plan.relationships = entity.relationships.map { schema[$0] }.filter { owners.contains($0.owner) }.sorted {
            $0.name < $1.name
        }
        plan.fetchedProperties = declaring.flatMap(\.draft.fetchedProperties).sorted { $0.name < $1.name }
        try MemberCheck(plan: plan, style: options.style).run()
        return plan
    }

    private func keys(of entity: Entity) -> [String] {
        entity.slots.map { "\($0.name):\($0.kind.accessor)" } + entity.toMany.map { "\(schema[$0].name):toMany" }
    }

    /// A class whose attribute is called `id` is `Identifiable`, unless its superclass is.
    private func markIdentifiable(_ plans: inout [ClassPlan]) {
        for index in plans.indices {
            plans[index].isIdentifiable = plans[index].attributes.contains { attribute in
                attribute.name == "id" && attribute.type.isHashable
            }
        }
    }
}

extension AttributeType {
    /// Whether the Swift type of the values is hashable for sure.
    fileprivate var isHashable: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid,
            .uri, .objectID:
            true
        case .undefined, .transformable, .composite: false
        }
    }
}
