// The model that the object tests share: every kind of relationship and attribute, made in code.

import CoreDataValues
import Foundation

import CoreData

package enum Clinic {
    package static func attribute(
        _ name: String, _ type: AttributeType, optional: Bool = true, default value: Value = .null,
        transient: Bool = false, external: Bool = false
    ) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        (attribute.isOptional, attribute.isTransient, attribute.defaultValue) = (optional, transient, value)
        attribute.allowsExternalBinaryDataStorage = external
        return attribute
    }

    package static func transformable(_ name: String, _ transformer: String? = nil) -> Attribute {
        var attribute = attribute(name, .transformable)
        attribute.valueTransformerName = transformer
        return attribute
    }

    package static func composite(_ name: String, _ type: String, optional: Bool = true) -> Attribute {
        var attribute = attribute(name, .composite, optional: optional)
        attribute.compositeName = type
        return attribute
    }

    package static func toOne(_ name: String, _ destination: String, inverse: String?, rule: DeleteRule = .nullify)
        -> Relationship
    {
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.inverseName = inverse
        relationship.isOptional = true
        relationship.deleteRule = rule
        return relationship
    }

    package static func toMany(
        _ name: String, _ destination: String, inverse: String?, ordered: Bool = false, rule: DeleteRule = .nullify
    ) -> Relationship {
        var relationship = toOne(name, destination, inverse: inverse, rule: rule)
        relationship.maxCount = 0
        relationship.isOrdered = ordered
        return relationship
    }

    /// Patient ⇄ Ward (one to many), Patient ⇄ Doctor (many to many), Patient ⇄ Visit (ordered, cascade), Patient ⇄ Bed (one to
    /// one), Place ◁ Ward (inheritance), Doctor ⇄ Badge (deny).
    package static func draft() -> SchemaDraft {
        var patient = EntityDraft(name: "Patient")
        patient.attributes = [
            attribute("name", .string, optional: false), attribute("age", .integer16), attribute("weight", .double),
            attribute("born", .date), attribute("tag", .uuid), attribute("photo", .binary), attribute("fee", .decimal),
            attribute("link", .uri), attribute("awake", .boolean), attribute("code", .integer32),
        ]
        patient.relationships = [
            toOne("ward", "Ward", inverse: "patients"), toMany("doctors", "Doctor", inverse: "patients"),
            toMany("visits", "Visit", inverse: "patient", ordered: true, rule: .cascade),
            toOne("bed", "Bed", inverse: "patient"),
        ]
        var place = EntityDraft(name: "Place")
        place.isAbstract = true
        place.attributes = [attribute("name", .string), attribute("code", .integer32)]
        let ward = EntityDraft(
            "Ward", [attribute("beds", .integer32)], [toMany("patients", "Patient", inverse: "ward")], parent: "Place")
        var doctor = EntityDraft(name: "Doctor")
        doctor.attributes = [attribute("name", .string), attribute("code", .integer32)]
        doctor.relationships = [
            toMany("patients", "Patient", inverse: "doctors"),
            toMany("badges", "Badge", inverse: "doctor", rule: .deny),
        ]
        let badge = EntityDraft("Badge", [attribute("code", .string)], [toOne("doctor", "Doctor", inverse: "badges")])
        var visit = EntityDraft(name: "Visit")
        visit.attributes = [attribute("note", .string), attribute("code", .integer32)]
        visit.relationships = [toOne("patient", "Patient", inverse: "visits")]
        var bed = EntityDraft(name: "Bed")
        bed.attributes = [attribute("number", .integer32), attribute("code", .integer32)]
        bed.relationships = [toOne("patient", "Patient", inverse: "bed")]
        return SchemaDraft(patient, place, ward, doctor, badge, visit, bed)
    }

    /// The same with an order on both sides of Patient ⇄ Doctor, and for the patients of a ward.
    package static func orderedDraft() -> SchemaDraft {
        var draft = draft()
        for entity in draft.entities.indices {
            for place in draft.entities[entity].relationships.indices
            where ["doctors", "patients"].contains(draft.entities[entity].relationships[place].name) {
                draft.entities[entity].relationships[place].isOrdered = true
            }
        }
        return draft
    }

    /// The next version: beds have a comfort.
    package static func laterDraft() -> SchemaDraft {
        var draft = draft()
        let comfort = attribute("comfort", .integer64, optional: false, default: .int(4))
        for place in draft.entities.indices where draft.entities[place].name == "Bed" {
            draft.entities[place].attributes.append(comfort)
        }
        return draft
    }

    package static func laterModel() -> NSManagedObjectModel { NSManagedObjectModel(draft: laterDraft()) }
    package static func model() -> NSManagedObjectModel { NSManagedObjectModel(draft: draft()) }
}
