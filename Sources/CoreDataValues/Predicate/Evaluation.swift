// Asking a predicate about an object or a row in memory.

/// What an expression came to.
package indirect enum Operand {
    case value(Value)
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
}
