// An attribute that the store computes.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An attribute whose value the store derives from other properties when an object is saved.
///
/// The object shows the new value once it is refreshed. What is assigned to the attribute is never written,
/// but it satisfies an attribute that is not optional until the first save.
open class NSDerivedAttributeDescription: NSAttributeDescription {
    public override init() { super.init() }

    /// What the value is derived by: `now()`, `canonical:(a)`, `uppercase:(a)`, `lowercase:(a)`, an attribute
    /// at the end of to-ones, `toMany.@count` or `toMany.@sum.a`.
    ///
    /// A store refuses anything else with 134060 when it is added. Asking costs the reading of a text.
    open var derivationExpression: NSExpression? {
        get {
            derivationText.flatMap { try? FormatParser.expression($0) }
                .flatMap(NSDerivedAttributeDescription.expression)
        }
        set { derivationText = newValue?.description }
    }

    /// The expression as the model file spells it, `chapters.@count` or `now()`.
    package final var derivationText: String? {
        get { declared.derivationExpression }
        set {
            requireEditable("derivationExpression")
            declared.derivationExpression = newValue
        }
    }

    /// The expressions that a derivation can be made of.
    private static func expression(_ tree: CoreDataValues.Expression) -> NSExpression? {
        switch tree {
        case .keyPath(let path): NSExpression(forKeyPath: path.joined(separator: "."))
        case .function(let name, let arguments):
            NSExpression(forFunction: name, arguments: arguments.compactMap(expression))
        case .constant, .list, .this, .variable, .subquery, .conditional: nil
        }
    }

    override func emptyCopy() -> NSPropertyDescription { NSDerivedAttributeDescription() }
}
