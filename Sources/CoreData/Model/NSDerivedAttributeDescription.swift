// An attribute that the store computes.

import CoreDataValues
import Foundation

/// An attribute whose value the store derives from other properties when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription {
    public override init() { super.init() }

    /// The expression as the model file spells it, `chapters.@count` or `now()`.
    package final var derivationText: String? {
        get { declared.derivationExpression }
        set {
            requireEditable("derivationExpression")
            declared.derivationExpression = newValue
        }
    }

    override func emptyCopy() -> NSPropertyDescription { NSDerivedAttributeDescription() }
}
