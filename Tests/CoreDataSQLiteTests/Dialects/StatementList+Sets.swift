// The statements of set changes.

import CoreDataValues

@testable import CoreDataSQL

extension StatementList {
    private func line(_ title: String, _ sql: String, defines: Bool = false) -> Line {
        Line(defines: defines, title: "set: \(title)", sql: sql)
    }

    func sets() throws -> [Line] { try updates() + deletions() + insertions() }

    private func updates() throws -> [Line] {
        let call = Expression.function
        var plan = FetchPlan(entity: try entity("Casualty").index)
        plan.predicate = try FormatParser.predicate("station.name == 'North' AND age > 3")
        (plan.sort, plan.limit) = ([SortTerm(keyPath: ["name"])], 7)
        let key = Value.key(ObjectKey(number: 1, entity: try entity("Station").index, store: 0))
        let update = try BoundUpdate(
            plan,
            [
                .init("age", call("add:to:", [.keyPath(["age"]), .constant(.int(1))])),
                .init("name", .keyPath(["station", "name"])),
                .init("tag", .keyPath(["tag"])),
                .init("latitude", call("divide:by:", [.keyPath(["age"]), .constant(.double(2))])),
                .init("alive", .constant(.bool(true))), .init("weight", .constant(.decimal(1.5))),
                .init("link", .constant(.null)),
                .init("photo", .constant(.null)), .init("admittedAt", .constant(.date(5))),
                .init("station", .constant(key)),
            ], in: map.schema)
        let compiler = try SetUpdateCompiler(update, map)
        let numbers = KeyTable.numbers(of: update.entity.root, in: compiler.rows)
        var lines = [
            line("rows of an update", compiler.definition, defines: true),
            line(
                "fill for an update",
                try SelectCompiler(map).fill(update.query, compiler.operands, into: compiler.rows).sql),
        ]
        for target in try compiler.targets { lines.append(line("target", target.sql)) }
        for check in compiler.checks.overflows { lines.append(line("overflow", check.sql)) }
        if let vacating = compiler.vacating { lines.append(line("vacate", vacating)) }
        lines.append(line("update", compiler.statement.sql))
        for sql in try DerivedTexts(map).statements(for: update.entity.index, slots: nil, rows: "IN \(numbers)") {
            lines.append(line("derive", sql))
        }
        lines += [
            line(
                "files",
                FileStatements(map.dialect).names(
                    in: "ZPHOTO", of: try map.table(of: update.entity.index).name, rows: "IN \(numbers)")),
            line("changes", HistoryStatements(map.dialect).addChanges(of: numbers)),
            line("entities", KeyTable.entities(in: compiler.rows)),
            line("keys of a round", KeyTable.keys(round: 0, in: compiler.rows)),
            line("end of an update", KeyTable.empty(compiler.rows)),
        ]
        let constants = try SetUpdateCompiler(
            BoundUpdate(FetchPlan(entity: plan.entity), [.init("age", .constant(.int(1)))], in: map.schema), map)
        return lines + [
            line("rows of an update by constants", constants.definition, defines: true),
            line(
                "fill for an update by constants",
                try SelectCompiler(map).fill(
                    Query(FetchPlan(entity: plan.entity), in: map.schema), into: constants.rows
                ).sql),
            line(
                "changes by constants",
                HistoryStatements(map.dialect).addChanges(
                    of: KeyTable.numbers(of: update.entity.root, in: constants.rows, where: "e = 1"))),
            line("entities by constants", KeyTable.entities(in: constants.rows)),
            line("keys of a round by constants", KeyTable.keys(round: 0, in: constants.rows)),
            line("update by constants", constants.statement.sql),
            line("end of an update by constants", KeyTable.empty(constants.rows)),
        ]
    }

    private func deletions() throws -> [Line] {
        var lines: [Line] = []
        for name in ["Casualty", "Place", "Shelf", "Assessment"] {
            let entity = try entity(name)
            let compiler = SetDeleteCompiler(entity, last: entity.last, map)
            func add(_ title: String, _ sql: String, defines: Bool = false) {
                lines.append(line("\(title) of \(name)", sql, defines: defines))
            }
            for sql in compiler.definitions { add("rows of a deletion", sql, defines: true) }
            add(
                "fill for a deletion",
                try SelectCompiler(map).fill(Query(FetchPlan(entity: entity.index), in: map.schema)).sql)
            for sql in try compiler.cascades(from: 0) { add("cascade", sql) }
            for denial in try compiler.denials() { add("denial", denial.sql) }
            for note in try compiler.notes() {
                add("note", note.sql)
                if let sql = try compiler.empty(note.inverse, bit: note.bit) { add("empty", sql) }
            }
            for root in compiler.hitRoots { add("raise", try compiler.raise(root)) }
            let recorded = SetDeleteCompiler(entity, last: entity.last, map, notesPairs: true)
            for note in try recorded.notes() { add("recorded note", note.sql) }
            for root in recorded.hitRoots { add("raise beside members", try recorded.raise(root)) }
            for sql in try compiler.partings() { add("part", sql) }
            add("delete", try compiler.delete(entity.root))
            add("groups", SetDeleteCompiler.hitGroups)
            add(
                "changes",
                HistoryStatements(map.dialect).addChanges(of: SetDeleteCompiler.hitKeys(entity.index, bits: 3)))
            add(
                "deletions",
                HistoryStatements(map.dialect).addDeletions(
                    of: KeyTable.numbers(of: entity.root, where: "e = 1"), keeping: ["ZNAME"], of: "ZCASUALTY"))
            add("entities", KeyTable.entities(in: KeyTable.rows))
            add("keys of a round", KeyTable.keys(round: 0))
            add("keys", KeyTable.keys(in: KeyTable.hits))
            add("keys of rows", KeyTable.keys(in: KeyTable.rows))
            let gone = KeyTable.numbers(of: entity.root, where: "e = \(entity.index.number)")
            add("deletions without tombstones", HistoryStatements(map.dialect).addChanges(of: gone))
            if name == "Casualty" {
                let table = try map.table(of: entity.index).name
                add("files", FileStatements(map.dialect).names(in: "ZPHOTO", of: table, rows: "IN \(gone)"))
            }
            for table in [KeyTable.rows, KeyTable.hits] { add("end of a deletion", KeyTable.empty(table)) }
        }
        return lines
    }

    private func insertions() throws -> [Line] {
        let compiler = SetInsertCompiler(map)
        return try ["Casualty", "Station"].flatMap { name -> [Line] in
            let entity = try entity(name)
            let slots = WriteCompiler(map).stored(of: entity.index)
            let finds = try entity.constraints.map { line("find \(name)", try compiler.find($0, of: entity)) }
            return try [1, 2].map { line("insert \($0) \(name) if new", try compiler.insert(entity, rows: $0)) } + finds
                + [line("upsert \(name)", try compiler.update(entity, slots: Array(slots.prefix(2))))]
        }
    }
}
