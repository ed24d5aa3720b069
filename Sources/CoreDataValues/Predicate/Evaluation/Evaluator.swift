// A predicate compiled to closures, once, to be asked about many objects.

import Foundation

/// What an evaluation knows: the object in question and the bound variables.
struct Scope {
    let this: Operand
    var variables: [String: Operand]
    /// The variables that are known by their places.
    var places: [Operand] = []
}

/// A compiled predicate. Null is two-valued (14.11): `x != 'a'` holds for null, orders and text operators do not.
package struct Evaluator {
    private let test: (Scope) -> Bool
    /// The `$names` that `matches` must be given.
    package let freeVariables: Set<String>

    /// - Throws: `PredicateError` for an unknown function or collection operator and for a `MATCHES` pattern that is none.
    ///
    /// - Parameter isLenient: Whether an unknown collection operator is null instead, as an unknown key is.
    package init(_ predicate: Predicate, isLenient: Bool = false) throws(PredicateError) {
        let compiler = EvaluatorCompiler(isLenient: isLenient)
        test = try compiler.test(predicate)
        freeVariables = predicate.freeVariables
    }

    package func matches(_ source: any EvaluationSource, variables: [String: Operand] = [:]) -> Bool {
        test(Scope(this: .source(source), variables: variables))
    }

    /// The same for a `SELF` that is a value or a collection.
    package func matches(_ this: Operand, variables: [String: Operand] = [:]) -> Bool {
        test(Scope(this: this, variables: variables))
    }
}

/// A compiled expression.
package struct ExpressionEvaluator {
    private let code: (Scope) -> Operand
    package let freeVariables: Set<String>

    /// - Parameter placed: the variables that are given in this order, without their names.
    package init(_ expression: Expression, isLenient: Bool = false, placed: [String] = []) throws(PredicateError) {
        let places = Dictionary(zip(placed, placed.indices), uniquingKeysWith: { first, _ in first })
        code = try EvaluatorCompiler(isLenient: isLenient, places: places).code(expression)
        freeVariables = expression.freeVariables
    }

    package func value(_ this: Operand, variables: [String: Operand] = [:]) -> Operand {
        code(Scope(this: this, variables: variables))
    }

    /// The same with the variables by their places, one for each.
    package func value(_ this: Operand, placed: [Operand]) -> Operand {
        code(Scope(this: this, variables: [:], places: placed))
    }
}

/// Makes closures of trees.
struct EvaluatorCompiler {
    typealias Test = (Scope) -> Bool
    typealias Code = (Scope) -> Operand
    var isLenient = false
    /// Where variables stand that have no need of a name.
    var places: [String: Int] = [:]

    func test(_ predicate: Predicate) throws(PredicateError) -> Test {
        switch predicate {
        case .constant(let flag): return { _ in flag }
        case .comparison(let comparison): return try self.comparison(comparison)
        case .and(let parts):
            let tests = try tests(parts)
            return { scope in tests.allSatisfy { $0(scope) } }
        case .or(let parts):
            let tests = try tests(parts)
            return { scope in tests.contains { $0(scope) } }
        case .not(let part):
            let inner = try test(part)
            return { !inner($0) }
        }
    }

    private func tests(_ predicates: [Predicate]) throws(PredicateError) -> [Test] {
        var result: [Test] = []
        for predicate in predicates { result.append(try test(predicate)) }
        return result
    }

    private func comparison(_ comparison: Comparison) throws(PredicateError) -> Test {
        let isColumn = !comparison.left.isGiven && !comparison.right.isGiven
        let left = try side(comparison.left, isColumn: isColumn)
        let right = try side(comparison.right, isColumn: isColumn)
        let relation = try relation(comparison)
        if comparison.modifier == .direct { return { relation(left($0), right($0)) } }
        let isAll = comparison.modifier == .all
        let isTurned = comparison.left.isGiven && !comparison.left.isList && !comparison.right.isGiven
        return { scope in
            let (a, b) = (left(scope), right(scope))
            // ANY and ALL go through the collection, on whichever side it stands.
            if comparison.op != .in, isTurned || (!a.isCollection && b.isCollection && !comparison.right.isList) {
                return isAll ? b.members.allSatisfy { relation(a, $0) } : b.members.contains { relation(a, $0) }
            }
            return isAll ? a.members.allSatisfy { relation($0, b) } : a.members.contains { relation($0, b) }
        }
    }

    /// A Float beside another column or a computed value is the number that it is; a constant beside it is made a Float.
    private func side(_ expression: Expression, isColumn: Bool) throws(PredicateError) -> Code {
        let code = try code(expression)
        return isColumn ? { code($0).widened } : code
    }

