// An attribute made of other attributes.

import CoreDataValues
import Foundation

/// An attribute whose value is a dictionary with one entry for each of its elements.
open class NSCompositeAttributeDescription: NSAttributeDescription {
    open var elements: [NSAttributeDescription] = [] { willSet { requireEditable("elements") } }

    public override init() {
        super.init()
        declared.type = .composite
    }

    open override var versionHash: Data {
        guard let attribute = try? declaration(in: owner?.name ?? "") else { return Data() }
        let sorted = elements.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return VersionHash.propertyHash(attribute, elements: sorted.map(\.versionHash))
    }

    override func emptyCopy() -> NSPropertyDescription { NSCompositeAttributeDescription() }

    override func copyProperties(of other: NSPropertyDescription) {
        super.copyProperties(of: other)
        guard let other = other as? NSCompositeAttributeDescription else { return }
        elements = other.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }

    override func freeze() {
        super.freeze()
        elements.forEach { $0.freeze() }
    }

    /// The name of the composite type: the model file's, or one made of the attribute's place.
    func typeName(in entity: String) -> String { declared.compositeName ?? "\(entity)_\(name)" }

    override func declaration(in entity: String) throws(SchemaError) -> Attribute {
        var attribute = try super.declaration(in: entity)
        attribute.compositeName = typeName(in: entity)
        return attribute
    }
}
