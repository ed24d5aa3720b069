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
        // What is only added.
        MovedTriage.change(&draft, "Injury") { entity in
            var depth = Attribute(name: "depth", type: .double)
            depth.defaultValue = .double(0.5)
            entity.attributes.append(depth)
            MovedTriage.rename("kind", to: "sort", &entity)
        }
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
            guard let rack = later.entity(named: "Rack"), let loud = rack.slots.firstIndex(where: { $0.name == "loud" })
            else { return plan }
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
    private func history(_ plan: MigrationPlan) throws -> [String] {
        let (moves, history) = (
            HistoryMigration(try BoundMigration(plan), from: plan.source, to: plan.destination),
            HistoryStatements(map.dialect)
        )
        let masks = moves.masked.prefix(1).flatMap { [moves.masks(of: $0, history), moves.moveMask(of: $0, history)] }
        return [moves.lastOfDropped(history)].compactMap { $0 } + masks + moves.statements(history)
    }

    func migration() throws -> [Line] {
        let plan = try Ward.migration
        let to = try StoreMap(schema: plan.destination, configuration: nil, dialect: map.dialect)
        let compiler = try MigrationCompiler(BoundMigration(plan), from: map, to: to)
        func lines(_ title: String, _ texts: [String], defines: Bool = false) -> [Line] {
            texts.enumerated().map { Line(defines: defines, title: "\(title) \($0 + 1)", sql: $1) }
        }
        let metadata = MetadataStatements(map.dialect)
        return try lines(
            "migration, what no model has made", [map.dialect.definitions].compactMap { $0 }, defines: true)
            + lines("migration, before the copies", compiler.preparations, defines: true)
            + lines("migration, copy", compiler.insertions.map(\.sql))
            + lines("migration, tables that stay", compiler.changes.map(\.sql), defines: true)
            + lines("migration, check", compiler.checks.map(\.sql) + compiler.overflows.map(\.sql))
            + lines(
                "migration, numbers",
                [
                    metadata.lastNumbers(of: 8), metadata.removeEntities(of: 8), metadata.addEntity,
                    metadata.setLastNumber,
                ])
            + lines("migration, history", history(plan))
            + lines("migration, after the copies", compiler.completions, defines: true)
            + putOff(lines)
    }

    /// What is written where clean-up waits, and afterwards.
    private func putOff(_ lines: (String, [String], Bool) -> [Line]) -> [Line] {
        let table = CleanupTable(map.dialect)
        let steps = [
            CleanupStep(.index, "ZINJURY_ZCASUALTY_INDEX", of: "ZINJURY"),
            CleanupStep(.column, "ZDEPTH", of: "ZINJURY"),
            CleanupStep(.table, "ZAID", of: "ZAID"),
        ]
        return lines("migration, table of what is put off", [table.definition], true)
            + lines(
                "migration, what is put off", [table.add, table.all, table.remove, table.files, table.removeFiles],
                false)
            + lines("migration, what was put off", steps.compactMap(table.statement) + [table.end], true)
    }
}
