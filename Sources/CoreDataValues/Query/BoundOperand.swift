// What stands in a bound condition: values, and paths whose every step is a property of the schema.

/// A constant of a query, in the form in which the side that it is compared with keeps it.
package enum BoundValue: Sendable, Hashable {
    case constant(Value)
    /// The value at a place in `Query.values`, which differs between queries of one shape.
    case parameter(Int, Coercion)

    package func value(among values: [Value]) -> Value {
        switch self {
        case .constant(let value): value
        case .parameter(let place, let coercion): coercion.apply(values[place])
        }
    }
}

/// Which values compare with one another.
package enum ValueFamily: String, Sendable {
    case number = "numbers"
    case text = "texts"
    case identifier = "UUIDs"
    case bytes = "binary data"
    case object = "objects"
    /// Of a function whose result no schema describes.
    case unknown = "computed values"
}

/// One value of a row, or computed from its values.
package indirect enum BoundOperand: Sendable {
    case value(BoundValue)
    case path(BoundPath)
    case aggregate(BoundAggregate)
    /// A function of `PredicateFunctions`, by its full name.
    case call(String, [BoundOperand])
    /// One of two values, as a condition on the row says.
    case conditional(BoundCondition, BoundOperand, BoundOperand)
    /// A value of a group of rows, in a projection.
    case grouped(GroupValue)
}

/// The end of a chain of to-ones that begins at an object of the query.
package struct BoundPath: Sendable {
    package enum End: Sendable {
        /// A stored attribute of `entity`.
        case attribute(slot: Int)
        /// The object at the other end of a to-one of `entity`, by its key alone.
        case target(ResolvedRelationship)
        /// The object that the hops lead to.
        case object
        /// The name of that object's entity.
        case entity
    }
    /// Which object it begins at: 0 is the row that is asked about, 1 a member that the outermost collection goes through, and
    /// so on inwards.
    package let level: Int
    package let hops: [ResolvedRelationship]
    package let end: End
    /// The entity of the object that the hops lead to, as declared.
    package let entity: Entity
}

/// The members of a to-many, each of which becomes the object of a level.
package struct BoundMembers: Sendable {
    /// Leads to the owner.
    package let owner: BoundPath
    package let relationship: ResolvedRelationship
    package let level: Int
    /// What a SUBQUERY asks of its members.
    package var filter: BoundCondition?
}

/// One value of all members that a chain of to-manys leads to.
package struct BoundAggregate: Sendable {
    package enum Function: Sendable, Hashable {
        case count, sum, average, minimum, maximum
        /// The member at a place in the order, from 0.
        case item(Int)
        case last
    }
    package let function: Function
    /// Each begins at a member of the one before it; never empty.
    package let chain: [BoundMembers]
    /// What is asked of each member; nil for a count.
    package let operand: BoundOperand?
}

extension BoundPath {
    /// The family of its values.
    package var family: ValueFamily {
        switch end {
        case .attribute(let slot): ValueFamily(of: entity.slots[slot].kind)
        case .target, .object: .object
        case .entity: .text
        }
    }

    /// Whether it is the row of the query itself.
    var isRow: Bool { if case .object = end { level == 0 && hops.isEmpty } else { false } }

    package var slot: Slot? { if case .attribute(let slot) = end { entity.slots[slot] } else { nil } }

    /// The entity of the object that it comes to; nil for an attribute.
    package func target(in schema: Schema) -> Entity? {
        switch end {
        case .attribute, .entity: nil
        case .target(let relationship): schema[relationship.destination]
        case .object: entity
        }
    }
}

extension BoundOperand {
    /// The entity of the object that it comes to, by a path or as one member of a to-many; nil for values.
    func target(in schema: Schema) -> Entity? {
        switch self {
        case .path(let path): path.target(in: schema)
        case .aggregate(let aggregate): aggregate.operand?.target(in: schema)
        case .value, .call, .conditional, .grouped: nil
        }
    }
}

extension ValueFamily {
    init(of kind: SlotKind) {
        switch kind {
        case .int, .bool, .double, .float, .date, .decimal: self = .number
        case .text, .uri: self = .text
        case .uuid: self = .identifier
        case .data, .transformable, .externalData: self = .bytes
        case .toOne, .entityTag: self = .object
        }
    }

    /// Whether a value can be of this family.
    func holds(_ value: Value) -> Bool {
        switch (self, value) {
        case (.unknown, _), (.number, .bool), (.number, .int), (.number, .double), (.number, .decimal),
            (.number, .date),
            (.text, .text), (.text, .uri), (.identifier, .uuid), (.bytes, .data), (.object, .key):
            true
        case (_, .null), (.number, _), (.text, _), (.identifier, _), (.bytes, _), (.object, _): false
        }
    }

    /// The family of a constant; nil for null, which is of all.
    init?(of value: Value) {
        switch value {
        case .null: return nil
        case .bool, .int, .double, .decimal, .date: self = .number
        case .text, .uri: self = .text
        case .uuid: self = .identifier
        case .data: self = .bytes
        case .key: self = .object
        }
    }
}

/// What becomes of a constant before it is compared with a column.
package enum Coercion: Sendable, Hashable {
    case none
    /// The smallest and the largest number that a Float attribute keeps as the same Float.
    case lowestFloat, highestFloat
    /// What stands for a decimal beside whole numbers (`Decimal.wholeBound`).
    case wholeBound

    package func apply(_ value: Value) -> Value {
        switch self {
        case .none: value
        case .lowestFloat: FloatRange(value).map { .double($0.low) } ?? value
        case .highestFloat: FloatRange(value).map { .double($0.high) } ?? value
        case .wholeBound: if case .decimal(let number) = value { number.wholeBound } else { value }
        }
    }
}
