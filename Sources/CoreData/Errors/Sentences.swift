// The wording of sentences that more than one place says.

/// Each sentence names what happened, to which entity and property, and what to do.
package enum Sentences {
    /// A frozen model was written to.
    static func frozen(_ owner: String, property: String) -> String {
        "\(property) of \(owner) cannot be changed: a coordinator uses its model already. "
            + "Copy the model first (`model.copy()`) and change the copy."
    }

    /// A description was asked for an owner that it has not got.
    static func ownerless(_ description: String, owner: String, cure: String) -> String {
        "\(description) belongs to no \(owner). \(cure)"
    }

    /// A value of the wrong type was given for an attribute.
    static func wrongType(entity: String, property: String, expected: String, given: String) -> String {
        "Unacceptable type of value for \(entity).\(property): \(expected) is expected, \(given) was given. "
            + "Convert the value before it is set, or change the attribute's type in the model."
    }

    /// A value of the right type that the attribute cannot hold.
    static func unfit(entity: String, property: String, value: String, type: String, cure: String) -> String {
        "The value \(value) does not fit \(entity).\(property), which is \(type). \(cure)"
    }

    /// Attribute types whose values are not kept as plain values.
    static func unsupportedType(entity: String, property: String, type: String) -> String {
        "Values of the type \(type) are not supported here (\(entity).\(property)). "
            + "Use Binary Data and convert the value in the class."
    }
}
