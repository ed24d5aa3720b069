// Mapping models as Xcode keeps them: `.xcmappingmodel`.

import CoreDataFoundation
import CoreDataModelFile
import CoreDataValues
import Foundation

/// Makes a mapping model of a document, with what Xcode's compiler adds: names, types, hashes and generated expressions.
struct MappingReader {
    private let document: MappingDocument
    private let mappings: [MappingDocument.Record]
    private let source: Schema
    private let destination: Schema
    private let path: String

    /// - Throws: for what is no mapping model, and for models inside it that cannot be read.
    init(_ url: URL) throws {
        let file = url.lastPathComponent == "xcmapping.xml" ? url : url.appendingPathComponent("xcmapping.xml")
        path = file.path
        document = try MappingDocument(file)
        guard let model = document.records(of: "XDDEVMAPPINGMODEL").first, let from = model.data("sourcemodeldata"),
            let to = model.data("destinationmodeldata")
        else {
            throw CocoaError.coreData(
                259, "The mapping model at \(file.path) holds no models.", [NSFilePathErrorKey: file.path])
        }
        // Xcode leaves mappings that were taken out in the file; the model does not list them any more.
        mappings =
            model.links["entitymappings"] == nil
            ? document.records(of: "XDDEVENTITYMAPPING") : document.records("entitymappings", of: model)
        source = try Schema(checking: ModelFile.draft(embedded: from, path: file.path))
        destination = try Schema(checking: ModelFile.draft(embedded: to, path: file.path))
    }

    func read() throws -> NSMappingModel {
        let model = NSMappingModel()
        let records = mappings.enumerated().sorted {
            (Int($0.element.texts["mappingnumber"] ?? "") ?? 0, $0.offset) < (
                Int($1.element.texts["mappingnumber"] ?? "") ?? 0, $1.offset
            )
        }
        model.entityMappings = try records.map { try entity($0.element) }
        return model
    }

    private func entity(_ record: MappingDocument.Record) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = record.name("sourcename")
        mapping.destinationEntityName = record.name("destinationname")
        let (from, to) = (
            mapping.sourceEntityName.flatMap(source.entity(named:)),
            mapping.destinationEntityName.flatMap(destination.entity(named:))
        )
        mapping.sourceEntityVersionHash = from?.versionHash
        mapping.destinationEntityVersionHash = to?.versionHash
        mapping.entityMigrationPolicyClassName = record.name("migrationpolicyclassname")
        mapping.name =
            record.name("name")
            ?? [mapping.sourceEntityName, mapping.destinationEntityName].compactMap { $0 }.joined(separator: "To")
        mapping.mappingType = type(record, from, to, mapping)
        if let name = mapping.sourceEntityName, mapping.mappingType != .removeEntityMappingType {
            mapping.sourceExpression = SourceExpression.all(
                of: name, record.name("sourcefilterpredicatestring") ?? "TRUEPREDICATE")
        }
        if let data = record.data("userinfodata") {
            mapping.userInfo = try? KeyedArchive.value(of: data, allowing: []) as? [AnyHashable: Any]
        }
        mapping.attributeMappings = try properties("attributemappings", of: record).map { name, property in
            try NSPropertyMapping(name, attribute(name, property, from))
        }
        mapping.relationshipMappings = try properties("relationshipmappings", of: record).map { name, property in
            try NSPropertyMapping(name, relationship(name, property, from))
        }
        return mapping
    }

    private func properties(_ key: String, of record: MappingDocument.Record) -> [(String, MappingDocument.Record)] {
        document.records(key, of: record).compactMap { property in property.name("name").map { ($0, property) } }.sorted
        { $0.0 < $1.0 }
    }

    private func type(_ record: MappingDocument.Record, _ from: Entity?, _ to: Entity?, _ mapping: NSEntityMapping)
        -> NSEntityMappingType
    {
        switch record.texts["mappingtypename"] {
        case "Custom": return .customEntityMappingType
        case "Add": return .addEntityMappingType
        case "Remove": return .removeEntityMappingType
        case "Copy": return .copyEntityMappingType
        case "Transform": return .transformEntityMappingType
        default: break
        }
        if mapping.entityMigrationPolicyClassName != nil { return .customEntityMappingType }
        if mapping.sourceEntityName == nil { return .addEntityMappingType }
        if mapping.destinationEntityName == nil { return .removeEntityMappingType }
        return from?.name == to?.name && from?.versionHash == to?.versionHash
            ? .copyEntityMappingType : .transformEntityMappingType
    }

    // MARK: Expressions

    /// What is not said is generated: the attribute of the same name.
    private func attribute(_ name: String, _ record: MappingDocument.Record, _ from: Entity?) throws -> NSExpression? {
        if let data = record.data("valueexpressiondata") { return try expression(data, name) }
        guard let from, from.holdsAttribute(name) else { return nil }
        return SourceExpression.value(name)
    }

    /// What is not said is generated: what became of the members of the relationship of the same name, or of what is named.
    private func relationship(_ name: String, _ record: MappingDocument.Record, _ from: Entity?) throws -> NSExpression?
    {
        if let data = record.data("valueexpressiondata") { return try expression(data, name) }
        let isThere = from?.holdsRelationship(name, in: source) ?? false
        if let mapping = record.name("sourcemappingname") {
            var path = record.name("sourcekeypath") ?? (isThere ? name : "$source")
            if path == "$source" { return SourceExpression.instances(of: mapping, at: nil) }
            if path.hasPrefix("$source.") { path = String(path.dropFirst("$source.".count)) }
            return SourceExpression.instances(of: mapping, at: path)
        }
        return isThere && record.flag("autogenerateexpression") ? SourceExpression.members(of: name) : nil
    }

    private func expression(_ data: Data, _ name: String) throws -> NSExpression {
        do {
            guard let root = try ArchivedObject(ArchivedObjects(data)) else { throw ArchiveError("It is empty.") }
            var reader = ArchivedExpressions()
            return NSExpression(tree: try reader.expression(root))
        } catch {
            let why = (error as? ArchiveError)?.sentence ?? "\(error)"
            throw CocoaError.coreData(
                259, "The mapping model at \(path) has an expression for \(name) that cannot be read: \(why)",
                [NSFilePathErrorKey: path])
        }
    }
}

extension Entity {
    fileprivate func holdsAttribute(_ name: String) -> Bool {
        guard case .slot(let slot)? = places[name] else { return composites[name] != nil }
        return slots[slot].attribute != nil && !slots[slot].isTransient
    }

    fileprivate func holdsRelationship(_ name: String, in schema: Schema) -> Bool {
        switch places[name] {
        case .slot(let slot)?: slots[slot].relationship != nil
        case .toMany?: true
        case .fetched?, nil: false
        }
    }
}
