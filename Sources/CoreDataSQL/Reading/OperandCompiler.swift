// Bound operands as SQL expressions.

import CoreDataValues

/// Compiles the sides of comparisons, sort keys and what aggregates are made of.
struct OperandCompiler {
    let scopes: LevelScopes
    private var dialect: any SQLDialect { scopes.builder.map.dialect }

    func compile(_ operand: BoundOperand) throws -> String {
        switch operand {
        case .value(let value): return scopes.builder.bind(value)
        case .path(let path):
            let text = try compile(path)
            return operand.isExternal ? scopes.builder.content(text, length: nil) : text
        case .aggregate(let aggregate): return try compile(aggregate)
        case .conditional(let condition, let first, let second):
            let test = try ConditionCompiler(scopes: scopes).compile(condition)
            return "(CASE WHEN \(test) THEN \(try compile(first)) ELSE \(try compile(second)) END)"
        case .grouped(let value): return try scopes.text(of: value)
        case .call("random", _): return dialect.random
        case .call(let name, let arguments):
            return dialect.call(
                name, try arguments.map(compile), result: ValueType(of: operand, in: scopes.builder.map.schema))
        }
    }

    /// Whether there is a value, for which no file is read.
    func isNull(_ operand: BoundOperand) throws -> String {
        guard case .path(let path) = operand else { return "\(try compile(operand)) IS NULL" }
        return "\(try compile(path)) IS NULL"
    }

    /// The column at the end of a path, joining what lies between.
    func compile(_ path: BoundPath) throws -> String {
        let scope = try self.scope(behind: path)
        switch path.end {
        case .attribute(let slot):
            return linked(path, try column(slot, path.entity.slots[slot].name, in: scope), in: scope)
        case .target(let relationship):
            return linked(path, try column(relationship.slot, relationship.name, in: scope), in: scope)
        case .object: return scope.column("Z_PK")
        case .entity: return entityName(of: path.entity, scope)
        }
    }

    private func linked(_ path: BoundPath, _ column: String, in scope: SelectScope) -> String {
        guard scope.isLinked, let candidate = path.candidate(isOrder: false), scopes.builder.map.isIndexed(candidate)
        else { return column }
        return dialect.unindexed(column)
    }

    /// The name that belongs to a row's number of an entity.
    private func entityName(of entity: Entity, _ scope: SelectScope) -> String {
        let schema = scopes.builder.map.schema
        let names = schema.entities[entity.index.value...entity.last.value].map {
            " WHEN \($0.index.number) THEN \(scopes.builder.bind(.text($0.name)))"
        }
        return "(CASE \(scope.column("Z_ENT"))\(names.joined()) END)"
    }

    private func scope(behind path: BoundPath) throws -> SelectScope {
        let start = scopes[path.level]
        var scope = start
        var walked: [String] = []
        for hop in path.hops {
            walked.append(hop.name)
            scope = try start.join(hop, path: walked, column: column(hop.slot, hop.name, in: scope))
        }
        return scope
    }

    /// The column that tells the entity of the object at the end of a path; nil where it can be of one only.
    func entity(of path: BoundPath) throws -> String? {
        let scope = try self.scope(behind: path)
        switch path.end {
        case .attribute, .entity: return nil
        case .target(let relationship):
            guard relationship.hasEntityTag, let slot = relationship.slot else { return nil }
            return try column(slot + 1, relationship.name, in: scope)
        case .object: return path.entity.hasSubentities ? scope.column("Z_ENT") : nil
        }
    }

    private func column(_ slot: Int?, _ name: String, in scope: SelectScope) throws -> String {
        let table = try scopes.builder.map.table(of: scope.entity.index)
        guard let slot, let column = table.column(of: slot, in: scope.entity.index) else {
            throw StoreError(
                134060, "\(scope.entity.name).\(name) has no column in this store.", entity: scope.entity.name,
                property: name)
        }
        return scope.column(table.columns[column].name)
    }

    /// What memory answers for two values of any kind.
    func test(
        _ op: Comparison.Operator, _ left: BoundOperand, _ right: BoundOperand, _ options: Comparison.Options
    ) throws -> String {
        dialect.test(op, options, try compile(left), try compile(right))
    }

