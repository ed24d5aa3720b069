// Asking a predicate about an object or a row in memory.

/// What an expression came to.
package indirect enum Operand {
    case value(Value)
    /// The value of a Float attribute: what it is compared with is made a Float first.
    case float(Float)
    case collection([Operand])
    case source(any EvaluationSource)
    /// A thing no model type describes; only identity can be asked.
    case opaque(AnyObject)
}

/// Something with properties that a predicate can ask for: a managed object, a row of a store, any key-value object.
package protocol EvaluationSource {
    /// The value under one key. A relationship answers `.source` or a `.collection` of them, nil answers `.value(.null)`.
    func operand(forKey key: String) -> Operand
    /// What `SELF` compares as: the object's key when it has one.
    var identity: Value { get }
    /// Whether both are the same object. By default: whether they have the same identity, and one at all.
    func isSame(as other: any EvaluationSource) -> Bool
    /// How many entries it has, if it is a dictionary. By default none is.
    var count: Int? { get }
}

extension EvaluationSource {
    package var count: Int? { nil }

    package func isSame(as other: any EvaluationSource) -> Bool {
        !identity.isNull && identity == other.identity
    }
}

extension Operand {
    static var null: Operand { .value(.null) }

    var isNull: Bool { if case .value(.null) = self { true } else { false } }

    /// What a collection holds, nulls included and nested collections flattened; nothing for null, the thing itself for
    /// all else.
    var members: [Operand] {
        switch self {
        case .collection(let members): members.flatMap { $0.isNull ? [$0] : $0.members }
        case .value(.null): []
        case .value, .float, .source, .opaque: [self]
        }
    }

    /// How many it holds; of a dictionary, how many entries.
    var count: Int { if case .source(let source) = self, let count = source.count { count } else { members.count } }

    /// The value to order by; null for what has no order.
    package var comparable: Value {
        switch self {
        case .value(let value): value
        case .float(let float): .double(Double(float))
        case .source(let source): source.identity
        case .collection, .opaque: .null
        }
    }

    var text: String? { if case .value(let value) = self { ValueOrder.text(value) } else { nil } }
    var number: Number? {
        switch self {
        case .value(let value): Number(value)
        case .float(let float): .double(Double(float))
        case .collection, .source, .opaque: nil
        }
    }

    /// A Float as the number that it is, which is not made another's Float.
    var widened: Operand {
        switch self {
        case .float(let float): .value(.double(Double(float)))
        case .collection(let members): .collection(members.map(\.widened))
        case .value, .source, .opaque: self
        }
    }

    /// What a cell of a store's kind holds, as predicates see it.
    package init(_ value: Value, _ kind: SlotKind) {
        if kind == .float, case .double(let number) = value {
            self = .float(Float(number))
        } else {
            self = .value(value)
        }
    }
}
