// What the language of expressions computes for a mapping.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An expression of values that stand in it as variables.
struct MappingExpression {
    /// One of these values.
    struct Part {
        let variable: String
        let value: MappingValue
        /// The slot of the source entity that it reads, if its cell is all there is to read.
        let slot: Int?
    }
    let expression: NSExpression
    let parts: [Part]
    /// nil for one that is evaluated anew for each object.
    private let prepared: PreparedExpression?

    init(_ expression: NSExpression, _ parts: [Part]) {
        (self.expression, self.parts) = (expression, parts)
        prepared = PreparedExpression(expression, variables: parts.map(\.variable))
    }

    /// - Throws: what its parts throw.
    func value(in scope: MappingScope) throws -> Any? {
        if let operand = try operand(in: scope) { return operand.object }
        let variables = NSMutableDictionary()
        for part in parts {
            variables.setObject(try part.value.value(in: scope) ?? NSNull(), forKey: part.variable as NSString)
        }
        return expression.expressionValue(with: scope.source, context: variables)
    }

    /// What it comes to, without an object made of it; nil for one that is evaluated anew for each object.
    func operand(in scope: MappingScope) throws -> Operand? {
        guard let prepared else { return nil }
        return prepared.value(with: scope.source, try parts.map { try $0.operand(in: scope) })
    }
}

extension MappingExpression.Part {
    fileprivate func operand(in scope: MappingScope) throws -> Operand {
        guard let slot, scope.readsSlots, let source = scope.source else {
            return PreparedExpression.operand(try value.value(in: scope))
        }
        return Operand(source.value(at: slot), source.kind(slot))
    }
}
