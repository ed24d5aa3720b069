// Columns of values as one SELECT: aggregates, groups, distinct rows.

import CoreDataValues

/// A statement whose rows are values, and how each is read.
package struct ValueSelection: Sendable {
    /// One column of the projection in the statement's result.
    package struct Cell: Sendable {
        package let type: ValueType
        package let column: Int32
        /// Of a key, the column of `Z_ENT`, if the objects may be of several entities.
        package let entityColumn: Int32?
        /// The entities that it may name; others are noise.
        package let entities: ClosedRange<Int64>
    }
    package let selection: Selection
    package let shape: ValueShape
}

/// The plan by which rows of values are read: by the types of the projection's columns, never by those that a database gives them.
package struct ValueShape: Sendable {
    package let cells: [ValueSelection.Cell]
    package let projection: BoundProjection
    /// Of which the query is.
    package let entity: Entity
}

extension SelectCompiler {
    /// The rows of values of a query, in its order.
    package func values(_ query: Query, _ projection: BoundProjection) throws -> ValueSelection {
        let builder = SelectBuilder(map, query.values)
        let scope = SelectScope(builder, entity: query.bound.entity)
        let scopes = LevelScopes(scope)
        scopes.addsDecimals = true
        let columns = try ProjectionCompiler(projection, scopes).columns()
        let condition = try self.condition(query.bound, scopes)
        let grouping = try projection.groupValues[..<projection.keyCount].map { try scopes.text(of: $0) }
        let having = try projection.having.map { try ConditionCompiler(scopes: scopes).compile($0) }
        let order = try projection.order.map { key in
            let text = try key.column.map { columns.texts[$0] } ?? OperandCompiler(scopes: scopes).compile(key.operand)
            return (
                key: key, text: text, suffix: try direction(key.operand, key.comparison, isAscending: key.isAscending)
            )
        }
        var source = "\(try scope.from())\(condition)"
        if !grouping.isEmpty { source += " GROUP BY " + grouping.joined(separator: ", ") }
        if let having { source += " HAVING " + having }
        var sql: String
        if projection.isDistinct {
            let keys = order.map {
                SQLDistinctOrder(column: columns.places[$0.key.column ?? 0], suffix: $0.suffix, text: $0.text)
            }
            sql = map.dialect.distinct(columns.all, from: source, by: keys)
        } else {
            sql = "SELECT \(columns.all.joined(separator: ", ")) FROM " + source
            if !order.isEmpty { sql += " ORDER BY " + order.map { $0.text + $0.suffix }.joined(separator: ", ") }
        }
        if query.isPart { sql += limit(query, builder) }
        let shape = ValueShape(cells: columns.cells, projection: projection, entity: query.bound.entity)
        return ValueSelection(selection: Selection(sql, of: builder), shape: shape)
    }
}

/// Compiles the columns of a projection.
private struct ProjectionCompiler {
    private let projection: BoundProjection
    private let scopes: LevelScopes
    private var schema: Schema { scopes.builder.map.schema }

    init(_ projection: BoundProjection, _ scopes: LevelScopes) {
        self.projection = projection
        self.scopes = scopes
    }

    struct Columns {
        /// The text of each column, also for the order: who asks for distinct rows may order by nothing else.
        var texts: [String] = []
        var cells: [ValueSelection.Cell] = []
        /// With those that tell the entities of objects.
        var all: [String] = []
        /// Where each column stands among them.
        var places: [Int] = []
    }

    func columns() throws -> Columns {
        var columns = Columns()
        for column in projection.columns {
            let text = try OperandCompiler(scopes: scopes).compile(column.operand)
            let place = Int32(columns.all.count)
            columns.texts.append(text)
            columns.places.append(columns.all.count)
            columns.all.append(text)
            var entityColumn: Int32?
            if let entity = try entity(of: column.operand) {
                entityColumn = Int32(columns.all.count)
                columns.all.append(entity)
            }
            columns.cells.append(
                ValueSelection.Cell(
                    type: column.type, column: place, entityColumn: entityColumn, entities: entities(column.type)))
        }
        return columns
    }

    private func entities(_ type: ValueType) -> ClosedRange<Int64> {
        guard case .key(let index) = type else { return 0...0 }
        return Int64(index.number)...Int64(schema[index].last.number)
    }

    /// What tells the entity of an object; nil where its type tells, and for what is no object.
    private func entity(of operand: BoundOperand) throws -> String? {
        switch operand {
        case .path(let path): return try OperandCompiler(scopes: scopes).entity(of: path)
        // All rows of the group have the same.
        case .grouped(let value):
            guard case .key(let key) = value.source else { return nil }
            return try entity(of: key).map { "MIN(\($0))" }
        case .value, .aggregate, .call, .conditional: return nil
        }
    }
}

extension LevelScopes {
    /// A key or an aggregate of the groups, compiled once: a key must stand in the columns as it stands in the grouping.
    func text(of value: GroupValue) throws -> String {
        if let known = groupTexts[value.place] { return known }
        let text: String
        switch value.source {
        case .key(let operand): text = try OperandCompiler(scopes: self).compile(operand)
        case .aggregate(let aggregate): text = try self.text(of: aggregate)
        }
        groupTexts[value.place] = text
        return text
    }

    private func text(of aggregate: GroupAggregate) throws -> String {
        guard let operand = aggregate.operand else { return "COUNT(*)" }
        let text = (aggregate.isDistinct ? "DISTINCT " : "") + (try OperandCompiler(scopes: self).compile(operand))
        switch aggregate.function {
        case .count: return "COUNT(\(text))"
        case .sum: return aggregate.isDistinct && isWhole(operand) ? dialect.wholeSum(text) : sum(text, of: operand)
        case .average: return isDecimal(operand) ? dialect.decimalAverage(text) : "AVG(\(text))"
        case .minimum: return "MIN(\(text))"
        case .maximum: return "MAX(\(text))"
        }
    }
    /// The sum of a text that an operand was compiled to; 0 of none.
    func sum(_ text: String, of operand: BoundOperand?) -> String {
        guard let operand else { return "COALESCE(SUM(\(text)), 0)" }
        if addsDecimals, isDecimal(operand) { return dialect.decimalSum(text) }
        // The values of narrow attributes never add up to more than 64 bits hold; of calculations each may be a real number already.
        if case .path(let path) = operand {
            if path.slot?.attribute?.type == .integer64 { return dialect.wideSum(text) }
        } else if addsDecimals, isWhole(operand) {
            return dialect.wholeSum(text)
        }
        return "COALESCE(SUM(\(text)), 0)"
    }

    private var dialect: any SQLDialect { builder.map.dialect }

    private func isWhole(_ operand: BoundOperand) -> Bool { ValueType(of: operand, in: builder.map.schema) == .int }

    private func isDecimal(_ operand: BoundOperand) -> Bool {
        ValueType(of: operand, in: builder.map.schema) == .decimal
    }
}