    // MARK: Collections

    private func compile(_ aggregate: BoundAggregate) throws -> String {
        let source = try MemberSource(aggregate.chain, scopes: scopes)
        let operand = try aggregate.operand.map(compile) ?? ""
        let rows = try source.rows()
        let owner = aggregate.chain[0].owner
        let sql: String
        switch aggregate.function {
        case .count: sql = "(SELECT COUNT(*) \(rows))"
        case .sum: sql = "(SELECT \(scopes.sum(operand, of: aggregate.operand)) \(rows))"
        case .average: sql = "(SELECT AVG(\(operand)) \(rows))"
        case .minimum: sql = "(SELECT MIN(\(operand)) \(rows))"
        case .maximum: sql = "(SELECT MAX(\(operand)) \(rows))"
        case .item(let place):
            sql = "(SELECT \(operand) \(rows) ORDER BY \(source.order(isAscending: true)) LIMIT 1 OFFSET \(place))"
        case .last: sql = "(SELECT \(operand) \(rows) ORDER BY \(source.order(isAscending: false)) LIMIT 1)"
        }
        // Nothing has no count, not even zero.
        return owner.hops.isEmpty ? sql : "(CASE WHEN \(try compile(owner)) IS NULL THEN NULL ELSE \(sql) END)"
    }
}

/// The members at the end of a chain of to-manys as the FROM and WHERE of a SELECT inside another.
final class MemberSource {
    private let scopes: LevelScopes
    private let levels: [Int]
    private let isOfAll: Bool
    private var parts: [(scope: SelectScope, join: String)] = []
    private var conditions: [String] = []
    private var lastOrder: String?
    /// What it is that leads from the row outside to the first members, and the column that is the same in these.
    private(set) var owner = (outside: "", inside: "")

    /// - Parameter isOfAll: whether they are the members of all owners, not only those of the row outside.
    init(_ chain: [BoundMembers], scopes: LevelScopes, isOfAll: Bool = false) throws {
        self.scopes = scopes
        self.isOfAll = isOfAll
        levels = chain.map(\.level)
        for (place, members) in chain.enumerated() {
            let key = try OperandCompiler(scopes: scopes).compile(members.owner)
            let scope = SelectScope(scopes.builder, entity: scopes.builder.map.schema[members.relationship.destination])
            scope.isLinked = !isOfAll
            scopes[members.level] = scope
            let link = try MemberLink(scopes.builder).parts(members.relationship, member: scope)
            parts.append((scope, link.join))
            if place == 0 { owner = (key, link.owner) }
            if place > 0 || !isOfAll { conditions.append("\(link.owner) = \(key)") }
            if levels[..<place].contains(members.owner.level) {
                scopes[members.owner.level].need(members.owner.reached(from: members.owner.level))
            }
            lastOrder = link.order
            if let filter = members.filter { try add(filter, below: place) }
        }
    }

    /// Notes what else is asked of the last members.
    func add(_ condition: BoundCondition) throws { try add(condition, below: levels.count - 1) }

    /// - Parameter place: of the last members of the chain that there are already.
    private func add(_ condition: BoundCondition, below place: Int) throws {
        let levels = Array(self.levels[...place])
        // Of one owner there are few, which are found by it.
        let text =
            try isOfAll
            ? ConditionCompiler.filter(condition, of: levels, scopes)
            : ConditionCompiler.test(condition, of: levels, scopes)
        if text != scopes.builder.map.dialect.condition(true) {
            conditions.append(condition.isJunction ? "(\(text))" : text)
        }
    }

    /// To be asked once everything is compiled that may join further tables.
    func rows() throws -> String {
        let tables = try parts.map { try $0.scope.from() + $0.join }
        return "FROM \(tables.joined(separator: ", "))"
            + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
    }

    /// The order of the last members.
    func order(isAscending: Bool) -> String {
        let last = parts[parts.count - 1].scope
        let word = isAscending ? " ASC" : " DESC"
        let key = last.column("Z_PK") + word
        return lastOrder.map { $0 + word + last.builder.map.dialect.nullOrder(isAscending: isAscending) + ", " + key }
            ?? key
    }
}
