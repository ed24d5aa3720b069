// The hash of one property alone, as programs may ask for it.

import Foundation

extension VersionHash {
    /// The hash that the attribute adds to its entity's.
    package static func propertyHash(_ attribute: Attribute) -> Data { Data(hash(attribute)) }

    /// The hash that a composite attribute adds, of its elements' hashes in the order of their names.
    package static func propertyHash(_ attribute: Attribute, elements: [Data]) -> Data {
        Data(hash(attribute, elements: elements.flatMap { Array($0) }))
    }

    /// The hash that the relationship adds to the hash of the entity that declares it.
    package static func propertyHash(_ relationship: Relationship, owner: String) -> Data {
        Data(hash(relationship, owner: owner))
    }
}
