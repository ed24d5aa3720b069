// The hash of one property alone, as programs may ask for it.

import Foundation

extension VersionHash {
    /// The hash that the attribute adds to its entity's.
    package static func propertyHash(_ attribute: Attribute) -> Data { Data(hash(attribute)) }

    /// The hash that the relationship adds to the hash of the entity that declares it.
    package static func propertyHash(_ relationship: Relationship, owner: String) -> Data {
        Data(hash(relationship, owner: owner))
    }
}