    /// Patterns and lists that are constant are prepared once.
    private func relation(_ comparison: Comparison) throws(PredicateError) -> (Operand, Operand) -> Bool {
        let relation = Relation(op: comparison.op, options: comparison.options)
        let general: (Operand, Operand) -> Bool = { relation.holds($0, $1) }
        if case .constant(.text(let text)) = comparison.right {
            if comparison.op == .like {
                let pattern = LikePattern(text, options: comparison.options)
                return { left, _ in left.text.map(pattern.matches) ?? false }
            }
            if comparison.op == .matches {
                let pattern = try RegularPattern(text, options: comparison.options)
                return { left, _ in left.text.map(pattern.matches) ?? false }
            }
        }
        guard comparison.op == .in, case .list(let items) = comparison.right else {
            return general
        }
        let values = items.compactMap { if case .constant(let value) = $0 { value.known } else { nil } }
        guard values.count == items.count, let membership = Membership(values, comparison.options) else {
            return general
        }
        return { left, list in
            switch left {
            // An object without a key is not null for that.
            case .source(let source) where source.identity.isNull: general(left, list)
            case .value, .source: membership.contains(left.comparable) ?? general(left, list)
            case .collection, .float, .opaque: general(left, list)
            }
        }
    }

    func code(_ expression: Expression) throws(PredicateError) -> Code {
        switch expression {
        case .constant(let value):
            let known = Operand.value(value.known)
            return { _ in known }
        case .list(let items): return try list(items)
        case .this: return { $0.this }
        case .keyPath(let path):
            if isLenient, KeyPathReader.hasUnknownOperator(path) { return { _ in .null } }
            let reader = try KeyPathReader(path)
            return { reader.read($0.this) }
        case .variable(let name):
            if let place = places[name] { return { $0.places[place] } }
            return { $0.variables[name] ?? .null }
        case .function(let name, let arguments): return try function(name, arguments)
        case .conditional(let condition, let first, let second):
            let (test, yes, no) = (try test(condition), try code(first), try code(second))
            return { test($0) ? yes($0) : no($0) }
        case .subquery(let collection, let variable, let predicate):
            let members = try code(collection)
            // The iterator hides a variable of the same name.
            var body = self
            body.places[variable] = nil
            let test = try body.test(predicate)
            return { scope in
                var inner = scope
                let all = members(scope)
                // Nothing has no members, not even none.
                if all.isNull { return .null }
                return .collection(
                    all.members.filter { member in
                        inner.variables[variable] = member
                        return test(inner)
                    })
            }
        }
    }

    private func list(_ items: [Expression]) throws(PredicateError) -> Code {
        var codes: [Code] = []
        var constants: [Operand] = []
        for item in items {
            if case .constant(let value) = item { constants.append(.value(value.known)) }
            codes.append(try code(item))
        }
        if constants.count == items.count {
            let whole = Operand.collection(constants)
            return { _ in whole }
        }
        return { scope in .collection(codes.map { $0(scope) }) }
    }

    private func function(_ name: String, _ arguments: [Expression]) throws(PredicateError) -> Code {
        if name == "valueForKeyPath:", arguments.count == 2 {
            switch arguments[1] {
            case .keyPath(let path):
                if isLenient, KeyPathReader.hasUnknownOperator(path) { return { _ in .null } }
                let target = try code(arguments[0])
                let reader = try KeyPathReader(path)
                return { reader.read(target($0)) }
            case .this: return try code(arguments[0])
            case .variable:
                let (target, key) = (try code(arguments[0]), try code(arguments[1]))
                return { EvaluatorCompiler.value(of: target($0), at: key($0)) }
            case .constant, .list, .function, .subquery, .conditional: break
            }
        }
        return try call(name, arguments)
    }

    /// What lies at the end of a key path that only the variables of an evaluation tell; null where they tell none.
    private static func value(of target: Operand, at key: Operand) -> Operand {
        guard let path = key.text, let reader = try? KeyPathReader(path.keys) else { return .null }
        return reader.read(target)
    }

    private func call(_ name: String, _ arguments: [Expression]) throws(PredicateError) -> Code {
        var name = name
        var arguments = arguments
        if name == "FUNCTION", arguments.count >= 2, case .constant(.text(let selector)) = arguments[1] {
            name = PredicateFunctions.name(ofSelector: selector)
            arguments.remove(at: 1)
        }
        guard let apply = PredicateFunctions.named(name, count: arguments.count) else {
            throw PredicateError("The function “\(name)” with \(arguments.count) arguments is not supported in memory.")
        }
        var codes: [Code] = []
        for argument in arguments { codes.append(try code(argument)) }
        return { scope in apply(codes.map { $0(scope) }) }
    }
}

extension Expression {
    /// Whether it is the same for every object: constants, lists of them, variables.
    fileprivate var isGiven: Bool {
        switch self {
        case .constant, .variable: true
        case .list(let items): items.allSatisfy(\.isGiven)
        case .this, .keyPath, .function, .subquery, .conditional: false
        }
    }

    fileprivate var isList: Bool { if case .list = self { true } else { false } }
}

extension Operand {
    fileprivate var isCollection: Bool { if case .collection = self { true } else { false } }
}
