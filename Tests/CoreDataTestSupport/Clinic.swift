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

/// A coordinator with one store, and contexts on it.
package final class Stack {
    package let folder = Folder()
    package let coordinator: NSPersistentStoreCoordinator
    package let context: NSManagedObjectContext

    package init(
        _ type: String = NSSQLiteStoreType, model: NSManagedObjectModel = Clinic.model(), undo: Bool = true,
        options: [AnyHashable: Any]? = nil
    ) throws {
        StoreMaker.registerSamples()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("store.sqlite"),
            options: type == NSSQLiteStoreType ? options : nil)
        context = coordinator.context()
        if undo { context.undoManager = UndoManager() }
    }

    package func another() -> NSManagedObjectContext { coordinator.context() }

    /// A patient that is saved.
    package func saved(_ name: String = "Ada") throws -> NSManagedObject {
        let patient = context.make("Patient", ["name": name])
        try context.save()
        return patient
    }
}

extension NSPersistentStoreCoordinator {
    /// A coordinator with one store.
    package convenience init(
        _ model: NSManagedObjectModel, _ type: String = NSSQLiteStoreType, at url: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws {
        self.init(managedObjectModel: model)
        try addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    }

    /// A coordinator with two stores: of First, and of Second, whose names are unique.
    package static func pair(in folder: Folder) throws -> NSPersistentStoreCoordinator {
        let first = EntityDraft("First", [Clinic.attribute("name", .string)])
        var second = EntityDraft("Second", first.attributes)
        second.uniquenessConstraints = [["name"]]
        var draft = SchemaDraft(first, second)
        draft.configurations = ["One": ["First"], "Two": ["Second"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
        for name in ["One", "Two"] {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: name, at: folder.file(name))
        }
        return coordinator
    }

    /// A new context with a queue of its own.
    package func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}

extension NSFetchRequest {
    /// - Parameters:
    ///   - format: the predicate's.
    ///   - key: what the results are sorted by.
    package convenience init(_ entity: String, _ format: String? = nil, _ arguments: Any..., by key: String? = nil) {
        self.init(entityName: entity)
        predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
    }
}

extension NSManagedObjectContext {
    /// A new context with a queue of its own, below this one.
    package func child() -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = self
        return child
    }

    @discardableResult
    package func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// - Parameter key: what they are sorted by.
    package func all(_ entity: String, by key: String? = nil) throws -> [NSManagedObject] {
        try fetch(NSFetchRequest<NSManagedObject>(entity, by: key))
    }
}
