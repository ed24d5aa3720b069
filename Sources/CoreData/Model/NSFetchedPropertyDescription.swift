// A property whose value is the result of a fetch.

import CoreDataValues
import Foundation

/// One fetched property. It has no storage; its value is fetched when it is read first.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request as a value, for the model file and the schema.
    package final var template: FetchTemplate? { willSet { requireEditable("fetchRequest") } }

    public override init() { super.init() }

    override func emptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    override func takeOver(_ other: NSPropertyDescription) {
        super.takeOver(other)
        guard let other = other as? NSFetchedPropertyDescription else { return }
        template = other.template
    }

    func read(_ property: FetchedProperty) {
        name = property.name
        isOptional = property.isOptional
        template = property.request
        userInfo = property.userInfo
        location = property.location
    }

    /// The declaration that the description stands for.
    ///
    /// - Throws: `SchemaError` when there is no fetch request.
    func declaration(in entity: String) throws(SchemaError) -> FetchedProperty {
        guard let template else {
            throw SchemaError(
                "The fetched property \(entity).\(name) has no fetch request. Set `fetchRequest`.",
                entity: entity, property: name, location: location)
        }
        var property = FetchedProperty(name: name, request: template)
        property.isOptional = isOptional
        property.userInfo = textEntries(userInfo)
        property.location = location
        return property
    }
}
