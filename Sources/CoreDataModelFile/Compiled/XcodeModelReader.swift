// The models inside mapping models, as Xcode keeps them: a model of a model.

import CoreDataValues
import Foundation

/// Reads what version hashes are made of from the archive of Xcode's own classes: entities, parents, constraints, and of properties
/// type, flags and where they lead. A value used once.
struct XcodeModelReader {
    private let path: String
    private let root: ArchivedObject

    /// - Throws: for bytes that are no archive of such a model.
    init(_ data: Data, path: String) throws(ModelFileError) {
        self.path = path
        do throws(ArchiveError) {
            guard let root = try ArchivedObject(ArchivedObjects(data)), root.className == "XDPMModel" else {
                throw ArchiveError("It holds no model.")
            }
            self.root = root
        } catch {
            throw ModelFileError("the model inside the mapping model cannot be read: \(error.sentence)", path: path)
        }
    }

    func read() throws(SchemaError) -> SchemaDraft {
        var draft = SchemaDraft()
        draft.location = SourceLocation(path: path, line: 1, column: 1)
        draft.versionIdentifiers = [root.text("_modelVersionIdentifier")].compactMap { $0 }.filter { !$0.isEmpty }
        for (name, entity) in root["_xd_rootPackage"]?["XDBucketForClassesstorage"]?.entries ?? []
        where entity.className == "XDPMEntity" {
            draft.entities.append(try self.entity(entity, name))
        }
        return draft
    }

    private func entity(_ object: ArchivedObject, _ key: String) throws(SchemaError) -> EntityDraft {
        var entity = EntityDraft(name: object.text("_name") ?? key)
        let facts = Facts(object)
        entity.className = facts.text("XD_PSK_entityClassName")
        entity.parentName = object["XDBucketForGeneralizationsstorage"]?.members.first?["_general"]?.text("_name")
        entity.isAbstract = facts.flag("XD_PSK_isAbstract")
        entity.versionHashModifier = facts.text("XD_PSK_versionHashModifier")
        entity.renamingIdentifier = facts.text("XD_PSK_elementID")
        entity.uniquenessConstraints = (facts["XDPMUniquenessConstraints"]?.members ?? []).map {
            $0.members.compactMap(\.text)
        }
        for (key, property) in object["XDBucketForOwnedAttributesstorage"]?.entries ?? [] {
            let name = property.text("_name") ?? key
            switch property.className {
            case "XDPMAttribute": entity.attributes.append(try attribute(property, name, entity.name))
            case "XDPMRelationship": entity.relationships.append(try relationship(property, name, entity.name))
            default: break  // a fetched property has no part in a hash
            }
        }
        return entity
    }

    private func attribute(_ object: ArchivedObject, _ name: String, _ entity: String) throws(SchemaError) -> Attribute
    {
        let facts = Facts(object)
        guard let type = UInt32(exactly: facts.number("XD_PAttK_attributeType")).flatMap(AttributeType.init),
            type != .composite
        else {
            throw wrong("has no type that is known here", entity, name)
        }
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = facts.flag("XD_PPSK_isOptional")
        attribute.isTransient = facts.flag("XD_PPSK_isTransient")
        attribute.allowsExternalBinaryDataStorage = facts.flag("XD_PAttK_allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = facts.flag("XD_PAttK_preservesValueInHistoryOnDeletion")
        attribute.valueTransformerName = facts.text("XD_PAttK_valueTransformerName")
        attribute.versionHashModifier = facts.text("XD_PPSK_versionHashModifier")
        attribute.renamingIdentifier = facts.text("XD_PPSK_elementID")
        if let expression = facts.text("XD_PAttK_derivationExpression") {
            attribute.derivationExpression = expression
            attribute.isReadOnly = true
        }
        return attribute
    }

    private func relationship(_ object: ArchivedObject, _ name: String, _ entity: String) throws(SchemaError)
        -> Relationship
    {
        let facts = Facts(object)
        guard let destination = facts["XD_PRK_destination"]?.text("_name") else {
            throw wrong("leads to no entity", entity, name)
        }
        var relationship = Relationship(name: name, destinationName: destination)
        let inverse = facts["XD_PRK_inverseRelationship"]
        relationship.inverseName = inverse?.text("_name")
        relationship.inverseEntityName = inverse?["_owner"]?.text("_name")
        relationship.isOptional = facts.flag("XD_PPSK_isOptional")
        relationship.isTransient = facts.flag("XD_PPSK_isTransient")
        relationship.isOrdered = facts.flag("XD_PRK_ordered")
        relationship.minCount = Int(clamping: facts.number("XD_PRK_minCount"))
        relationship.maxCount = Int(clamping: facts.number("XD_PRK_maxCount"))
        relationship.deleteRule = UInt8(exactly: facts.number("XD_PRK_deleteRule")).flatMap(DeleteRule.init) ?? .nullify
        relationship.versionHashModifier = facts.text("XD_PPSK_versionHashModifier")
        relationship.renamingIdentifier = facts.text("XD_PPSK_elementID")
        return relationship
    }

    private func wrong(_ what: String, _ entity: String, _ property: String) -> SchemaError {
        SchemaError(
            "“\(entity).\(property)” of the model inside the mapping model \(what)", entity: entity, property: property,
            location: SourceLocation(path: path, line: 1, column: 1))
    }
}

/// What is said of an entity or a property, by keys.
private struct Facts {
    private let holders: [String: ArchivedObject]

    init(_ object: ArchivedObject) {
        var holders: [String: ArchivedObject] = [:]
        for (_, group) in object["XDBucketForStereotypesstorage"]?.entries ?? [] {
            for (key, holder) in group["XDBucketForOwnedAttributesstorage"]?.entries ?? [] { holders[key] = holder }
        }
        self.holders = holders
    }

    subscript(_ key: String) -> ArchivedObject? { holders[key]?["_default"] }
    func text(_ key: String) -> String? { holders[key]?.text("_default").flatMap { $0.isEmpty ? nil : $0 } }
    func flag(_ key: String) -> Bool { holders[key]?.bool("_default") ?? false }
    func number(_ key: String) -> Int64 { holders[key]?.integer("_default") ?? 0 }
}
