// The model and the short hands of the tests of set changes.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

/// Every delete rule with every kind of relationship, and constraints of one and of two attributes.
enum SetSample {
    static func draft(constraints: Bool) -> SchemaDraft {
        var draft = SchemaDraft()
        draft.entities = [
            firm, department, unit, contract, ticket, trace, badge, boss, adviser, memo, rung, part, screw,
        ]
        if !constraints { for index in draft.entities.indices { draft.entities[index].uniquenessConstraints = [] } }
        return draft
    }

    private static func attribute(_ name: String, _ type: AttributeType, required: Bool = false) -> Attribute {
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = !required
        return attribute
    }

    private static func one(_ name: String, _ destination: String, _ inverse: String?, _ rule: DeleteRule = .nullify)
        -> Relationship
    {
        var relationship = Relationship(name: name, destinationName: destination)
        relationship.isOptional = true
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.deleteRule = rule
        return relationship
    }

    private static func many(
        _ name: String, _ destination: String, _ inverse: String?, _ rule: DeleteRule = .nullify, ordered: Bool = false
    ) -> Relationship {
        var relationship = one(name, destination, inverse, rule)
        relationship.maxCount = 0
        relationship.isOrdered = ordered
        return relationship
    }

    private static func entity(
        _ name: String, _ attributes: [Attribute], _ relationships: [Relationship], parent: String? = nil
    )
        -> EntityDraft
    {
        var entity = EntityDraft(name: name)
        (entity.attributes, entity.relationships, entity.parentName) = (attributes, relationships, parent)
        return entity
    }

    private static var firm: EntityDraft {
        entity(
            "Firm", [attribute("name", .string)],
            [
                many("departments", "Department", "firm", .cascade), many("contracts", "Contract", "firm", .deny),
                many("tickets", "Ticket", "firm"), many("traces", "Trace", "firm", .noAction),
                many("badges", "Badge", "firm", ordered: true), one("boss", "Boss", "firm"),
                many("advisers", "Adviser", "firms", ordered: true), many("memos", "Memo", nil),
                many("papers", "Memo", nil, .cascade), many("partners", "Firm", "partners"),
            ])
    }

    private static var department: EntityDraft {
        entity(
            "Department", [attribute("name", .string)],
            [
                one("firm", "Firm", "departments"), one("above", "Department", "below"),
                many("below", "Department", "above", .cascade),
            ])
    }

    private static var unit: EntityDraft { entity("Unit", [attribute("size", .integer32)], [], parent: "Department") }
    private static var contract: EntityDraft { entity("Contract", [], [one("firm", "Firm", "contracts")]) }

    private static var ticket: EntityDraft {
        var firm = one("firm", "Firm", "tickets")
        firm.isOptional = false
        return entity("Ticket", [], [firm])
    }

    private static var trace: EntityDraft { entity("Trace", [], [one("firm", "Firm", "traces")]) }
    private static var badge: EntityDraft {
        entity("Badge", [attribute("number", .integer16)], [one("firm", "Firm", "badges")])
    }
    private static var boss: EntityDraft { entity("Boss", [attribute("name", .string)], [one("firm", "Firm", "boss")]) }
    private static var adviser: EntityDraft {
        entity("Adviser", [attribute("name", .string)], [many("firms", "Firm", "advisers")])
    }
    private static var memo: EntityDraft { entity("Memo", [attribute("text", .string)], []) }

    private static var rung: EntityDraft {
        entity(
            "Rung", [attribute("number", .integer16)],
            [one("below", "Rung", "above"), many("above", "Rung", "below", .deny)])
    }

    private static var part: EntityDraft {
        var entity = entity(
            "Part",
            [
                attribute("number", .integer64), attribute("plant", .string), attribute("row", .integer32),
                attribute("name", .string), attribute("price", .double, required: true), attribute("weight", .float),
                attribute("cost", .decimal), attribute("made", .date), attribute("isNew", .boolean),
                attribute("plan", .binary),
            ], [])
        entity.attributes[9].allowsExternalBinaryDataStorage = true
        entity.uniquenessConstraints = [["number"], ["plant", "row"]]
        return entity
    }

