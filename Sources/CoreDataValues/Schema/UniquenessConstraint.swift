// A uniqueness constraint whose names are resolved.

/// Attributes and to-ones whose values no two objects of an entity may have alike; a null claims nothing.
package struct UniquenessConstraint: Sendable {
    /// The entity that declares it.
    package let owner: EntityIndex
    /// Its place among those that the entity declares.
    package let position: Int
    package let names: [String]
    package let slots: [Int]
}
