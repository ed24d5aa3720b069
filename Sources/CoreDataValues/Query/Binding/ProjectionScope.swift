// What expressions mean in a projection: values of groups beside those of rows.

/// Finds the keys and aggregates of groups in the expressions of a projection. `ExpressionBinder` asks it first while columns,
/// `having` and sort keys are bound.
final class ProjectionScope {
    private unowned let binding: Binding
    private var keys: [Expression: Int] = [:]
    private var aggregates: [Name: Int] = [:]
    private(set) var values: [GroupValue] = []
    /// What `$name` stands for; nil where columns have no names yet.
    var columns: [String: BoundOperand]?
    /// Whether the argument of an aggregate is being bound: it is one of a row.
    private var isInside = false
    /// Whether keys stand for themselves: a key is made of values of a row.
    private var isOpen = true

    /// The same aggregate is computed once.
    private struct Name: Hashable {
        let function: GroupAggregate.Function
        let argument: Expression?
        let isDistinct: Bool
    }

    init(_ binding: Binding) { self.binding = binding }

    var hasAggregates: Bool { values.count > keys.count }

    /// Adds what rows of a group have in common. Keys come before all else.
    func addKey(_ expression: Expression) throws(StoreError) {
        guard keys[expression.plain] == nil else { return }
        isOpen = false
        defer { isOpen = true }
        let operand = try ExpressionBinder(binding).operand(expression, of: "a grouping")
        guard !hasAggregates else { throw binding.refusal.nonsense("an aggregate to group by") }
        guard operand.readsRow, let type = ValueType(of: operand, in: binding.schema) else {
            throw binding.refusal.nonsense("\(operand.title) to group by, which is no property")
        }
        keys[expression.plain] = values.count
        values.append(GroupValue(source: .key(operand), place: values.count, type: type))
    }

    /// nil for what means the same as elsewhere.
    func bind(_ expression: Expression) throws(StoreError) -> BoundExpression? {
        if isOpen, !isInside, let place = keys[expression.plain] { return .single(.grouped(values[place])) }
        switch expression {
        case .keyPath(let path): return try collected(path)
        case .function(let name, let arguments):
            guard arguments.count == 1 else { return nil }
            if let function = GroupAggregate.Function(named: name) {
                return try aggregate(function, arguments[0], written: name)
            }
            // Of the one value of a row they would be that value or 0.
            guard ["median:", "mode:", "stddev:"].contains(name) else { return nil }
            throw binding.refusal.predicate("the function \(name) over rows")
        case .variable(let name):
            guard let columns, binding.variables[name] == nil else { return nil }
            guard let column = columns[name], !isInside else {
                throw binding.refusal.nonsense("the variable $\(name), which names none of the columns")
            }
            return .single(column)
        case .constant, .list, .this, .subquery, .conditional: return nil
        }
    }

    // MARK: Aggregates

    /// `@sum.price`: an operator at the start of a key path.
    private func collected(_ path: [String]) throws(StoreError) -> BoundExpression? {
        guard let name = path.first, let function = GroupAggregate.Function(operator: name) else { return nil }
        let rest = Array(path.dropFirst())
        guard rest.isEmpty == (function == .count) else {
            throw binding.refusal.nonsense(
                "“\(path.joined(separator: "."))”: @count stands alone, other operators before a key path")
        }
        return try aggregate(function, rest.isEmpty ? .this : .keyPath(rest), written: name)
    }

    private func aggregate(_ function: GroupAggregate.Function, _ argument: Expression, written: String)
        throws(StoreError)
        -> BoundExpression?
    {
        if case .list = argument { return nil }
        var inner = argument
        var isDistinct = false
        if case .function("distinct:", let arguments) = argument, arguments.count == 1 {
            (inner, isDistinct) = (arguments[0], true)
        }
        let name = Name(function: function, argument: inner.plain, isDistinct: isDistinct)
        if !isInside, let place = aggregates[name] { return .single(.grouped(values[place])) }
        switch try inside({ () throws(StoreError) in try ExpressionBinder(binding).bind(inner) }) {
        case .many(let chain, let operand):
            guard !isDistinct else {
                throw binding.refusal.nonsense("distinct: of the to-many \(chain[0].relationship.name)")
            }
            try function.ofMembers.check(inner, binding)
            return .single(
                try BoundAggregate.make(
                    function.ofMembers, chain, operand, written: "\(written)(\(operand.title))", binding))
        case .list: throw binding.refusal.nonsense("\(written) of a list in distinct:")
        case .single(let operand):
            guard !isInside else { throw binding.refusal.nonsense("\(written) inside another aggregate") }
            let value = GroupValue(
                source: .aggregate(
                    GroupAggregate(
                        function: function, operand: function == .count && operand.isRow ? nil : operand,
                        isDistinct: isDistinct)),
                place: values.count, type: try type(function, operand, written: written))
            aggregates[name] = value.place
            values.append(value)
            return .single(.grouped(value))
        }
    }

    private func inside<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        let outer = isInside
        isInside = true
        defer { isInside = outer }
        return try body()
    }

    private func type(_ function: GroupAggregate.Function, _ operand: BoundOperand, written: String) throws(StoreError)
        -> ValueType
    {
        guard !operand.isExternal else { throw binding.refusal.predicate(ExternalReference.refusal(operand.title)) }
        if function == .count { return .int }
        guard let type = ValueType(of: operand, in: binding.schema) else {
            throw binding.refusal.nonsense("\(written) of \(operand.title), whose values have no one type")
        }
        switch function {
        case .count: return .int
        case .sum, .average:
            guard type.family == .number else {
                throw binding.refusal.nonsense("“\(written)(\(operand.title))”, which adds up what are no numbers")
            }
            return function == .sum ? type.sum : type.average
        case .minimum, .maximum:
            guard type.family != .object else {
                throw binding.refusal.nonsense("“\(written)(\(operand.title))”, which compares what has no order")
            }
            return type
        }
    }
}

extension BoundOperand {
    /// The row itself.
    fileprivate var isRow: Bool {
        if case .path(let path) = self { path.isRow } else { false }
    }
}

extension Expression {
    /// The same for key paths that mean the same.
    var plain: Expression {
        guard case .keyPath(let path) = self else { return self }
        var rest = path.filter { $0.lowercased() != "self" }
        if rest.last == "objectID" { rest.removeLast() }
        return rest.isEmpty ? .this : .keyPath(rest)
    }
}

extension GroupAggregate.Function {
    init?(named name: String) {
        switch name {
        case "count:": self = .count
        case "sum:": self = .sum
        case "average:": self = .average
        case "min:": self = .minimum
        case "max:": self = .maximum
        default: return nil
        }
    }

    init?(operator name: String) {
        switch name {
        case "@count": self = .count
        case "@sum": self = .sum
        case "@avg": self = .average
        case "@min": self = .minimum
        case "@max": self = .maximum
        default: return nil
        }
    }

    /// The same of members instead of rows.
    var ofMembers: BoundAggregate.Function {
        switch self {
        case .count: .count
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        }
    }
}