    private static var screw: EntityDraft { entity("Screw", [attribute("pitch", .double)], [], parent: "Part") }

    static let stores = StoreMaker.all
    /// Those that take part where unique values matter.
    static let constrained = StoreMaker.all(for: .constraints)
}

/// What an expression or a predicate is made of.
func int(_ number: Int64) -> Expression { .constant(.int(number)) }
func text(_ text: String) -> Expression { .constant(.text(text)) }
func real(_ number: Double) -> Expression { .constant(.double(number)) }
func compare(_ left: Expression, _ op: CoreDataValues.Comparison.Operator, _ right: Expression) -> Predicate {
    .comparison(CoreDataValues.Comparison(left, op, right))
}

extension Subject {
    /// - Parameter in: a place of the test's own, for stores that are opened again.
    static func sets(_ maker: StoreMaker) throws -> Subject {
        try Subject(maker, draft: SetSample.draft(constraints: maker.keepsConstraints))
    }

    func plan(_ entity: String, _ predicate: Predicate? = nil, _ change: (inout FetchPlan) -> Void = { _ in }) throws
        -> FetchPlan
    {
        var plan = FetchPlan(entity: try self.entity(entity).index)
        plan.predicate = predicate
        change(&plan)
        return plan
    }

    @discardableResult
    func set(
        _ entity: String, _ predicate: Predicate? = nil, _ values: [(String, Expression)],
        _ answer: SetChange.Answer = .effects,
        _ change: (inout FetchPlan) -> Void = { _ in }
    ) throws -> SetOutcome {
        var set = SetChange(.update(try plan(entity, predicate, change), values.map { .init($0.0, $0.1) }))
        set.answer = answer
        return try store.apply(set)
    }

    @discardableResult
    func delete(
        _ entity: String, _ predicate: Predicate? = nil, _ answer: SetChange.Answer = .effects,
        _ change: (inout FetchPlan) -> Void = { _ in }
    ) throws -> SetOutcome {
        var set = SetChange(.delete(try plan(entity, predicate, change)))
        set.answer = answer
        return try store.apply(set)
    }

    @discardableResult
    func stream(
        _ entity: String, _ rows: [[String: Value]], _ uniqueness: SetChange.Uniqueness = .fail,
        _ answer: SetChange.Answer = .effects,
        rowsOfChunk: Int = 2
    ) throws -> SetOutcome {
        let key = RowKey(entity: try self.entity(entity).index, number: 0)
        var rest = rows[...]
        var set = SetChange(
            .insert {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(rowsOfChunk) }
                return try chunk(rest.prefix(rowsOfChunk).map { (key, $0) })
            })
        (set.uniqueness, set.answer) = (uniqueness, answer)
        return try store.apply(set)
    }

    /// The values of one property, by number.
    func each(_ entity: String, _ property: String) throws -> [Value?] {
        try fetch(entity).sorted { $0.key.number < $1.key.number }.map { $0.values[property] }
    }

    func all(_ entities: String...) throws -> [Found] {
        try entities.flatMap { try fetch($0).sorted { $0.key.number < $1.key.number } }
    }
}

extension Subject {
    /// The bytes of an attribute that may lie in a file.
    func external(_ key: RowKey, _ property: String) throws -> Data? {
        guard case .data(let cell)? = try row(key)?.values[property] else { return nil }
        if let name = cell.withUnsafeBytes(ExternalReference.name) { return try store.externalData(named: name) }
        return cell.dropFirst()
    }

    /// What lies in the store's folder of large values.
    var files: [String] {
        guard let url = opened.url, url.isFileURL, url.path != "/dev/null" else { return [] }
        let name = url.deletingPathExtension().lastPathComponent
        let folder = url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
        return (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }
}
