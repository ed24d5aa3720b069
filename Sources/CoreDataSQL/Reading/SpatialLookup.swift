// Rows that are found by the ranges in which several of their numbers lie.

import CoreDataValues

/// What an R-tree over a table knows of a condition: the ranges of constants in which all rows of the result lie.
///
/// Stands beside the exact test and never in its place, since an R-tree keeps numbers with 32 bits, rounded outwards.
struct SpatialLookup {
    private let scope: SelectScope
    private var bounds: [String: SQLSpatialBounds<BoundValue>] = [:]

    init(_ scope: SelectScope) { self.scope = scope }

    private var map: StoreMap { scope.builder.map }

    /// The keys of the rows that may satisfy a condition; nil where no R-tree serves at least two of its bounds, or where another
    /// index finds the rows by values that are named one by one.
    func test(_ condition: BoundCondition, of level: Int) throws -> String? {
        guard !map.rTrees.isEmpty, !condition.lookup(from: level).ofValues.isServed(by: map.isIndexed) else {
            return nil
        }
        let table = try map.table(of: scope.entity.index)
        let trees = map.spatialIndexes(of: table)
        guard !trees.isEmpty else { return nil }
        var lookup = self
        if case .and(let parts) = condition {
            for part in parts { lookup.note(part, level, table) }
        } else {
            lookup.note(condition, level, table)
        }
        let best = trees.map { (tree: $0, count: lookup.count(in: $0)) }.max { $0.count < $1.count }
        // Where the database needs no such test, nothing may be bound: a statement has no parameters that it does not name.
        guard let best, best.count > 1, map.dialect.keys(in: best.tree, []) != nil else { return nil }
        let asked = best.tree.columns.compactMap { column in
            lookup.bounds[column].map {
                (column, SQLSpatialBounds(low: $0.low.map(scope.builder.bind), high: $0.high.map(scope.builder.bind)))
            }
        }
        return map.dialect.keys(in: best.tree, asked).map { "\(scope.column("Z_PK")) IN (\($0))" }
    }

    private func count(in tree: SQLSpatialIndex) -> Int {
        tree.columns.reduce(0) { $0 + (bounds[$1]?.low == nil ? 0 : 1) + (bounds[$1]?.high == nil ? 0 : 1) }
    }

    private mutating func note(_ part: BoundCondition, _ level: Int, _ table: TableMap) {
        switch part {
        case .compare(let comparison):
            guard case .value(let value) = comparison.right, let column = column(of: comparison.left, level, table)
            else { return }
            switch comparison.op {
            case .equal: bound(column, low: value, high: value)
            case .less, .lessOrEqual: bound(column, low: nil, high: value)
            case .greater, .greaterOrEqual: bound(column, low: value, high: nil)
            case .notEqual, .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: return
            }
        case .between(let operand, .value(let low), .value(let high), _):
            if let column = column(of: operand, level, table) { bound(column, low: low, high: high) }
        case .constant, .and, .or, .not, .isNull, .between, .among, .exists: return
        }
    }

    private mutating func bound(_ column: String, low: BoundValue?, high: BoundValue?) {
        let known = bounds[column]
        bounds[column] = SQLSpatialBounds(low: known?.low ?? low, high: known?.high ?? high)
    }

    /// The column of a number of the row itself.
    private func column(of operand: BoundOperand, _ level: Int, _ table: TableMap) -> String? {
        guard case .path(let path) = operand, path.level == level, path.hops.isEmpty,
            case .attribute(let slot) = path.end,
            operand.family == .number
        else { return nil }
        return table.column(of: slot, in: path.entity.index).map { table.columns[$0].name }
    }
}

extension StoreMap {
    /// The R-trees over a table that the file has.
    fileprivate func spatialIndexes(of table: TableMap) -> [SQLSpatialIndex] {
        rTrees.compactMap { entity, index in
            guard entity.root == table.root else { return nil }
            let tree = try? FetchIndexDefinition(index: index, entity: entity, table: table, map: self).spatialIndex
            return tree.flatMap { absentRTrees.contains($0.name) ? nil : $0 }
        }
    }
}
