// Predicates and expressions as values: what the evaluator, the SQL compiler and the printer share.

/// A condition on one object or row.
package indirect enum Predicate: Sendable, Hashable, Codable {
    case constant(Bool)
    case comparison(Comparison)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
}

extension Predicate {
    /// The parts of an AND, those of ANDs inside it included, in order. Without recursion: such chains can be long.
    package var conjuncts: [Predicate] {
        flattened { if case .and(let parts) = $0 { parts } else { nil } }
    }

    /// The parts of an OR, those of ORs inside it included, in order.
    package var disjuncts: [Predicate] {
        flattened { if case .or(let parts) = $0 { parts } else { nil } }
    }

    private func flattened(_ parts: (Predicate) -> [Predicate]?) -> [Predicate] {
        var waiting = [self]
        var flat: [Predicate] = []
        while let next = waiting.popLast() {
            if let inner = parts(next) { waiting += inner.reversed() } else { flat.append(next) }
        }
        return flat
    }
}

/// Two expressions and how they are compared.
package struct Comparison: Sendable, Hashable, Codable {
    package enum Operator: Sendable, Hashable, CaseIterable, Codable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case between, `in`, contains, beginsWith, endsWith, like, matches
    }
    package enum Modifier: Sendable, Hashable, Codable { case direct, any, all }
    package struct Options: OptionSet, Sendable, Hashable, Codable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let caseInsensitive = Options(rawValue: 1)
        package static let diacriticInsensitive = Options(rawValue: 2)
        package static let normalized = Options(rawValue: 4)
        package static let localeSensitive = Options(rawValue: 8)
    }
    package var left: Expression
    package var right: Expression
    package var op: Operator
    package var modifier: Modifier = .direct
    package var options: Options = []
    package init(
        _ left: Expression, _ op: Operator, _ right: Expression, modifier: Modifier = .direct, options: Options = []
    ) {
        self.left = left
        self.right = right
        self.op = op
        self.modifier = modifier
        self.options = options
    }
}

/// Something with a value.
package indirect enum Expression: Sendable, Hashable, Codable {
    case constant(Value)
    case list([Expression])
    /// The object the predicate is asked about.
    case this
    /// `a.b.@count` is `["a", "b", "@count"]`.
    case keyPath([String])
    case variable(String)
    /// `sum:`, `add:to:` … by the names of `PredicateFunctions`. Written otherwise in the format language:
    /// - a key path of something else than `SELF`: `valueForKeyPath:` (target, `.keyPath`), as in `$x.name`,
    ///   `SUBQUERY(…).@count`; of a key path that a variable will name, (target, `.variable`), as in `$x.$key`;
    /// - `a UNION b`, `a INTERSECT b`, `a MINUS b`: `unionSet:with:` …;
    /// - `ANYKEY`, `FETCH(request, context, NO)` and `$x := a` are read and printed, and refused wherever a value is asked for;
    /// - `a[0]`, `a[FIRST]`, `a['k']`: `objectFrom:withIndex:` (target, index or `FIRST`, `LAST`, `SIZE` without arguments);
    /// - `CAST(a, 't')`: `castObject:toType:` (a, text); `FUNCTION(a, 's', b…)`: `FUNCTION` (a, text, b…).
    case function(String, [Expression])
    case subquery(collection: Expression, variable: String, predicate: Predicate)
    /// `TERNARY(p, a, b)`: one of two values.
    case conditional(Predicate, Expression, Expression)
}
