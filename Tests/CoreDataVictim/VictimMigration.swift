// A store that is brought from one version of its model to the next, in place or by a mapping model.

import CoreData
import CoreDataTestSupport
import CoreDataValues
import Foundation

/// Notes (some with values in files), each with tags in an order and a name of its own, and sheets, which go; later notes are entries, with
/// a level.
enum VictimMigration {
    static func first() -> NSManagedObjectModel {
        model("Note", "name", "notes", others: [entity("Sheet", [data("scan")])])
    }

    static func second() -> NSManagedObjectModel {
        var level = Attribute(name: "level", type: .integer64)
        level.defaultValue = .int(7)
        return model("Entry", "title", "entries", [level], others: [EntityDraft(name: "Drawer")])
    }

    /// Everything about the later version that is not in its name.
    private static func model(
        _ note: String, _ title: String, _ back: String, _ more: [Attribute] = [], others: [EntityDraft]
    ) -> NSManagedObjectModel {
        var (name, tag) = (attribute(title, .string), entity("Tag", [attribute("word", .string)]))
        name.renamingIdentifier = "name"
        var notes = entity(note, [name, data("photo")] + more)
        notes.renamingIdentifier = "Note"
        notes.uniquenessConstraints = [[title]]
        notes.relationships = [many("tags", "Tag", back)]
        tag.relationships = [many(back, note, "tags", was: "notes")]
        var draft = SchemaDraft()
        draft.entities = [notes, tag] + others
        return NSManagedObjectModel(draft: draft)
    }

    private static func entity(_ name: String, _ attributes: [Attribute]) -> EntityDraft {
        var entity = EntityDraft(name: name)
        entity.attributes = attributes
        return entity
    }

    private static func attribute(_ name: String, _ type: AttributeType) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = true
        return attribute
    }

    private static func data(_ name: String) -> Attribute {
        var data = attribute(name, .binary)
        data.allowsExternalBinaryDataStorage = true
        return data
    }

    private static func many(_ name: String, _ destination: String, _ inverse: String, was former: String? = nil)
        -> Relationship
    {
        var relationship = Relationship(name: name, destinationName: destination)
        (relationship.inverseName, relationship.inverseEntityName, relationship.renamingIdentifier) = (
            inverse, destination, former
        )
        (relationship.isOptional, relationship.maxCount, relationship.isOrdered) = (true, 0, true)
        return relationship
    }

    // MARK: The store

    static func open<Answer>(
        _ url: URL, _ model: NSManagedObjectModel, migrates: Bool = false,
        _ body: @Sendable (NSManagedObjectContext) throws -> Answer
    ) throws -> Answer {
        let coordinator = try NSPersistentStoreCoordinator(
            model, at: url,
            options: [
                NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: migrates,
                NSInferMappingModelAutomaticallyOption: migrates,
            ])
        let context = coordinator.context()
        let answer: Answer
        do { answer = try context.performAndWait { try body(context) } } catch {
            try? coordinator.close()
            throw error
        }
        try coordinator.close()
        return answer
    }

    static func prepare(_ url: URL) throws {
        try open(url, first()) { context in
            let tags = (0..<5).map { context.make("Tag", ["word": "tag \($0)"]) }
            for number in 0..<12 {
                let photo = Data(repeating: UInt8(number), count: number == 3 ? 150_000 : 900)
                let own = NSOrderedSet(array: [tags[number % 5], tags[(number * 3 + 1) % 5]])
                context.make("Note", ["name": "name \(10 + number)", "photo": photo, "tags": own])
            }
            for number in 0..<2 { context.make("Sheet", ["scan": Data(repeating: UInt8(number), count: 150_000)]) }
            try context.save()
        }
    }

    /// Which version the store has, and what is in it, a line an object.
    static func picture(_ url: URL) throws -> (isOld: Bool, lines: [String]) {
        do {
            return (true, try open(url, first()) { try lines($0, "Note", "name", "notes") })
        } catch let error as CocoaError where error.code.rawValue == 134100 {
            return (false, try open(url, second()) { try lines($0, "Entry", "title", "entries") })
        }
    }

    private static func lines(_ context: NSManagedObjectContext, _ note: String, _ title: String, _ back: String) throws
        -> [String]
    {
        func words(_ object: NSManagedObject, _ relationship: String, _ key: String) -> [String] {
            (object.value(forKey: relationship) as? NSOrderedSet)?.array.map {
                ($0 as? NSManagedObject)?.value(forKey: key) as? String ?? "?"
            } ?? []
        }
        let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: note)).map { object in
            let photo = object.value(forKey: "photo") as? Data
            let level = object.entity.attributesByName["level"].flatMap { object.value(forKey: $0.name) }
            return
                "\(object.value(forKey: title) ?? "") \(photo?.count ?? 0) of \(photo?.first ?? 0) \(level ?? "") \(words(object, "tags", "word"))"
        }
        let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map {
            "\($0.value(forKey: "word") ?? "") \(words($0, back, title))"
        }
        let others = try ["Sheet", "Drawer"].filter {
            context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[$0] != nil
        }.map {
            "\($0) \(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0)))"
        }
        return (notes + tags + others).sorted()
    }

    // MARK: The migration

    /// Refused, it must have changed nothing and succeed when it is repeated.
    static func run(_ url: URL, mapped: Bool) throws {
        do { try migrate(url, mapped: mapped) } catch let error as CocoaError {
            Victim.say("refused \(error.code.rawValue)")
            let found = try picture(url)
            // One that was over already is refused when the store is opened.
            if found.isOld { try migrate(url, mapped: mapped) }
        }
        guard try !picture(url).isOld else { throw BrokenPromise(sentence: "the store was not migrated") }
    }

    private static func migrate(_ url: URL, mapped: Bool) throws {
        guard mapped else { return try open(url, second(), migrates: true) { _ in } }
        let (from, to) = (first(), second())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: from, destinationModel: to)
        let entries = mapping.entityMappings.first { $0.destinationEntityName == "Entry" }
        entries?.attributeMappings?.first { $0.name == "level" }?.valueExpression = NSExpression(forConstantValue: 8)
        try NSMigrationManager(sourceModel: from, destinationModel: to).migrateInPlace(
            url, type: NSSQLiteStoreType, options: nil, with: mapping)
    }
}
