// Set changes as statements, inside one transaction of a session.

import CoreDataValues
import Foundation

/// Runs one set change. Its rows wait in temporary tables, so that neither memory nor the number of statements grows with them; only
/// answers do.
package struct SetWriter {
    let plan: StorePlan
    let session: any SQLSession
    let files: SetFiles?
    let history: SetHistory?
    let answer: SetChange.Answer
    var map: StoreMap { plan.map }
    var schema: Schema { plan.map.schema }

    /// As many rows that triggers changed are told one by one.
    private static var mostTouched: Int { 10_000 }

    package init(
        plan: StorePlan, session: any SQLSession, files: SetFiles?, history: SetHistory?, answer: SetChange.Answer
    ) {
        self.plan = plan
        self.session = session
        self.files = files
        self.history = history
        self.answer = answer
    }

    /// - Parameter body: what to do inside the transaction.
    package func transaction(_ body: () throws -> SetOutcome) throws -> SetOutcome {
        session.touched.clear()
        session.ends.clear()
        session.touched.limit = answer == .count ? 0 : SetWriter.mostTouched
        defer { session.touched.limit = .max }
        var outcome = SetOutcome()
        try session.transaction {
            outcome = try body()
            addTouched(&outcome)
            return true
        }
        return outcome
    }

    // MARK: Update

    /// *stage rows and values · check · record · vacate · write · derive · answer · clear*
    package func update(_ update: BoundUpdate) throws -> SetOutcome {
        let compiler = try SetUpdateCompiler(update, map)
        for target in try compiler.targets where try !isFound(target.sql, [.int(target.key.number)]) {
            throw StoreError.noTarget(target.relationship, update.entity)
        }
        try run(compiler.definition)
        let fill = try plan.selects.fill(update.query, compiler.operands, into: compiler.rows)
        let count = try run(fill.sql, fill.values(for: update.query))
        for check in compiler.checks.missing where try isFound(check.sql) {
            throw StoreError(missing: update.entity.slots[check.slot].name, of: update.entity)
        }
        for check in compiler.checks.overflows where try isFound(check.sql) {
            throw StoreError.overflow(of: update.entity.slots[check.slot], update.entity)
        }
        if count > 0 { try write(update, compiler) }
        var outcome = SetOutcome()
        outcome.count = count
        if answer == .count {
            outcome.touched.entities = Set(
                (update.entity.index.value...update.query.bound.last.value).map { EntityIndex($0) })
        } else {
            outcome.keys = try keys(KeyTable.keys(round: 0, in: compiler.rows))
            outcome.touched.changed = outcome.keys
        }
        if answer == .effects { outcome.effects = outcome.keys.map { _ in .updated } }
        try run(KeyTable.empty(compiler.rows))
        return outcome
    }

    private func write(_ update: BoundUpdate, _ compiler: SetUpdateCompiler) throws {
        let numbers = KeyTable.numbers(of: update.entity.root, in: compiler.rows)
        try files?.replace(update.entity.index, slots: update.slots, keys: numbers, session)
        for (entity, count) in try entities(in: compiler.rows) {
            try history?.add(
                .update, entity, mask: history?.mask(entity, update.slots), count: count,
                of: KeyTable.numbers(of: update.entity.root, in: compiler.rows, where: "e = \(entity.number)"))
        }
        try unique(update.entity) {
            if let vacating = compiler.vacating { try run(vacating) }
            let statement = compiler.statement
            try run(statement.sql, statement.values)
            var derived: Set<String> = []
            for value in update.entity.index.value...update.query.bound.last.value {
                let texts = plan.derivedTexts.statements(
                    for: EntityIndex(value), slots: update.slots, rows: "IN \(numbers)")
                for sql in texts where derived.insert(sql).inserted { try run(sql) }
            }
        }
    }

    // MARK: Statements

    /// Answers how many rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [Value] = []) throws -> Int {
        try session.run(sql, values)
    }

    func isFound(_ sql: String, _ values: [Value] = []) throws -> Bool {
        try !session.numbers(sql, each: 1, values).isEmpty
    }

    func keys(_ sql: String) throws -> [RowKey] {
        var keys: [RowKey] = []
        try session.numbers(sql, each: 2, []) { numbers in
            for place in stride(from: 0, to: numbers.count, by: 2) {
                guard let number = numbers[place], let entity = numbers[place + 1].flatMap({ entity($0) }) else {
                    continue
                }
                keys.append(RowKey(entity: entity, number: number))
            }
        }
        return keys
    }

    /// The entities of the rows that were staged, with their numbers.
    func entities(in name: String) throws -> [(EntityIndex, Int)] {
        let numbers = try numbers(KeyTable.entities(in: name), each: 2)
        return stride(from: 0, to: numbers.count, by: 2).compactMap { place in
            entity(numbers[place]).map { ($0, Int(numbers[place + 1])) }
        }
    }

    /// The rows of a statement, `width` numbers each.
    func numbers(_ sql: String, each width: Int) throws -> [Int64] {
        try session.numbers(sql, each: width, []).map { $0 ?? 0 }
    }

    /// nil for a number that is no entity of the model.
    func entity(_ number: Int64) -> EntityIndex? {
        (1...Int64(max(1, schema.entities.count))).contains(number) ? EntityIndex(Int(number) - 1) : nil
    }

    /// Runs what may break a constraint.
    func unique<R>(_ entity: Entity, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as StoreError {
            guard let columns = session.duplicate(error) else { throw error }
            throw StoreError.notUnique(entity, plan.constraints[columns] ?? [])
        }
    }

    /// What triggers reported.
    private func addTouched(_ outcome: inout SetOutcome) {
        outcome.touched.entities.formUnion(session.touched.entities.compactMap { entity($0) })
        if session.touched.rows.isEmpty { return }
        let known = Set(outcome.touched.changed + outcome.touched.deleted + outcome.keys)
        for row in session.touched.rows {
            guard let entity = entity(row.entity) else { continue }
            let key = RowKey(entity: entity, number: row.number)
            if !known.contains(key) { outcome.touched.changed.append(key) }
        }
    }
}
