// The fetch indexes of an entity.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One index that the store keeps for an entity.
open class NSFetchIndexDescription: NSObject, NSCopying, NSSecureCoding {
    open var name: String { willSet { requireEditable("name") } }
    open var elements: [NSFetchIndexElementDescription] {
        willSet { requireEditable("elements") }
        didSet { ownElements() }
    }
    /// The entity that the index belongs to. Weak: the entity owns its indexes.
    open internal(set) var entity: NSEntityDescription? {
        get { owner }
        set { owner = newValue }
    }
    @Unretained private var owner: NSEntityDescription?

    /// Which rows the index is about; nil for all. A SQLite store refuses an index that has one.
    ///
    /// A predicate that no format text can say, as one on an object, is a misuse.
    open var partialIndexPredicate: NSPredicate? {
        get { partialPredicateText.flatMap { try? NSPredicate(parsing: $0) } }
        set {
            do {
                partialPredicateText = try newValue?.tree().predicateFormat
            } catch { misuse("The predicate of the index \(name) cannot be used: \(error)") }
        }
    }

    /// The predicate of a partial index, as text.
    package final var partialPredicateText: String? { willSet { requireEditable("partialIndexPredicate") } }
    final var isFrozen = false
    final var location: SourceLocation?

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        ownElements()
    }

    convenience init(_ index: FetchIndex, in entity: NSEntityDescription?) {
        self.init(
            name: index.name, elements: index.elements.map { NSFetchIndexElementDescription($0, in: entity) })
        partialPredicateText = index.partialPredicate
        location = index.location
    }

    /// A copy that belongs to no entity and can be edited.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(
            name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.partialPredicateText = partialPredicateText
        copy.location = location
        return copy
    }

    // MARK: NSSecureCoding

    open class var supportsSecureCoding: Bool { true }

    /// An index from an archive, which belongs to no entity; its elements know the names of their properties. nil for a damaged one.
    public required convenience init?(coder: NSCoder) {
        guard let archived = coder.decode(FetchIndex.self) else { return nil }
        self.init(archived, in: nil)
    }

    open func encode(with coder: NSCoder) { coder.encode(declaration) }

    private func ownElements() {
        for element in elements { element.indexDescription = self }
    }

    var declaration: FetchIndex {
        FetchIndex(
            name: name, elements: elements.map(\.declaration), partialPredicate: partialPredicateText,
            location: location)
    }

    final func requireEditable(_ property: String) {
        if isFrozen {
            misuse(Sentences.frozen("the index \(entity?.name ?? "(no entity)").\(name)", property: property))
        }
    }
}
