// A property whose value is the result of a fetch.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One fetched property. It has no storage; its value is fetched when it is read first, and kept until the object becomes a fault.
///
/// In the request's predicate `$FETCH_SOURCE` is the object whose property is read and `$FETCHED_PROPERTY` this description.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request as a value, for the model file and the schema.
    package final var template: FetchTemplate? { willSet { requireEditable("fetchRequest") } }
    /// The request that a program set.
    private(set) final var request: NSFetchRequest<any NSFetchRequestResult>?

    public override init() { super.init() }

    /// The request that finds the objects. A request of a model in use is a copy: changing it changes nothing.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get {
            guard let request else { return try? template?.request(in: owner?.model) }
            return isFrozen ? request.duplicate() : request
        }
        set {
            requireEditable("fetchRequest")
            request = newValue
            template = nil
        }
    }

    /// - Throws: 134060 for a predicate text that cannot be read.
    final func readRequest() throws -> NSFetchRequest<any NSFetchRequestResult>? {
        try request ?? template?.request(in: owner?.model)
    }

    override func emptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    override func copyProperties(of other: NSPropertyDescription) {
        super.copyProperties(of: other)
        guard let other = other as? NSFetchedPropertyDescription else { return }
        template = other.template
        request = other.request?.byName()
    }

    override func freeze() {
        super.freeze()
        request = request?.duplicate()
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
    /// - Throws: `SchemaError` when there is no fetch request, or one without an entity.
    func declaration(in entity: String) throws(SchemaError) -> FetchedProperty {
        let declared: FetchTemplate? =
            if let request { try FetchTemplate(request, name: "\(entity).\(name)") } else { template }
        guard let declared else {
            throw SchemaError(
                "The fetched property \(entity).\(name) has no fetch request. Set `fetchRequest`.",
                entity: entity, property: name, location: location)
        }
        var property = FetchedProperty(name: name, request: declared)
        property.isOptional = isOptional
        property.userInfo = textEntries(userInfo)
        property.location = location
        return property
    }
}
