// Compiled models: `.mom` files, and the copies that Core Data keeps in its stores.

import CoreDataValues
import Foundation

/// Reads the archive of a compiled model as a draft. A value used once.
struct CompiledModelReader {
    let path: String
    private let root: ArchivedObject
    var draft = SchemaDraft()

    /// - Throws: for bytes that are no archive of a model.
    init(_ data: Data, path: String) throws(ModelFileError) {
        self.path = path
        do throws(ArchiveError) {
            guard let root = try ArchivedObject(ArchivedObjects(data)), root.className == "NSManagedObjectModel" else {
                throw ArchiveError("It holds no model.")
            }
            self.root = root
        } catch { throw ModelFileError("the compiled model cannot be read: \(error.sentence)", path: path) }
    }

    func read() throws(SchemaError) -> SchemaDraft {
        var copy = self
        copy.draft.location = SourceLocation(path: path, line: 1, column: 1)
        for (name, entity) in root["NSEntities"]?.entries ?? [] where entity.className == "NSEntityDescription" {
            copy.draft.entities.append(try copy.entity(entity, name))
        }
        copy.removeInherited()
        copy.draft.versionIdentifiers = (root["NSVersionIdentifiers"]?.members ?? []).compactMap(\.text).filter {
            !$0.isEmpty
        }.sorted()
        for (name, members) in root["NSConfigurations"]?.entries ?? [] where name != "PF_DEFAULT_CONFIGURATION_NAME" {
            copy.draft.configurations[name] = members.members.compactMap { $0.text("NSEntityName") ?? $0.text }
        }
        for (name, request) in root["NSFetchRequestTemplates"]?.entries ?? [] {
            copy.draft.fetchTemplates.append(try copy.template(request, name))
        }
        copy.draft.fetchTemplates.sort { $0.name < $1.name }
        return copy.draft
    }

    // MARK: Entities

