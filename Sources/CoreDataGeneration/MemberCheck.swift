// Properties that the class made for them could not have, told where the model declares them.

import CoreDataValues

/// Checks the members of one class.
struct MemberCheck {
    let plan: ClassPlan
    let style: GenerationOptions.Style

    func run() throws(SchemaError) {
        for attribute in plan.attributes { try check(attribute.name, attribute.location) }
        for relationship in plan.relationships { try check(relationship.name, relationship.description.location) }
        for property in plan.fetchedProperties { try check(property.name, property.location) }
        try checkMethods()
        for attribute in plan.attributes { try checkClass(of: attribute) }
    }

    private func check(_ name: String, _ location: SourceLocation?) throws(SchemaError) {
        if !SwiftName.canBeProperty(name) { throw refusal(name, location, "is no name that Swift can declare") }
        if Self.inherited.contains(name) { throw refusal(name, location, "is a member of every NSManagedObject") }
    }

    /// `items` and `Items` would both have `addToItems`.
    private func checkMethods() throws(SchemaError) {
        var seen: [String: String] = [:]
        for relationship in plan.relationships where relationship.isToMany {
            let method = "addTo" + SwiftName.capitalized(relationship.name)
            if let other = seen.updateValue(relationship.name, forKey: method) {
                throw refusal(
                    relationship.name, relationship.description.location,
                    "needs the method \(method), as “\(other)” does")
            }
        }
    }

    /// The class of a transformable and the type of an enumeration are written as the model has them, so they must be able to be types.
    private func checkClass(of attribute: Attribute) throws(SchemaError) {
        for text in [attribute.customClassName, attribute.userInfo["enum"]].compactMap({ $0 }) {
            let marks: Set<Character> = ["_", ".", "[", "]", ":", ",", "<", ">", "?", "(", ")", " ", "&"]
            guard text.allSatisfy({ $0.isLetter || $0.isNumber || marks.contains($0) }) else {
                throw noType(text, attribute)
            }
        }
        if let text = AttributeText.customClass(attribute), !SwiftName.canBeType(text) { throw noType(text, attribute) }
        // Xcode's style has no enumerations.
        if style == .swift, let text = attribute.userInfo["enum"], !SwiftName.canBeEnumeration(text) {
            throw noType(text, attribute)
        }
    }

    private func noType(_ text: String, _ attribute: Attribute) -> SchemaError {
        refusal(attribute.name, attribute.location, "has the class “\(text)”, which is no Swift type")
    }

    private func refusal(_ name: String, _ location: SourceLocation?, _ why: String) -> SchemaError {
        SchemaError(
            "“\(plan.entity.name).\(name)” \(why), so no class can be made. Rename it, or set the entity's code generation to Manual/None",
            entity: plan.entity.name, property: name, location: location)
    }

    /// What `NSObject` and `NSManagedObject` have here beyond the names that no model may use.
    private static let inherited: Set<String> = [
        "hash", "hashValue", "description", "debugDescription", "classForCoder", "classForKeyedArchiver", "rowVersion",
    ]
}
