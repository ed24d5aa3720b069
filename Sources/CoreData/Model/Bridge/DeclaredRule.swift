// What a model says of an attribute's values, as predicates.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One bound, length or pattern of a model: the predicate that a value must satisfy, and the error's code if it does not.
struct DeclaredRule {
    let code: Int
    let predicate: NSPredicate

    init(_ code: Int, _ format: String, _ value: Any) {
        self.code = code
        predicate = NSPredicate(format: format, argumentArray: [value])
    }

    static func minimum(_ value: Any, ofDate isDate: Bool) -> DeclaredRule {
        DeclaredRule(isDate ? 1640 : 1620, "SELF >= %@", value)
    }
    static func maximum(_ value: Any, ofDate isDate: Bool) -> DeclaredRule {
        DeclaredRule(isDate ? 1630 : 1610, "SELF <= %@", value)
    }
    static func minimumLength(_ length: Int) -> DeclaredRule { DeclaredRule(1670, "length >= %@", length) }
    static func maximumLength(_ length: Int) -> DeclaredRule { DeclaredRule(1660, "length <= %@", length) }
    static func pattern(_ pattern: String) -> DeclaredRule { DeclaredRule(1680, "SELF MATCHES %@", pattern) }
}

extension Attribute {
    var hasRules: Bool {
        minimum != nil || maximum != nil || minimumLength != nil || maximumLength != nil || pattern != nil
    }

    /// The rules that the model declares.
    var rules: [DeclaredRule] {
        [
            minimum?.object.map { DeclaredRule.minimum($0, ofDate: type == .date) },
            maximum?.object.map { DeclaredRule.maximum($0, ofDate: type == .date) },
            minimumLength.map(DeclaredRule.minimumLength), maximumLength.map(DeclaredRule.maximumLength),
            pattern.map(DeclaredRule.pattern),
        ].compactMap { $0 }
    }
}
