// One element of a fetch index: a property and its direction.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One element of a fetch index: a property and its direction.
open class NSFetchIndexElementDescription: NSObject, NSCopying, NSSecureCoding {
    /// The property; nil for a computed element, and for one from an archive until its entity has it.
    open private(set) var property: NSPropertyDescription?
    open var collationType: NSFetchIndexElementType { willSet { requireEditable("collationType") } }
    open var isAscending: Bool = true { willSet { requireEditable("isAscending") } }
    /// The index that the element belongs to. Weak: the index owns its elements.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    private let declaredName: String?
    private let expression: String?

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
        declaredName = nil
        expression = nil
        super.init()
    }

    /// - Parameter entity: where the property is looked for; the entity must have its parent by then.
    init(_ element: FetchIndex.Element, in entity: NSEntityDescription?) {
        property = element.property.flatMap { entity?.propertiesByName[$0] }
        collationType = element.isRTree ? .rTree : .binary
        declaredName = element.property
        expression = element.expression
        isAscending = element.isAscending
        super.init()
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// An element from an archive, which knows the name of its property only; nil for a damaged one.
    public required convenience init?(coder: NSCoder) {
        guard let archived = coder.decode(FetchIndex.Element.self) else { return nil }
        self.init(archived, in: nil)
    }

    open func encode(with coder: NSCoder) { coder.encode(declaration) }

    open var propertyName: String? { property?.name ?? declaredName }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexElementDescription(declaration, in: nil)
        copy.property = property
        return copy
    }

    /// Points the element at the property of that name in an entity.
    func link(to entity: NSEntityDescription) {
        property = propertyName.flatMap { entity.propertiesByName[$0] }
    }

    var declaration: FetchIndex.Element {
        FetchIndex.Element(
            property: propertyName, expression: expression, isAscending: isAscending,
            isRTree: collationType == .rTree)
    }

    private func requireEditable(_ property: String) { indexDescription?.requireEditable(property) }
}
