// The copy of its model that Core Data keeps in a store.

import Foundation

/// Writes a schema as the compressed archive of Apple's classes that lies in `Z_MODELCACHE`.
///
/// It says what version hashes and migrations are made of: entities, attributes, relationships, constraints and indexes of
/// properties. Validation rules, fetched properties, templates and conditions of indexes are left out.
package struct ModelCopy {
    private var archive = ArchiveBuilder()
    private let schema: Schema
    private let model: Int
    private var entityPlaces: [String: Int] = [:]
    private var relationshipPlaces: [String: Int] = [:]

    /// nil for a model with composite attributes, whose archived form is not known.
    package static func data(of schema: Schema) -> Data? {
        guard schema.composites.isEmpty,
            !schema.entities.contains(where: { $0.draft.attributes.contains { $0.type == .composite } })
        else { return nil }
        var copy = ModelCopy(schema)
        return Deflate.stored(copy.write())
    }

    private init(_ schema: Schema) {
        self.schema = schema
        model = archive.reserve()
        for entity in schema.entities {
            entityPlaces[entity.name] = archive.reserve()
            for relationship in entity.draft.relationships {
                relationshipPlaces["\(entity.name).\(relationship.name)"] = archive.reserve()
            }
        }
    }

    private mutating func write() -> Data {
        for entity in schema.entities { write(entity) }
        let identifiers = schema.versionIdentifiers.map { archive.add($0) }
        var fields: [String: ArchiveNode] = [
            "NSEntities": archive.dictionary(schema.entities.map { ($0.name, reference($0.name)) }),
            "NSVersionIdentifiers": archive.add(["NSSet"], ["NS.objects": .array(identifiers)]),
            "NSFetchRequestTemplates": ArchiveBuilder.null,
        ]
        if !schema.configurations.isEmpty {
            let named = schema.configurations.sorted { $0.key < $1.key }.map { name, members in
                (name, archive.array(members.map { reference($0) }))
            }
            fields["NSConfigurations"] = archive.dictionary(named)
        }
        archive.fill(model, ["NSManagedObjectModel"], fields)
        return archive.data(root: model)
    }

    private func reference(_ entity: String) -> ArchiveNode {
        entityPlaces[entity].map { .reference($0) } ?? ArchiveBuilder.null
    }

    // MARK: Entities

    private mutating func write(_ entity: Entity) {
        let draft = entity.draft
        var properties: [(String, ArchiveNode)] = draft.attributes.map { ($0.name, write($0, of: entity.name)) }
        properties += draft.relationships.map { ($0.name, write($0, of: entity)) }
        let subentities = schema.entities.filter { $0.parent == entity.index }.map { ($0.name, reference($0.name)) }
        var fields: [String: ArchiveNode] = [
            "NSEntityName": archive.add(draft.name),
            "NSClassNameForEntity": archive.add(draft.className ?? "NSManagedObject"),
            "NSProperties": archive.dictionary(properties), "NSSubentities": archive.dictionary(subentities),
            "NSSuperentity": draft.parentName.map(reference) ?? ArchiveBuilder.null,
            "NSVersionHashModifier": archive.add(draft.versionHashModifier),
            "NSRenamingIdentifier": archive.add(draft.renamingIdentifier ?? draft.name),
            "NSUserInfo": texts(draft.userInfo), "NSManagedObjectModel": .reference(model),
            "NSCompoundIndexes": archive.array([]), "NSFetchIndexDescriptions": indexes(of: draft),
        ]
        if draft.isAbstract { fields["NSIsAbstract"] = .bool(true) }
        if !draft.uniquenessConstraints.isEmpty {
            fields["NSUniqueTuples"] = archive.array(
                draft.uniquenessConstraints.map { names in archive.array(names.map { archive.add($0) }) })
        }
        if let place = entityPlaces[draft.name] { archive.fill(place, ["NSEntityDescription"], fields) }
    }

    private mutating func indexes(of draft: EntityDraft) -> ArchiveNode {
        let plain = draft.indexes.filter { $0.partialPredicate == nil && $0.elements.allSatisfy { $0.property != nil } }
        return archive.array(
            plain.map { index in
                let place = archive.reserve()
                let elements = index.elements.map { element in
                    archive.add(
                        ["NSFetchIndexElementDescription"],
                        [
                            "NSPropertyName": archive.add(element.property),
                            "NSFetchIndexElementType": .integer(element.isRTree ? 1 : 0),
                            "NSAscending": .bool(element.isAscending), "NSFetchIndexDescription": .reference(place),
                        ])
                }
                archive.fill(
                    place, ["NSFetchIndexDescription"],
                    [
                        "NSIndexName": archive.add(index.name), "NSIndexElements": archive.array(elements),
                        "NSEntity": reference(draft.name),
                        "NSPartialIndexPredicate": ArchiveBuilder.null,
                    ])
                return .reference(place)
            })
    }

    private mutating func texts(_ texts: [String: String]) -> ArchiveNode {
        archive.dictionary(texts.sorted { $0.key < $1.key }.map { ($0.key, archive.add($0.value)) })
    }

    // MARK: Properties

    /// The bits that Core Data keeps beside the flags: a base and one for each flag.
    private func bits(optional: Bool, readOnly: Bool, transient: Bool) -> ArchiveNode {
        .integer(0xF1 + (optional ? 2 : 0) + (readOnly ? 4 : 0) + (transient ? 8 : 0))
    }

    private mutating func write(_ attribute: Attribute, of entity: String) -> ArchiveNode {
        let flags: Int64 =
            (attribute.allowsExternalBinaryDataStorage ? 4 : 0) + (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
        var fields: [String: ArchiveNode] = [
            "NSPropertyName": archive.add(attribute.name), "NSEntity": reference(entity),
            "NSAttributeType": .integer(Int64(attribute.type.rawValue)),
            "NSAttributeValueClassName": archive.add(attribute.customClassName ?? attribute.type.valueClassName),
            "NSDefaultValue": value(attribute.defaultValue), "NSFlagsKey": .integer(flags),
            "NSValueTransformerName": archive.add(attribute.valueTransformerName),
            "NSRenamingIdentifier": archive.add(attribute.renamingIdentifier ?? attribute.name),
            "_P": bits(
                optional: attribute.isOptional, readOnly: attribute.isReadOnly, transient: attribute.isTransient),
        ]
        if attribute.isOptional { fields["NSIsOptional"] = .bool(true) }
        if attribute.isTransient { fields["NSIsTransient"] = .bool(true) }
        if attribute.isReadOnly { fields["NSIsReadOnly"] = .bool(true) }
        if attribute.isIndexed { fields["NSIsIndexed"] = .bool(true) }
        if let modifier = attribute.versionHashModifier { fields["NSVersionHashModifier"] = archive.add(modifier) }
        if !attribute.userInfo.isEmpty { fields["NSUserInfo"] = texts(attribute.userInfo) }
        guard let text = attribute.derivationExpression else {
            return archive.add(["NSAttributeDescription", "NSPropertyDescription"], fields)
        }
        fields["NSDerivationExpression"] = derivation(text)
        fields["NSFilteringPredicate"] = ArchiveBuilder.null
        return archive.add(
            ["NSDerivedAttributeDescription", "NSAttributeDescription", "NSPropertyDescription"], fields)
    }

    private mutating func write(_ relationship: Relationship, of entity: Entity) -> ArchiveNode {
        let resolved = schema.relationships.first { $0.owner == entity.index && $0.name == relationship.name }
        let inverse = resolved?.inverse.map { schema[$0] }
        let back = inverse.flatMap { relationshipPlaces["\(schema[$0.owner].name).\($0.name)"] }
        var fields: [String: ArchiveNode] = [
            "NSPropertyName": archive.add(relationship.name), "NSEntity": reference(entity.name),
            "NSDestinationEntity": reference(relationship.destinationName),
            "_NSDestinationEntityName": archive.add(relationship.destinationName),
            "NSInverseRelationship": back.map { .reference($0) } ?? ArchiveBuilder.null,
            "_NSInverseRelationshipName": archive.add(relationship.inverseName),
            "NSDeleteRule": .integer(Int64(relationship.deleteRule.rawValue)),
            "NSMinCount": .integer(Int64(relationship.minCount)),
            "NSMaxCount": .integer(Int64(relationship.maxCount)),
            "NSRenamingIdentifier": archive.add(relationship.renamingIdentifier ?? relationship.name),
            "_P": bits(optional: relationship.isOptional, readOnly: false, transient: relationship.isTransient),
        ]
        if relationship.isOptional { fields["NSIsOptional"] = .bool(true) }
        if relationship.isTransient { fields["NSIsTransient"] = .bool(true) }
        if relationship.isOrdered { fields["NSIsOrdered"] = .bool(true) }
        if let modifier = relationship.versionHashModifier { fields["NSVersionHashModifier"] = archive.add(modifier) }
        if !relationship.userInfo.isEmpty { fields["NSUserInfo"] = texts(relationship.userInfo) }
        guard let place = relationshipPlaces["\(entity.name).\(relationship.name)"] else { return ArchiveBuilder.null }
        archive.fill(place, ["NSRelationshipDescription", "NSPropertyDescription"], fields)
        return .reference(place)
    }

    private mutating func value(_ value: Value) -> ArchiveNode {
        switch value {
        case .null, .key: ArchiveBuilder.null
        case .bool(let flag): archive.add(.bool(flag))
        case .int(let number): archive.add(.integer(number))
        case .double(let number): archive.add(.real(number))
        case .text(let text), .uri(let text): archive.add(text)
        case .data(let data): archive.add(.data(data))
        case .date(let seconds): archive.add(["NSDate"], ["NS.time": .real(seconds)])
        case .uuid(let uuid):
            archive.add(["NSUUID"], ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })])
        case .decimal(let number): archive.add(DecimalArchive.classes, DecimalArchive.entries(number))
        }
    }

    // MARK: Derivations

    /// A key path, or a function of one: `pages.@count` is the function `count:` of `pages`.
    private mutating func derivation(_ text: String) -> ArchiveNode {
        guard let tree = try? FormatParser.expression(text) else { return ArchiveBuilder.null }
        switch tree {
        case .keyPath(let path) where path.last == "@count":
            return function("count:", [keyPath(Array(path.dropLast()))])
        case .keyPath(let path) where path.dropLast().last == "@sum":
            return function("sum:", [keyPath(path.dropLast(2) + path.suffix(1))])
        case .keyPath(let path): return keyPath(path)
        case .function(let name, let arguments):
            return function(
                name, arguments.map { if case .keyPath(let path) = $0 { keyPath(path) } else { ArchiveBuilder.null } })
        case .constant, .list, .this, .variable, .subquery, .conditional: return ArchiveBuilder.null
        }
    }

    private mutating func keyPath(_ path: [String]) -> ArchiveNode {
        let last = archive.add(
            ["NSKeyPathSpecifierExpression", "NSExpression"],
            ["NSExpressionType": .integer(10), "NSKeyPath": archive.add(path.joined(separator: "."))])
        return archive.add(
            ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(3),
                "NSOperand": archive.add(["NSSelfExpression", "NSExpression"], ["NSExpressionType": .integer(1)]),
                "NSSelectorName": archive.add(path.count > 1 ? "valueForKeyPath:" : "valueForKey:"),
                "NSArguments": archive.array([last]),
            ])
    }

    private mutating func function(_ name: String, _ arguments: [ArchiveNode]) -> ArchiveNode {
        let functions = archive.add(
            ["NSConstantValueExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(0), "NSConstantValueClassName": archive.add("_NSPredicateUtilities"),
            ])
        return archive.add(
            ["NSFunctionExpression", "NSExpression"],
            [
                "NSExpressionType": .integer(4), "NSOperand": functions, "NSSelectorName": archive.add(name),
                "NSArguments": archive.array(arguments),
            ])
    }
}

extension AttributeType {
    /// The class of values in Core Data; nil where the model says it.
    fileprivate var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binary: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }
}
