// Objects that a new uniqueness constraint forbids.

extension StoreError {
    /// What a migration throws, in every kind of store: 134111 with ten of the objects at most in words, and the others beside them.
    ///
    /// - Parameters:
    ///   - objects: each by its URI with the values that it shares with another one, equal ones together.
    ///   - count: how many there are, if not all are given.
    package static func equalObjects(
        _ objects: [(uri: String, values: String)], count: Int? = nil, in constraint: [String], of entity: String,
        _ path: String
    ) -> StoreError {
        let names = constraint.joined(separator: ", ")
        var error = StoreError(
            134111,
            "The store at \(path) cannot be migrated: in the new model \(names) of \(entity) is unique, and objects "
                + "are equal in it: \(objects.prefix(10).map { "\($0.uri) (\($0.values))" }.joined(separator: ", ")). Nothing was changed. Make them differ first, or delete all "
                + "but one.",
            path: path, entity: entity, property: constraint.first)
        error.objects = objects.prefix(FailedObject.limit).map {
            FailedObject(
                $0.uri, entity, constraint.first,
                "\(names) of \(entity) is unique in the new model, and another object has \($0.values) as well.",
                code: error.code)
        }
        let rest = (count ?? objects.count) - error.objects.count
        if rest > 0 {
            error.objects.append(
                FailedObject(
                    nil, entity, constraint.first, "\(rest) other objects are equal in \(names) of \(entity).",
                    code: error.code))
        }
        return error
    }
}
