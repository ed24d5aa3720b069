// The field hospital's model and a later version of it, with everything that a migration meets.

import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreDataSQLite

/// Later there is an entity that comes first by name, so that all numbers rise; casualties are patients, their name is another, a level
/// is new and computed or given; ruins and notes are gone, and a place's visits have another name.
enum MovedTriage {
    static let before: Schema = make(former)
    static let after: Schema = make(later)

    static func make(_ draft: SchemaDraft) -> Schema {
        do { return try Schema(checking: draft) } catch { preconditionFailure("\(error)") }
    }

    static var former: SchemaDraft {
        var draft = Triage.draft
        let ruin = EntityDraft("Ruin", parent: "Place")
        var note = EntityDraft(name: "Note")
        var scan = Triage.attribute("scan", .binary)
        scan.allowsExternalBinaryDataStorage = true
        note.attributes = [Triage.attribute("text", .string), scan]
        note.relationships = [Triage.toOne("casualty", "Casualty", "notes")]
        draft.entities += [ruin, note]
        change(&draft, "Casualty") { $0.relationships.append(Triage.toMany("notes", "Note", "casualty")) }
        change(&draft, "Casualty") { entity in
            for place in entity.attributes.indices where entity.attributes[place].name == "name" {
                entity.attributes[place].preservesValueInHistoryOnDeletion = true
            }
        }
        return draft
    }

    static var later: SchemaDraft {
        var draft = former
        draft.entities.removeAll { ["Ruin", "Note"].contains($0.name) }
        let aid = EntityDraft("Aid", [Triage.attribute("kind", .string)])
        draft.entities.append(aid)
        change(&draft, "Casualty") { entity in
            (entity.name, entity.renamingIdentifier) = ("Patient", "Casualty")
            entity.relationships.removeAll { $0.name == "notes" }
            entity.attributes.removeAll { $0.name == "link" }
            rename("name", to: "fullName", &entity)
            entity.attributes.append(level)
            entity.indexes = []
        }
        for place in draft.entities.indices {
            for relationship in draft.entities[place].relationships.indices {
                var changed = draft.entities[place].relationships[relationship]
                if changed.destinationName == "Casualty" { changed.destinationName = "Patient" }
                if changed.inverseEntityName == "Casualty" { changed.inverseEntityName = "Patient" }
                if changed.name == "visits" { (changed.name, changed.renamingIdentifier) = ("calls", "visits") }
                draft.entities[place].relationships[relationship] = changed
            }
        }
        return draft
    }

    private static var level: Attribute {
        var level = Attribute(name: "level", type: .integer16)
        level.defaultValue = .int(3)
        return level
    }

    static func change(_ draft: inout SchemaDraft, _ name: String, _ body: (inout EntityDraft) -> Void) {
        for place in draft.entities.indices where draft.entities[place].name == name { body(&draft.entities[place]) }
    }

    static func rename(_ property: String, to name: String, _ entity: inout EntityDraft) {
        for place in entity.attributes.indices where entity.attributes[place].name == property {
            (entity.attributes[place].name, entity.attributes[place].renamingIdentifier) = (name, property)
        }
    }

    /// Casualties 1 to 40, in stations 1 and 2 and ruin 3, with members of every kind, files, and a history.
    static func fill(_ store: SQLiteStore) throws {
        func key(_ entity: String, _ number: Int64) throws -> RowKey { try store.key(entity, number) }
        let places: [(String, Int64)] = [("Station", 1), ("Place", 2), ("Ruin", 3)]
        for (entity, number) in places { try store.insert(entity, [(number, ["name": .text("place \(number)")])]) }
        try store.insert(
            "Assessment", (1...6).map { ($0, ["note": .text("a\($0)"), "confidence": .double(Double($0) / 8)]) })
        for number in 1...40 as ClosedRange<Int64> {
            try store.insert("Casualty", [(number, try casualty(number, store))])
        }
        for number in 1...80 as ClosedRange<Int64> {
            try store.insert("Injury", [(number, ["severity": .int(number), "casualty": .int((number + 1) / 2)])])
        }
        try store.insert(
            "Note",
            [(1, ["text": .text("gone"), "casualty": .int(1), "scan": .data(Data(repeating: 9, count: 150_000))])])
        var batch = ChangeBatch()
        batch.links = [
            LinkChange(
                relationship: try store.relationship("Casualty", "assessments"), owner: try key("Casualty", 4),
                added: [try key("Assessment", 2), try key("Assessment", 5)], removed: []),
            LinkChange(
                relationship: try store.relationship("Casualty", "contacts"), owner: try key("Casualty", 4),
                added: [try key("Casualty", 7)], removed: []),
        ]
        batch.orders = [
            OrderChange(
                relationship: try store.relationship("Casualty", "injuries"), owner: try key("Casualty", 4),
                members: [try key("Injury", 8), try key("Injury", 7)])
        ]
        batch.adoptions = [
            AdoptionChange(
                relationship: try store.relationship("Place", "visits"), owner: try key("Station", 1),
                added: [try key("Assessment", 3)], removed: []),
            AdoptionChange(
                relationship: try store.relationship("Place", "visits"), owner: try key("Ruin", 3),
                added: [try key("Assessment", 4)], removed: []),
        ]
        _ = try store.commit(batch)
        var last = ChangeBatch()
        last.deletes = [DeleteGroup(entity: try store.entity("Casualty").index, numbers: [40], expected: [1])]
        _ = try store.commit(last)
    }

    private static func casualty(_ number: Int64, _ store: SQLiteStore) throws -> [String: Value] {
        let place = number % 3 + 1
        let entity = try store.entity(["Station", "Place", "Ruin"][Int(place) - 1])
        return [
            "name": .text("c\(number)"), "age": number % 2 == 0 ? .int(number) : .null, "alive": .bool(number % 3 == 0),
            "admittedAt": .date(Double(number) * 1.5), "weight": .decimal(Decimal(number) / 4),
            "tag": .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))),
            "photo": .data(Data(repeating: UInt8(number), count: number == 5 ? 200_000 : 50)), "station": .int(place),
            "station#": .int(Int64(entity.index.number)),
        ]
    }
}
