// What entities and their properties say of themselves when they are printed.

import CoreDataValues
import Foundation

extension NSEntityDescription {
    /// Name, class and parent, then the properties in the model's order, inherited ones first.
    final var summary: String {
        var facts = ["\(name ?? "")", "class: \(managedObjectClassName ?? "")"]
        if let parent = superentity?.name { facts.append("parent: \(parent)") }
        if isAbstract { facts.append("abstract") }
        let names = lineage.reversed().flatMap(\.properties).map(\.summary)
        return facts.joined(separator: "; ") + "; properties: {\n" + names.map { "    \($0)\n" }.joined() + "}"
    }
}

extension NSPropertyDescription {
    /// The name and what a value is.
    final var summary: String {
        let kind =
            switch self {
            case let relationship as NSRelationshipDescription:
                (relationship.isToMany ? relationship.isOrdered ? "ordered to-many " : "to-many " : "to-one ")
                    + (relationship.destinationEntity?.name ?? "nil")
                    + (relationship.inverseRelationship.map { ", inverse \($0.name)" } ?? ", no inverse")
            case let attribute as NSAttributeDescription: attribute.attributeType.schemaType.modelName
            case is NSFetchedPropertyDescription: "fetched property"
            default: "property"
            }
        return "\(name): \(kind)\(isOptional ? ", optional" : "")\(isTransient ? ", transient" : "")"
    }
}
