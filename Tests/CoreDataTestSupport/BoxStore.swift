// A sample atomic store: objects as records in a property list.

import CoreData
import Foundation

/// What a program writes to keep objects in a file of its own: `load` and `save`.
package final class BoxStore: NSAtomicStore, @unchecked Sendable {
    package static let type = "SampleBox"

    private struct Damaged: Error {}

    package override func loadMetadata() throws {
        guard let data = try? Data(contentsOf: url ?? URL(fileURLWithPath: "/")) else { return }
        metadata = try contents(data)["metadata"] as? [String: Any] ?? [:]
    }

    private func contents(_ data: Data) throws -> [String: Any] {
        guard let all = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw Damaged()
        }
        return all
    }

    package override func load() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
        guard let records = try contents(Data(contentsOf: url))["records"] as? [[String: Any]],
            let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName
        else { throw Damaged() }
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for record in records {
            guard let name = record["entity"] as? String, let entity = entities[name], let id = record["id"] as? String
            else { throw Damaged() }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: id))
            for (key, attribute) in entity.attributesByName {
                node.setValue((record["values"] as? [String: Any])?[key].flatMap { read($0, attribute) }, forKey: key)
            }
            nodes[id] = node
        }
        for record in records {
            guard let node = (record["id"] as? String).flatMap({ nodes[$0] }) else { continue }
            for (key, members) in record["links"] as? [String: [String]] ?? [:] {
                let targets = members.compactMap { nodes[$0] }
                let relationship = node.objectID.entity.relationshipsByName[key]
                node.setValue(
                    relationship?.isToMany == true ? NSOrderedSet(array: targets) : targets.first, forKey: key)
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    package override func save() throws {
        let records = cacheNodes().map { node -> [String: Any] in
            let entity = node.objectID.entity
            var values: [String: Any] = [:]
            var links: [String: [String]] = [:]
            for (key, attribute) in entity.attributesByName {
                values[key] = node.value(forKey: key).map { written($0, attribute) }
            }
            for key in entity.relationshipsByName.keys {
                links[key] = members(node.value(forKey: key)).map { "\(referenceObject(for: $0.objectID))" }
            }
            return [
                "entity": entity.name ?? "", "id": "\(referenceObject(for: node.objectID))", "values": values,
                "links": links,
            ]
        }
        let all: [String: Any] = ["metadata": metadata ?? [:], "records": records]
        let data = try PropertyListSerialization.data(fromPropertyList: all, format: .binary, options: 0)
        try data.write(to: url ?? URL(fileURLWithPath: "/"), options: .atomic)
    }

    private func members(_ value: Any?) -> [NSAtomicStoreCacheNode] {
        if let node = value as? NSAtomicStoreCacheNode { return [node] }
        let all: [Any] = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
        return all.compactMap { $0 as? NSAtomicStoreCacheNode }
    }

    /// Property lists hold no UUIDs, URLs, decimals and objects of other classes.
    private func written(_ value: Any, _ attribute: NSAttributeDescription) -> Any {
        if attribute.attributeType == .transformableAttributeType {
            return transformed(value, attribute, intoData: true) ?? Data()
        }
        return switch value {
        case let uuid as UUID: uuid.uuidString
        case let url as URL: url.absoluteString
        case let decimal as NSDecimalNumber: decimal.description
        case let date as Date: NSNumber(value: date.timeIntervalSinceReferenceDate)
        default: value
        }
    }

    private func read(_ value: Any, _ attribute: NSAttributeDescription) -> Any? {
        switch attribute.attributeType {
        case .transformableAttributeType: transformed(value, attribute, intoData: false)
        case .UUIDAttributeType: (value as? String).flatMap { UUID(uuidString: $0) }
        case .URIAttributeType: (value as? String).flatMap { URL(string: $0) }
        case .decimalAttributeType: (value as? String).flatMap { NSDecimalNumber(string: $0) }
        case .dateAttributeType:
            (value as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        default: value
        }
    }

    /// Transformers of archives make objects of data, all others data of objects.
    private func transformed(_ value: Any, _ attribute: NSAttributeDescription, intoData: Bool) -> Any? {
        let named = attribute.valueTransformerName.flatMap { ValueTransformer(forName: NSValueTransformerName($0)) }
        let transformer = named ?? NSSecureUnarchiveFromDataTransformer()
        let isForward = intoData != (transformer is NSSecureUnarchiveFromDataTransformer)
        return isForward ? transformer.transformedValue(value) : transformer.reverseTransformedValue(value)
    }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let all = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any]
        guard let metadata = all?["metadata"] as? [String: Any] else { throw Damaged() }
        return metadata
    }
}
