// Objects that are left without a value which the new model requires.

extension StoreError {
    /// What a migration throws, in every kind of store: 1570 with the objects, a hundred of each property at most.
    ///
    /// - Parameter missing: for each property the URIs of the first objects and the number of all, none without any.
    package static func missingValues(_ missing: [MissingValues], _ path: String) -> StoreError? {
        guard let first = missing.first, let uri = first.uris.first else { return nil }
        let count = missing.reduce(0) { $0 + $1.count }
        let others = count > 1 ? ", and \(count - 1) other values are missing" : ""
        var error = StoreError(
            1570,
            "\(first.title) must have a value in the new model, and the object \(uri) has none\(others). Give it one first, or make the "
                + "property optional.", path: path, entity: first.entity, property: first.property)
        error.objects = missing.flatMap(\.objects)
        return error
    }
}

/// Of one property the objects that have no value.
package struct MissingValues: Sendable {
    package let entity: String
    package let property: String
    /// As many as are named.
    package let uris: [String]
    package let count: Int
    fileprivate var title: String { "\(entity).\(property)" }

    package init(_ entity: String, _ property: String, _ uris: [String], count: Int) {
        (self.entity, self.property, self.uris, self.count) = (entity, property, uris, count)
    }

    fileprivate var objects: [FailedObject] {
        let rest = count - uris.count
        return uris.map {
            FailedObject($0, entity, property, "\(title) must have a value in the new model, and the object has none.")
        }
            + (rest > 0
                ? [FailedObject(nil, entity, property, "\(rest) other objects have no value for \(title) either.")]
                : [])
    }
}
