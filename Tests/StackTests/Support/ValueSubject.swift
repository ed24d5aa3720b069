// Short hands of the tests of values without an entity.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

extension Subject {
    /// The rows of values that a plan comes to.
    func values(_ plan: FetchPlan) throws -> [[Value]] {
        var all: [[Value]] = []
        try store.fetchValues(plan, .latest) { batch in
            #expect(batch.count > 0 && batch.count <= ValueRows.maximumCount)
            for row in 0..<batch.count { all.append(batch.columns.indices.map { batch.value(row: row, column: $0) }) }
            return .more
        }
        return all
    }

    func values(
        _ entity: String, _ columns: [ValueProjection.Column], grouping: [Expression] = [], having: Predicate? = nil,
        isDistinct: Bool = false, _ change: (inout FetchPlan) -> Void = { _ in }
    ) throws -> [[Value]] {
        var plan = FetchPlan(entity: try self.entity(entity).index)
        plan.projection = .values(ValueProjection(columns, grouping: grouping, having: having, isDistinct: isDistinct))
        change(&plan)
        return try values(plan)
    }
}

/// A key path as an expression.
func path(_ text: String) -> Expression { .keyPath(text.split(separator: ".").map(String.init)) }

/// A function of one argument.
func call(_ name: String, _ arguments: Expression...) -> Expression { .function(name, arguments) }

/// A column with the name of its key path.
func column(_ text: String) -> ValueProjection.Column { ValueProjection.Column(text, path(text)) }

func column(_ name: String, _ expression: Expression) -> ValueProjection.Column {
    ValueProjection.Column(name, expression)
}

func by(_ text: String, _ isAscending: Bool = true) -> SortTerm {
    SortTerm(keyPath: text.split(separator: ".").map(String.init), isAscending: isAscending)
}

func test(_ left: Expression, _ op: Comparison.Operator, _ right: Value) -> Predicate {
    .comparison(Comparison(left, op, .constant(right)))
}

extension [[Value]] {
    /// In an order that only depends on the values: what a plan without an order promises none of.
    var inAnyOrder: [[Value]] {
        sorted { a, b in
            for (x, y) in zip(a, b) {
                let result = ValueOrder.sortOrder(x, y)
                if result != .orderedSame { return result == .orderedAscending }
            }
            return false
        }
    }
}
