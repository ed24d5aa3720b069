// What predicates of a model can name.

import CoreDataValues
import Foundation

import CoreData

/// The key paths of each entity, inherited ones included, as a format text writes them.
struct PredicateNames {
    /// What a value is compared with.
    enum Family { case number, text, identifier, address, bytes, object, transformed }
    typealias ToMany = (key: String, destination: String, isOrdered: Bool)

    private(set) var scalars: [String: [(String, Family)]] = [:]
    private(set) var toOnes: [String: [(String, String)]] = [:]
    private(set) var toManys: [String: [ToMany]] = [:]

    let entities: [String]
    /// The attributes of 64 bits.
    private(set) var wide: Set<String> = []

    init(_ model: NSManagedObjectModel) {
        entities = model.entities.compactMap(\.name).sorted()
        for entity in model.entities {
            guard let name = entity.name else { continue }
            let attributes = entity.attributesByName.sorted { $0.key < $1.key }
            wide.formUnion(attributes.filter { $0.value.attributeType == .integer64AttributeType }.map(\.key))
            scalars[name] = attributes.flatMap { Self.scalars($0.key, $0.value) }
            for (key, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                guard let destination = relationship.destinationEntity?.name else { continue }
                if relationship.isToMany {
                    toManys[name, default: []].append((Self.written(key), destination, relationship.isOrdered))
                } else {
                    toOnes[name, default: []].append((Self.written(key), destination))
                }
            }
        }
    }

    /// The sign in front of words that are reserved. Behind a dot it is allowed.
    private static func written(_ key: String) -> String { FormatPrinter().text(.keyPath([key])) }

    private static func scalars(_ key: String, _ attribute: NSAttributeDescription) -> [(String, Family)] {
        // The sides differ in it.
        if key == "touch" { return [] }
        if let composite = attribute as? NSCompositeAttributeDescription {
            return composite.elements.flatMap { scalars(key + "." + $0.name, $0) }
        }
        return family(attribute.attributeType).map { [(written(key), $0)] } ?? []
    }

    private static func family(_ type: NSAttributeType) -> Family? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType, .dateAttributeType:
            .number
        case .stringAttributeType: .text
        case .UUIDAttributeType: .identifier
        case .URIAttributeType: .address
        case .binaryDataAttributeType: .bytes
        case .transformableAttributeType: .transformed
        default: nil
        }
    }
}
