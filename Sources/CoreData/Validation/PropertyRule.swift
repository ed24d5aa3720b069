// The validation predicates that a program gave a property.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// The predicates of one property, with their warnings (`NSPropertyDescription.setValidationPredicates`).
struct PropertyRule {
    let key: String
    private let place: Place
    private let predicates: [NSPredicate]
    private let warnings: [Any]

    private enum Place {
        case property(PropertyPlace)
        case composite(CompositePlace)
    }

    /// The rules of an entity, in the order of its properties' names.
    static func rules(_ entity: Entity, _ description: NSEntityDescription) -> [PropertyRule] {
        description.propertiesByName.sorted { $0.key < $1.key }.compactMap { key, property in
            guard !property.programPredicates.isEmpty,
                let place = entity.places[key].map(Place.property) ?? entity.composites[key].map(Place.composite)
            else { return nil }
            return PropertyRule(
                key: key, place: place, predicates: property.programPredicates, warnings: property.programWarnings)
        }
    }

    /// The object's value of the property; a composite as a dictionary.
    func value(of object: NSManagedObject) -> Any? {
        switch place {
        case .property(let place): object.anyValue(place)
        case .composite(let composite): object.dictionary(of: composite)
        }
    }

    /// Returns a complaint for every predicate that a value does not satisfy; none for nil, which another rule judges.
    ///
    /// A numeric warning is the error's code; a text is its sentence, with the code 1550.
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
