// The accessors of one relationship, and the methods that change its members.

import CoreDataValues

/// Makes the members of a class for relationships.
struct RelationshipText {
    let style: GenerationOptions.Style
    /// What stands before declarations.
    let access: String
    let types: TypeNames
    /// The class of the objects of an entity.
    let type: (Entity) -> String
    let schema: Schema

    private func target(_ relationship: ResolvedRelationship) -> String { type(schema[relationship.destination]) }

    func accessors(of relationship: ResolvedRelationship) -> Accessors {
        let target = target(relationship)
        switch relationship.place {
        case .toMany(let index): return toMany(relationship, index, target)
        case .slot(let slot): return toOne(relationship, slot, target)
        case .fetched: return toOne(relationship, 0, target)
        }
    }

    private func toOne(_ relationship: ResolvedRelationship, _ slot: Int, _ target: String) -> Accessors {
        let get = target == "NSManagedObject" ? "_toOne(\(slot))" : "_target(\(slot))"
        return Accessors(name: relationship.name, type: target + "?", get: get, set: "_setToOne(\(slot), newValue)")
    }

    private func toMany(_ relationship: ResolvedRelationship, _ index: Int, _ target: String) -> Accessors {
        let isOrdered = relationship.isOrdered
        if style == .xcode {
            let word = isOrdered ? "OrderedSet" : "Set"
            return Accessors(
                name: relationship.name, type: types["NS" + word] + "?",
                get: isOrdered ? "_orderedSet(\(index))" : "_set(\(index))",
                set: "_set\(word)(\(index), newValue)")
        }
        return Accessors(
            name: relationship.name, type: isOrdered ? "[\(target)]" : "\(types["Set"])<\(target)>",
            get: isOrdered ? "_orderedMembers(\(index))" : "_members(\(index))", set: "_setToMany(\(index), newValue)")
    }

    /// What `fetchedProperty` finds.
    func accessors(of property: FetchedProperty) -> Accessors {
        let target = schema.entity(named: property.request.entityName).map(type) ?? "NSManagedObject"
        let read = "value(forKey: \(AttributeText.literal(property.name))) as? [\(target)]"
        return style == .xcode
            ? Accessors(name: property.name, type: "[\(target)]?", get: read, set: nil)
            : Accessors(name: property.name, type: "[\(target)]", get: read + " ?? []", set: nil)
    }

    // MARK: Methods of to-manys

    func methods(of relationship: ResolvedRelationship) -> [String] {
        guard let index = relationship.toManyIndex else { return [] }
        let (word, target) = (SwiftName.capitalized(relationship.name), target(relationship))
        var values =
            style == .xcode
            ? types[relationship.isOrdered ? "NSOrderedSet" : "NSSet"] : "some \(types["Sequence"])<\(target)>"
        if target == "NSManagedObject", style == .swift { values = "some \(types["Sequence"])<NSManagedObject>" }
        var methods: [String] = relationship.isOrdered ? ordered(word, target, index) : []
        methods += [
            method("addTo\(word)", "_ value: \(target)", "_add([value], toMany: \(index))"),
            method("removeFrom\(word)", "_ value: \(target)", "_remove([value], toMany: \(index))"),
            method("addTo\(word)", "_ values: \(values)", "_add(values, toMany: \(index))"),
            method("removeFrom\(word)", "_ values: \(values)", "_remove(values, toMany: \(index))"),
        ]
        return methods
    }

    private func ordered(_ word: String, _ target: String, _ index: Int) -> [String] {
        let (place, places) = (types["Int"], style == .xcode ? types["NSIndexSet"] : types["IndexSet"])
        return [
            method(
                "insertInto\(word)", "_ value: \(target), at idx: \(place)",
                "_insert([value], toMany: \(index), at: idx)"),
            method("removeFrom\(word)", "at idx: \(place)", "_remove(at: idx, toMany: \(index))"),
            method(
                "insertInto\(word)", "_ values: [\(target)], at indexes: \(places)",
                "_insert(values, toMany: \(index), at: indexes)"),
            method("removeFrom\(word)", "at indexes: \(places)", "_remove(at: indexes, toMany: \(index))"),
            method(
                "replace\(word)", "at idx: \(place), with value: \(target)",
                "_replace(at: idx, toMany: \(index), with: value)"),
            method(
                "replace\(word)", "at indexes: \(places), with values: [\(target)]",
                "_replace(at: indexes, toMany: \(index), with: values)"),
        ]
    }

    private func method(_ name: String, _ parameters: String, _ body: String) -> String {
        "\(access)func \(SwiftName.quoted(name))(\(parameters)) { \(body) }"
    }
}
