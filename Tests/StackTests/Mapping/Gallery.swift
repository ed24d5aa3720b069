// A model of many-to-many relationships with equal names and of two sides in one entity.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Album ⇄ Artwork ⇄ Location, Artwork ⇄ Show (ordered from the show), and an artwork's parts and wholes.
enum Gallery {
    static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ relationships: [Relationship]) -> EntityDraft {
            var entity = EntityDraft(name, [Clinic.attribute("name", .string)])
            entity.relationships = relationships
            return entity
        }
        return NSManagedObjectModel(
            entity("Album", [Clinic.toMany("artworks", "Artwork", inverse: "collections")]),
            entity(
                "Artwork",
                [
                    Clinic.toMany("collections", "Album", inverse: "artworks"),
                    Clinic.toMany("locations", "Location", inverse: "artworks"),
                    Clinic.toMany("shows", "Show", inverse: "artworks"),
                    Clinic.toMany("parts", "Artwork", inverse: "wholes"),
                    Clinic.toMany("wholes", "Artwork", inverse: "parts"),
                ]), entity("Location", [Clinic.toMany("artworks", "Artwork", inverse: "locations")]),
            entity("Show", [Clinic.toMany("artworks", "Artwork", inverse: "shows", ordered: true)]))
    }

    /// Ways in which Core Data has named the tables of such a model, as renamings of a file of ours.
    static let shapes = [
        "as computed": "",
        "equal names numbered in another order": """
        ALTER TABLE Z_2LOCATIONS RENAME COLUMN Z_2ARTWORKS1 TO Z_2ARTWORKS2;
        ALTER TABLE Z_2SHOWS RENAME COLUMN Z_2ARTWORKS2 TO Z_2ARTWORKS1;
        ALTER TABLE Z_2SHOWS RENAME COLUMN Z_FOK_2ARTWORKS2 TO Z_FOK_2ARTWORKS1
        """,
        "the first with a number, the last without": """
        ALTER TABLE Z_1ARTWORKS RENAME COLUMN Z_2ARTWORKS TO Z_2ARTWORKS2;
        ALTER TABLE Z_2SHOWS RENAME COLUMN Z_2ARTWORKS2 TO Z_2ARTWORKS;
        ALTER TABLE Z_2SHOWS RENAME COLUMN Z_FOK_2ARTWORKS2 TO Z_FOK_2ARTWORKS
        """,
        "after the other side": "ALTER TABLE Z_2WHOLES RENAME TO Z_2PARTS; ALTER TABLE Z_2SHOWS RENAME TO Z_4ARTWORKS",
        "after a third relationship": "ALTER TABLE Z_2WHOLES RENAME TO Z_2COLLECTIONS",
        "after each other": """
        ALTER TABLE Z_2SHOWS RENAME TO Z_2OTHER; ALTER TABLE Z_2LOCATIONS RENAME TO Z_2SHOWS;
        ALTER TABLE Z_2OTHER RENAME TO Z_2LOCATIONS
        """,
        "columns after nothing": """
        ALTER TABLE Z_1ARTWORKS RENAME COLUMN Z_1COLLECTIONS TO Z_1WORDS;
        ALTER TABLE Z_1ARTWORKS RENAME COLUMN Z_2ARTWORKS TO Z_2THINGS;
        ALTER TABLE Z_2WHOLES RENAME COLUMN Z_2PARTS TO Z_2ELEMENTS
        """,
    ]
}

extension Rig {
    /// An artwork in everything: two albums, a location, a show after another artwork, with a part that has a part.
    func hang() throws {
        let context = context()
        let works = ["a", "b", "c"].map { context.make("Artwork", ["name": $0]) }
        for name in ["one", "two"] {
            context.make("Album", ["name": name]).setValue(Set([works[0]]), forKey: "artworks")
        }
        context.make("Location", ["name": "wall"]).setValue(Set([works[0]]), forKey: "artworks")
        context.make("Show", ["name": "fair"]).setValue(
            NSOrderedSet(array: [works[2], works[0], works[1]]), forKey: "artworks")
        works[0].setValue(Set([works[1]]), forKey: "parts")
        works[1].setValue(Set([works[2]]), forKey: "parts")
        try context.save()
    }

    /// What a fetch shows of an artwork and of the show, with nothing held from before.
    func hanging(_ name: String = "a") throws -> String {
        func names(_ members: [Any]) -> [String] { members.compactMap { ($0 as? NSManagedObject)?.name } }
        let context = context()
        let work = try #require(try context.all("Artwork").first { $0.name == name })
        let sets = ["collections", "locations", "shows", "parts", "wholes"].map { work.value(forKey: $0) as? NSSet }
        let texts = sets.map { names($0?.allObjects ?? []).sorted().joined(separator: ",") }
        let show = try #require(try context.all("Show").first)
        let order = show.value(forKey: "artworks") as? NSOrderedSet
        return texts.joined(separator: " ") + " | " + names(order?.array ?? []).joined()
    }
}
