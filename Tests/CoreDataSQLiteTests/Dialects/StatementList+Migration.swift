// The statements of a migration, which come last: they set the tables of all others aside.

import CoreDataValues
import Foundation

@testable import CoreDataSQL

extension Ward {
    /// An entity that comes first, one that is gone, one under another name with values that are kept, renamed, given and computed.
    static let later: Schema = {
        var draft = Ward.draft
        draft.entities.removeAll { $0.name == "Label" || $0.name == "Station" }
        draft.entities.append(EntityDraft(name: "Aid"))
        // Derived of rows that go.
        MovedTriage.change(&draft, "Casualty") { $0.attributes.removeAll { $0.name == "place" } }
        MovedTriage.change(&draft, "Shelf") { entity in
            (entity.name, entity.renamingIdentifier) = ("Rack", "Shelf")
            entity.relationships.removeAll { $0.name == "labels" }
            MovedTriage.rename("title", to: "name", &entity)
            var count = Attribute(name: "count", type: .integer32)
            count.defaultValue = .int(1)
            entity.attributes += [count, Triage.attribute("loud", .string)]
        }
        return MovedTriage.make(draft)
    }()

    static var migration: MigrationPlan {
        get throws {
            var plan = try MigrationPlan(SchemaDiff(from: schema, to: later))
            guard let rack = later.entity(named: "Rack"), let loud = rack.slots.firstIndex(where: { $0.name == "loud" }) else { return plan }
            for place in plan.steps.indices {
                guard case .copy(var copy) = plan.steps[place], copy.destination == rack.index else { continue }
                copy.values.append(SlotFill(loud, .computed(.function("uppercase:", [.keyPath(["title"])]))))
                plan.steps[place] = .copy(copy)
            }
            return plan
        }
    }
}

extension StatementList {
    func migration() throws -> [Line] {
        let plan = try Ward.migration
        let to = try StoreMap(schema: plan.destination, configuration: nil, dialect: map.dialect)
        let compiler = try MigrationCompiler(BoundMigration(plan), from: map, to: to)
        func lines(_ title: String, _ texts: [String], defines: Bool = false) -> [Line] {
            texts.enumerated().map { Line(defines: defines, title: "\(title) \($0 + 1)", sql: $1) }
        }
        let metadata = MetadataStatements(map.dialect)
        return try lines("migration, before the copies", compiler.preparations, defines: true)
            + lines("migration, copy", compiler.insertions.map(\.sql))
            + lines("migration, check", compiler.checks.map(\.sql) + compiler.overflows.map(\.sql))
            + lines(
                "migration, numbers",
                [metadata.lastNumbers(of: 8), metadata.removeEntities(of: 8), metadata.addEntity, metadata.setLastNumber])
            + lines("migration, history", compiler.history(tombstones: 1))
            + lines("migration, after the copies", compiler.completions, defines: true)
    }
}
