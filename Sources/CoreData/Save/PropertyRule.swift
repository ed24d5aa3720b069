// The validation predicates that a program gave a property.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The predicates of one property, with their warnings (`NSPropertyDescription.setValidationPredicates`).
struct PropertyRule {
    let key: String
    let place: PropertyPlace
    private let predicates: [NSPredicate]
    private let warnings: [Any]

    /// The rules of an entity, in the order of its properties' names.
    static func rules(_ entity: Entity, _ description: NSEntityDescription) -> [PropertyRule] {
        description.propertiesByName.sorted { $0.key < $1.key }.compactMap { key, property in
            guard !property.validationPredicates.isEmpty, let place = entity.places[key] else { return nil }
            return PropertyRule(
                key: key, place: place, predicates: property.validationPredicates, warnings: property.validationWarnings)
        }
    }

    /// Every predicate that a value does not satisfy. nil satisfies all: whether it may be nil is another rule.
    ///
    /// A warning that is a number is the error's code; a text is its sentence, with the code 1550.
    func complaints(about value: Any?) -> [Complaint] {
        guard let value else { return [] }
        return predicates.enumerated().compactMap { place, predicate in
            if predicate.evaluate(with: value) { return nil }
            let warning = warnings.indices.contains(place) ? warnings[place] : nil
            let text = warning.map { "\($0)" } ?? ""
            if let code = Int(text) {
                return Complaint(code: code, sentence: "does not satisfy \(predicate)", predicate: predicate)
            }
            let sentence = text.isEmpty ? "does not satisfy \(predicate)" : "is refused: \(text)"
            return Complaint(code: 1550, sentence: sentence, predicate: predicate)
        }
    }
}
