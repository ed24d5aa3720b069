// Compiled mapping models: `.cdm`.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// Reads the archive of a compiled mapping model. A value used once.
struct CompiledMappingReader {
    private let path: String
    private let root: ArchivedObject

    /// - Throws: 259 for a file that is none.
    init(_ url: URL) throws {
        path = url.path
        do {
            let data = try Data(contentsOf: url)
            guard let root = try ArchivedObject(ArchivedObjects(data)), root.className == "NSMappingModel" else {
                throw ArchiveError("It holds no mapping model.")
            }
            self.root = root
        } catch {
            let why = (error as? ArchiveError)?.sentence ?? error.localizedDescription
            throw CocoaError.coreData(
                259, "The mapping model at \(url.path) cannot be read: \(why)", [NSFilePathErrorKey: url.path])
        }
    }

    func read() throws -> NSMappingModel {
        let model = NSMappingModel()
        let ordered = root["NSEntityMappings"]?.members ?? []
        let named = (root["NSEntityMappingsByName"]?.entries ?? []).sorted { $0.key < $1.key }.map(\.value)
        model.entityMappings = try (ordered.isEmpty ? named : ordered).map(entity)
        return model
    }

    private func entity(_ object: ArchivedObject) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = object.text("NSMappingName")
        mapping.mappingType =
            object.integer("NSMappingType").flatMap { UInt(exactly: $0) }.flatMap(NSEntityMappingType.init)
            ?? .undefinedEntityMappingType
        mapping.sourceEntityName = object.text("NSSourceEntityName")
        mapping.destinationEntityName = object.text("NSDestinationEntityName")
        mapping.sourceEntityVersionHash = data(object["NSSourceEntityVersionHash"])
        mapping.destinationEntityVersionHash = data(object["NSDestinationEntityVersionHash"])
        mapping.entityMigrationPolicyClassName = object.text("NSEntityMigrationPolicyClassName")
        mapping.attributeMappings = try object["NSAttributeMappings"]?.members.map(property)
        mapping.relationshipMappings = try object["NSRelationshipMappings"]?.members.map(property)
        mapping.sourceExpression = try object["NSSourceExpression"].map { try expression($0, mapping.name) }
        mapping.userInfo = userInfo(object["NSUserInfo"])
        return mapping
    }

    private func property(_ object: ArchivedObject) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = object.text("NSDestinationPropertyName")
        mapping.valueExpression = try object["NSValueExpression"].map { try expression($0, mapping.name ?? "") }
        mapping.userInfo = userInfo(object["NSUserInfo"])
        return mapping
    }

    private func data(_ object: ArchivedObject?) -> Data? {
        if case .data(let data)? = object?.value { data } else { nil }
    }

    private func userInfo(_ object: ArchivedObject?) -> [AnyHashable: Any]? {
        guard let entries = object?.entries, !entries.isEmpty else { return nil }
        return Dictionary(
            entries.compactMap { key, value in value.value?.object.map { (AnyHashable(key), $0) } },
            uniquingKeysWith: { $1 })
    }

    private func expression(_ object: ArchivedObject, _ name: String) throws -> NSExpression {
        var reader = ArchivedExpressions()
        do { return NSExpression(tree: try reader.expression(object)) } catch {
            throw CocoaError.coreData(
                259,
                "The mapping model at \(path) has an expression for \(name) that cannot be read: \(error.sentence)",
                [NSFilePathErrorKey: path])
        }
    }
}