    /// A model beside rows has a parent's properties in its subentities once more.
    private mutating func removeInherited() {
        let parents = Dictionary(draft.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for place in draft.entities.indices {
            var (inherited, seen) = (Set<String>(), Set<String>())
            var parent = draft.entities[place].parentName
            while let name = parent, seen.insert(name).inserted, let entity = parents[name] {
                inherited.formUnion(
                    entity.attributes.map(\.name) + entity.relationships.map(\.name)
                        + entity.fetchedProperties.map(\.name))
                parent = entity.parentName
            }
            if inherited.isEmpty { continue }
            draft.entities[place].attributes.removeAll { inherited.contains($0.name) }
            draft.entities[place].relationships.removeAll { inherited.contains($0.name) }
            draft.entities[place].fetchedProperties.removeAll { inherited.contains($0.name) }
        }
    }

    private mutating func entity(_ object: ArchivedObject, _ key: String) throws(SchemaError) -> EntityDraft {
        let name = object.text("NSEntityName") ?? key
        var entity = EntityDraft(name: name)
        let className = object.text("NSClassNameForEntity")
        entity.className = className == "NSManagedObject" ? nil : className
        entity.parentName = object["NSSuperentity"]?.text("NSEntityName")
        entity.isAbstract = object.bool("NSIsAbstract") ?? false
        entity.versionHashModifier = nonEmpty(object.text("NSVersionHashModifier"))
        entity.renamingIdentifier = renaming(object, name)
        entity.userInfo = texts(object["NSUserInfo"])
        for (key, property) in (object["NSProperties"]?.entries ?? []).sorted(by: { $0.key < $1.key }) {
            // What a parent declares may be listed again.
            if property.className == "_NSPropertyDescriptionProxy" { continue }
            if let owner = property["NSEntity"]?.text("NSEntityName"), owner != name { continue }
            try add(property, key, to: &entity)
        }
        for tuple in object["NSUniqueTuples"]?.members ?? [] {
            entity.uniquenessConstraints.append(tuple.members.compactMap { $0.text ?? $0.text("NSPropertyName") })
        }
        for index in object["NSFetchIndexDescriptions"]?.members ?? [] {
            entity.indexes.append(try self.index(index, name))
        }
        if entity.indexes.isEmpty { addCompoundIndexes(object, &entity) }
        return entity
    }

    /// Legacy indexes have no names; they get those that Xcode gives.
    private func addCompoundIndexes(_ object: ArchivedObject, _ entity: inout EntityDraft) {
        for (number, names) in (object["NSCompoundIndexes"]?.members ?? []).enumerated() {
            let elements = names.members.compactMap { $0.text ?? $0.text("NSPropertyName") }.map {
                FetchIndex.Element(property: $0)
            }
            entity.indexes.append(
                FetchIndex(name: number == 0 ? "compoundIndex" : "compoundIndex\(number)", elements: elements))
        }
    }

    private mutating func index(_ object: ArchivedObject, _ entity: String) throws(SchemaError) -> FetchIndex {
        var elements: [FetchIndex.Element] = []
        for element in object["NSIndexElements"]?.members ?? [] {
            let computed = element["NSIndexedProperty"]
            let expression = try computed?["NSExpression"].map { (archived) throws(SchemaError) in
                try text(of: archived, entity, nil)
            }
            elements.append(
                FetchIndex.Element(
                    property: computed == nil ? element.text("NSPropertyName") : nil, expression: expression,
                    isAscending: element.bool("NSAscending") ?? true,
                    isRTree: element.integer("NSFetchIndexElementType") == 1))
        }
        return FetchIndex(
            name: object.text("NSIndexName") ?? "", elements: elements,
            partialPredicate: try object["NSPartialIndexPredicate"].map { (archived) throws(SchemaError) in
                try predicate(archived, entity, nil)
            })
    }

    // MARK: Properties

    private mutating func add(_ object: ArchivedObject, _ key: String, to entity: inout EntityDraft) throws(SchemaError)
    {
        let name = object.text("NSPropertyName") ?? key
        switch object.className {
        case "NSAttributeDescription", "NSDerivedAttributeDescription":
            entity.attributes.append(try attribute(object, name, entity.name))
        case "NSRelationshipDescription": entity.relationships.append(try relationship(object, name, entity.name))
        case "NSFetchedPropertyDescription":
            guard let request = object["NSFetchRequest"] else { throw wrong("has no fetch request", entity.name, name) }
            var template = try template(request, "fetchedPropertyFetchRequest")
            if template.entityName.isEmpty { template.entityName = object.text("_NSFetchRequestEntityName") ?? "" }
            var fetched = FetchedProperty(name: name, request: template)
            fetched.isOptional = object.bool("NSIsOptional") ?? false
            fetched.userInfo = texts(object["NSUserInfo"])
            entity.fetchedProperties.append(fetched)
        default:
            throw wrong(
                "is of the class \(object.className ?? "?"), which is not read from compiled models", entity.name, name)
        }
    }

    private mutating func attribute(_ object: ArchivedObject, _ name: String, _ entity: String) throws(SchemaError)
        -> Attribute
    {
        guard let type = object.integer("NSAttributeType").flatMap({ UInt32(exactly: $0) }).flatMap(AttributeType.init)
        else {
            throw wrong("has no known type", entity, name)
        }
        guard type != .composite else {
            throw wrong("is a composite, which is not read from compiled models", entity, name)
        }
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = object.bool("NSIsOptional") ?? false
        attribute.isTransient = object.bool("NSIsTransient") ?? false
        attribute.isIndexed = object.bool("NSIsIndexed") ?? false
        let flags = object.integer("NSFlagsKey") ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
        attribute.allowsCloudEncryption = object.bool("NSAllowsCloudEncryption") ?? false
        attribute.isIndexedBySpotlight = object.bool("NSIndexedBySpotlight") ?? false
        attribute.valueTransformerName = nonEmpty(object.text("NSValueTransformerName"))
        if type == .transformable { attribute.customClassName = nonEmpty(object.text("NSAttributeValueClassName")) }
        attribute.renamingIdentifier = renaming(object, name)
        attribute.versionHashModifier = nonEmpty(object.text("NSVersionHashModifier"))
        attribute.userInfo = texts(object["NSUserInfo"])
        if let expression = object["NSDerivationExpression"] {
            attribute.derivationExpression = try derivation(expression, entity, name)
            attribute.isReadOnly = true
        }
        if let value = object["NSDefaultValue"], let found = value.value {
            attribute.defaultValue = converted(found, type)
        }
        for rule in object["NSValidationPredicates"]?.members ?? [] { addRule(rule, to: &attribute, entity) }
        return attribute
    }

    private func relationship(_ object: ArchivedObject, _ name: String, _ entity: String) throws(SchemaError)
        -> Relationship
    {
        let target = object["NSDestinationEntity"]
        guard let destination = nonEmpty(object.text("_NSDestinationEntityName")) ?? target?.text("NSEntityName") else {
            throw wrong("leads to no entity", entity, name)
        }
        var relationship = Relationship(name: name, destinationName: destination)
        let inverse = object["NSInverseRelationship"]
        relationship.inverseName =
            nonEmpty(object.text("_NSInverseRelationshipName")) ?? inverse?.text("NSPropertyName")
        if relationship.inverseName != nil {
            relationship.inverseEntityName = inverse?["NSEntity"]?.text("NSEntityName")
        }
        relationship.isOptional = object.bool("NSIsOptional") ?? false
        relationship.isTransient = object.bool("NSIsTransient") ?? false
        relationship.isOrdered = object.bool("NSIsOrdered") ?? false
        relationship.isIndexed = object.bool("NSIsIndexed") ?? false
        relationship.minCount = Int(clamping: object.integer("NSMinCount") ?? 0)
        relationship.maxCount = Int(clamping: object.integer("NSMaxCount") ?? 0)
        let isOrderedOne = relationship.isOrdered && !relationship.isToMany
        if relationship.maxCount == -1 || isOrderedOne { relationship.isLoose = true }
        relationship.deleteRule =
            object.integer("NSDeleteRule").flatMap { UInt8(exactly: $0) }.flatMap(DeleteRule.init) ?? .nullify
        relationship.renamingIdentifier = renaming(object, name)
        relationship.versionHashModifier = nonEmpty(object.text("NSVersionHashModifier"))
        relationship.userInfo = texts(object["NSUserInfo"])
        return relationship
    }

    private mutating func template(_ object: ArchivedObject, _ name: String) throws(SchemaError) -> FetchTemplate {
        let entity = object["NSEntity"]?.text("NSEntityName") ?? object.text("NSEntityName") ?? ""
        var template = FetchTemplate(name: name, entityName: entity)
        template.predicate = try object["NSPredicate"].map { (archived) throws(SchemaError) in
            try predicate(archived, entity, nil)
        }
        template.resultType = Int(clamping: object.integer("NSResultType") ?? 0)
        template.fetchLimit = Int(clamping: object.integer("NSFetchLimit") ?? 0)
        template.fetchBatchSize = Int(clamping: object.integer("NSBatchSize") ?? 0)
        return template
    }

    // MARK: Words

    private func nonEmpty(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }

    /// Compiled models have the name itself where no other was set.
    private func renaming(_ object: ArchivedObject, _ name: String) -> String? {
        nonEmpty(object.text("NSRenamingIdentifier")).flatMap { $0 == name ? nil : $0 }
    }

    private func texts(_ dictionary: ArchivedObject?) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in dictionary?.entries ?? [] { texts[key] = value.text }
        return texts
    }

    func wrong(_ what: String, _ entity: String, _ property: String?) -> SchemaError {
        let title = entity + (property.map { "." + $0 } ?? "")
        return SchemaError(
            "“\(title)” \(what)", entity: entity, property: property,
            location: SourceLocation(path: path, line: 1, column: 1))
    }
}
