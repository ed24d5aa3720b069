// A column that a fetch computes.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A property whose value a fetch of dictionaries computes. It is no property of an entity: a model with one in it is refused.
open class NSExpressionDescription: NSPropertyDescription {
    /// What computes the value.
    open var expression: NSExpression? { willSet { requireEditable("expression") } }
    /// The type of the value.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType {
        willSet { requireEditable("expressionResultType") }
    }

    /// `expressionResultType` in its shorter spelling.
    public final var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    public override init() { super.init() }

    override func emptyCopy() -> NSPropertyDescription { NSExpressionDescription() }

    override func copyProperties(of other: NSPropertyDescription) {
        super.copyProperties(of: other)
        guard let other = other as? NSExpressionDescription else { return }
        expression = other.expression
        expressionResultType = other.expressionResultType
    }
}
