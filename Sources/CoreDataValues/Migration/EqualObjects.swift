// Objects that a new uniqueness constraint forbids.

extension StoreError {
    /// What a migration throws, in every kind of store: 134111 with ten of the objects at most.
    ///
    /// - Parameter objects: each by its URI with the values that it shares with another one, equal ones together.
    package static func equalObjects(_ objects: [String], in constraint: [String], of entity: String, _ path: String)
        -> StoreError
    {
        StoreError(
            134111,
            "The store at \(path) cannot be migrated: in the new model \(constraint.joined(separator: ", ")) of \(entity) is unique, and objects "
                + "are equal in it: \(objects.prefix(10).joined(separator: ", ")). Nothing was changed. Make them differ first, or delete all "
                + "but one.",
            path: path, entity: entity, property: constraint.first)
    }
}
