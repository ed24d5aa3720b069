// Variables, key paths, captured values and arithmetic.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

extension PredicateExpressions.Variable: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try translation.term(of: key)
    }
}

extension PredicateExpressions.Value: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        PredicateTerm(.constant(value))
    }
}

extension PredicateExpressions.KeyPath: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let owner = try translation.term(root)
        if let constant = owner.constant {
            guard let object = constant as? Root.Output else { return PredicateTerm(.constant(nil)) }
            return PredicateTerm(.constant(object[keyPath: keyPath]))
        }
        let type = Root.Output.self
        if type is any KeyPathNaming.Type {
            return PredicateTerm(.value(try owner.unguarded().appending(.path(keyPath))), guard: owner.guard)
        }
        if let property = (type as? any CounterpartProperties.Type)?.counterpart(of: keyPath) {
            return PredicateTerm(property.of(try owner.unguarded()).kind, guard: owner.guard)
        }
        if (type as? any RawRepresentable.Type).map({ isRawValue(keyPath, of: $0) }) ?? false { return owner }
        throw .noCounterpart(
            "A property of \(type) that is \(Output.self)",
            "Of texts and collections count and isEmpty have one, of managed objects all that is modelled.")
    }
}

/// Whether a key path of an enumeration is its raw value: it has that type, and gives it for each case.
private func isRawValue<T: RawRepresentable>(_ keyPath: AnyKeyPath, of type: T.Type) -> Bool {
    guard let path = keyPath as? KeyPath<T, T.RawValue> else { return false }
    let cases = rawValues(ofCases: type).compactMap { ($0 as? T.RawValue).flatMap(T.init(rawValue:)) }
    return cases.allSatisfy { Value(any: $0[keyPath: path]) == Value(any: $0.rawValue) }
}

// MARK: Arithmetic

extension PredicateTerm {
    /// A calculation of terms; a constant where all of them are.
    fileprivate static func calculated(
        _ name: String, _ terms: [PredicateTerm], _ node: any PredicateExpression
    ) throws(PredicateError) -> PredicateTerm {
        if terms.allSatisfy({ $0.constant != nil }), let constant = node.captured { return constant }
        var operands: [NSExpression] = []
        for term in terms { operands.append(try term.expression()) }
        return .value(NSExpression(forFunction: name, arguments: operands))
    }
}

extension PredicateExpressions.Arithmetic: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let name =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default:
                throw PredicateError("The operator “\(op)” has no counterpart among the functions of NSExpression.")
            }
        return try .calculated(name, [try translation.term(lhs), try translation.term(rhs)], self)
    }
}

extension PredicateExpressions.UnaryMinus: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        let term = try translation.term(wrapped)
        if term.constant != nil, let constant = captured { return constant }
        return .value(NSExpression(forFunction: "from:subtract:", arguments: [0, try term.expression()]))
    }
}

extension PredicateExpressions.IntDivision: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .calculated("divide:by:", [try translation.term(lhs), try translation.term(rhs)], self)
    }
}

extension PredicateExpressions.FloatDivision: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .calculated("divide:by:", [try translation.term(lhs), try translation.term(rhs)], self)
    }
}

extension PredicateExpressions.IntRemainder: TranslatedExpression {
    func term(in translation: inout SwiftTranslation) throws(PredicateError) -> PredicateTerm {
        try .calculated("modulus:by:", [try translation.term(lhs), try translation.term(rhs)], self)
    }
}
