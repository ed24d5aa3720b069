// A store of another model: what differs is found out and named.

import CoreDataValues
import Foundation
import Testing

@testable import CoreDataSQLite

/// Changes of the model, and what is said of them in detail.
struct ModelChange: Sendable, CustomTestStringConvertible {
    let name: String
    let entities: String
    let details: String
    let change: @Sendable (inout SchemaDraft) -> Void

    init(_ name: String, _ entities: String, _ details: String, _ change: @escaping @Sendable (inout SchemaDraft) -> Void) {
        self.name = name
        self.entities = entities
        self.details = details
        self.change = change
    }

    var testDescription: String { name }

    /// Entities: 0 Assessment, 1 Casualty, 2 Injury, 3 Place, 4 Station.
    static let all: [ModelChange] = [
        ModelChange("required", "Injury", "Injury.severity was optional in the store") {
            $0.entities[2].attributes[0].isOptional = false
        },
        ModelChange("another integer", "Injury", "Injury.severity was Integer 32 in the store") {
            $0.entities[2].attributes[0].type = .integer64
        },
        ModelChange("not ordered any more", "Casualty", "Casualty.injuries was ordered in the store") {
            $0.entities[1].relationships[1].isOrdered = false
        },
        ModelChange("ordered", "Casualty", "Casualty.assessments was not ordered in the store") {
            $0.entities[1].relationships[2].isOrdered = true
        },
        ModelChange("ten at most", "Casualty", "Casualty.injuries had no maximum count in the store") {
            $0.entities[1].relationships[1].maxCount = 10
        },
        ModelChange(
            "a many-to-many renamed", "Assessment, Casualty",
            "Assessment.patients was called casualties in the store; Casualty.assessments had the inverse casualties in the "
                + "store"
        ) {
            $0.entities[0].relationships[0].name = "patients"
            $0.entities[1].relationships[2].inverseName = "patients"
        },
        ModelChange(
            "a new many-to-many", "Assessment, Injury",
            "Assessment.injuries is not in the store; Injury.assessments is not in the store"
        ) {
            $0.entities[0].relationships.append(Triage.toMany("injuries", "Injury", "assessments"))
            $0.entities[2].relationships.append(Triage.toMany("assessments", "Assessment", "injuries"))
        },
        ModelChange(
            "another constraint", "Casualty",
            "Casualty had the uniqueness constraint (tag) in the store and has the uniqueness constraint (name) in the model"
        ) { $0.entities[1].uniquenessConstraints = [["name"]] },
        ModelChange("abstract", "Injury", "Injury was not abstract in the store") { $0.entities[2].isAbstract = true },
        ModelChange("a modifier", "Injury", "Injury had no version hash modifier in the store") {
            $0.entities[2].versionHashModifier = "2"
        },
        ModelChange("transient", "Injury", "Injury.kind was not transient in the store") {
            $0.entities[2].attributes[1].isTransient = true
        },
        ModelChange("renamed", "Casualty", "Casualty.admissionDate was called admittedAt in the store") {
            $0.entities[1].attributes[3].name = "admissionDate"
            $0.entities[1].indexes = []
        },
        ModelChange("in files", "Casualty", "Casualty.photo allowed external storage in the store") {
            $0.entities[1].attributes[7].allowsExternalBinaryDataStorage = false
        },
        ModelChange(
            "two of one property", "Injury", "Injury.severity was Integer 32 and was optional in the store"
        ) {
            $0.entities[2].attributes[0].type = .boolean
            $0.entities[2].attributes[0].isOptional = false
        },
        ModelChange(
            "two properties", "Casualty",
            "Casualty.age was Integer 16 in the store; Casualty.name was optional in the store"
        ) {
            $0.entities[1].attributes[0].isOptional = false
            $0.entities[1].attributes[1].type = .integer32
        },
        ModelChange(
            "a property and the entity", "Injury",
            "Injury was not abstract in the store; Injury.casualty was optional in the store"
        ) {
            $0.entities[2].isAbstract = true
            $0.entities[2].relationships[0].isOptional = false
        },
        ModelChange("of the parent", "Place, Station", "Place.name was optional in the store") {
            $0.entities[3].attributes[0].isOptional = false
        },
        ModelChange(
            "of parent and child", "Place, Station",
            "Place.name was String in the store; Station.capacity was Integer 64 in the store"
        ) {
            $0.entities[3].attributes[0].type = .uri
            $0.entities[4].attributes[0].type = .integer16
        },
        ModelChange(
            "an entity renamed", "Casualty, Injury (not in the model), Wound (not in the store)",
            "Casualty.injuries led to Injury in the store; Wound was called Injury in the store"
        ) {
            $0.entities[2].name = "Wound"
            $0.entities[1].relationships[1].destinationName = "Wound"
            $0.entities[1].relationships[1].inverseEntityName = "Wound"
        },
        ModelChange("another parent", "Station", "Station had the parent Place in the store") {
            $0.entities[4].parentName = nil
        },
    ]
}

@Suite("Stores of another model")
struct ModelMatchTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    private func refusal(_ change: (inout SchemaDraft) -> Void) throws -> String {
        try folder.store().close()
        var draft = Triage.draft
        change(&draft)
        let schema = try Schema(checking: draft)
        let error = try #require(#expect(throws: StoreError.self) { try folder.store(schema) })
        #expect(error.code == 134100)
        return error.sentence
    }

    @Test("What differs is named: the property, and what it was", arguments: ModelChange.all)
    func named(_ change: ModelChange) throws {
        let sentence = try refusal(change.change)
        #expect(
            sentence.contains("Differing entities: \(change.entities). In detail: \(change.details)"), "\(sentence)")
    }

    @Test("What no alteration explains is said plainly, with the properties that it may be")
    func unexplained() throws {
        var entity = EntityDraft(name: "Zone")
        entity.attributes = [Triage.attribute("code", .date)]
        entity.versionHashModifier = "first"
        var draft = SchemaDraft()
        draft.entities = [entity]
        try folder.store(Schema(checking: draft)).close()
        draft.entities[0].versionHashModifier = "second"
        let schema = try Schema(checking: draft)
        let error = #expect(throws: StoreError.self) { try folder.store(schema) }
        #expect(
            error?.sentence.contains(
                "In detail: no change that was tried explains Zone: what differs may be any of its properties (code) or "
                    + "what belongs to it as a whole. Open") == true, "\(error?.sentence ?? "")")
    }

    @Test("The search is bounded, and finds without tables what it finds with them")
    func bounded() throws {
        var draft = Triage.draft
        draft.entities[2].attributes[0].type = .date
        draft.entities[2].attributes[1].isOptional = false
        let changed = try Schema(checking: draft)
        let recorded = Triage.schema.versionHashes
        #expect(
            HashSearch(schema: changed, recorded: recorded).run(on: ["Injury"]) == [
                "Injury": .explained([
                    "Injury.kind was optional in the store", "Injury.severity was Integer 32 in the store",
                ])
            ])
        #expect(HashSearch(schema: changed, recorded: recorded, limit: 5).run(on: ["Injury"]) == ["Injury": .unknown])
    }
}
