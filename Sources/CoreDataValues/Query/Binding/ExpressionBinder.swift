// Expressions of a predicate as bound operands.

/// Binds one side of a comparison.
struct ExpressionBinder {
    private let binding: Binding
    init(_ binding: Binding) { self.binding = binding }

    func bind(_ expression: Expression) throws(StoreError) -> BoundExpression {
        if let projection = binding.projection, let bound = try projection.bind(expression) { return bound }
        switch expression {
        case .constant(let value): return .single(.value(.constant(value.known)))
        case .list(let items): return .list(items)
        case .this: return try KeyPathBinder.bind([], from: 0, binding)
        case .keyPath(let path): return try KeyPathBinder.bind(path, from: 0, binding)
        case .variable(let name): return try KeyPathBinder.bind([], from: level(of: name), binding)
        case .function(let name, let arguments): return try function(name, arguments)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable, predicate)
        case .conditional(let condition, let first, let second):
            return .single(try conditional(condition, first, second))
        }
    }

    // MARK: TERNARY

    private func conditional(_ predicate: Predicate, _ first: Expression, _ second: Expression) throws(StoreError)
        -> BoundOperand
    {
        let condition = try ConditionBinder(binding).bind(predicate)
        let (a, b) = (try operand(first, of: "TERNARY"), try operand(second, of: "TERNARY"))
        for side in [a, b] where side.family == .object {
            throw binding.refusal.nonsense("TERNARY of \(side.title), which is no value")
        }
        if let one = a.family, let other = b.family, one != other, one != .unknown, other != .unknown {
            throw binding.refusal.nonsense("TERNARY of \(one.rawValue) or \(other.rawValue)")
        }
        if case .constant(let flag) = condition { return flag ? a : b }
        return .conditional(condition, a, b)
    }

    /// A value that is no collection.
    func operand(_ expression: Expression, of use: String) throws(StoreError) -> BoundOperand {
        try operand(bind(expression), of: use)
    }

    /// A column of a projection, whose bytes alone may be in a file of their own.
    func column(_ expression: Expression) throws(StoreError) -> BoundOperand {
        try operand(bind(expression), of: "a column", mayBeExternal: true)
    }

    private func operand(_ bound: BoundExpression, of use: String, mayBeExternal: Bool = false) throws(StoreError)
        -> BoundOperand
    {
        switch bound {
        case .single(let operand):
            guard mayBeExternal || !operand.isExternal else {
                throw binding.refusal.predicate(ExternalReference.refusal(operand.title))
            }
            return operand
        case .many(let chain, _):
            throw binding.refusal.nonsense("the to-many \(chain[0].relationship.name) as a whole in \(use)")
        case .list: throw binding.refusal.nonsense("a list in \(use)")
        }
    }

    private func level(of variable: String) throws(StoreError) -> Int {
        guard let level = binding.variables[variable] else {
            throw binding.refusal.nonsense("the variable $\(variable), which has no value; substitute it first")
        }
        return level
    }

    // MARK: SUBQUERY

    private func subquery(
        _ collection: Expression, _ variable: String, _ predicate: Predicate
    ) throws(StoreError) -> BoundExpression {
        guard case .many(var chain, let member) = try bind(collection), case .path(let path) = member,
            case .object = path.end,
            path.hops.isEmpty, let last = chain.popLast()
        else { throw binding.refusal.nonsense("SUBQUERY over something else than the members of a to-many") }
        let outer = binding.variables
        binding.variables[variable] = last.level
        defer { binding.variables = outer }
        let condition = try ConditionBinder(binding).bind(predicate)
        var filtered = last
        filtered.filter = last.filter.map { .all([$0, condition]) } ?? condition
        return .many(chain + [filtered], member)
    }

    // MARK: Functions

    private func function(_ name: String, _ arguments: [Expression]) throws(StoreError) -> BoundExpression {
        switch (name, arguments.count) {
        case ("valueForKeyPath:", 2):
            if arguments[1] == .this { return try bind(arguments[0]) }
            guard case .keyPath(let path) = arguments[1] else { break }
            return try KeyPathBinder.bind(path, behind: bind(arguments[0]), binding)
        case ("objectFrom:withIndex:", 2): return try item(arguments[0], arguments[1])
        case ("FUNCTION", 2...):
            guard case .constant(.text(let selector)) = arguments[1] else { break }
            return try function(PredicateFunctions.name(ofSelector: selector), [arguments[0]] + arguments[2...])
        case ("noindex:", 1): return try bind(arguments[0])
        case (PredicateFunctions.indexedBy, 2): return try indexed(arguments[0], by: arguments[1])
        case (_, 1): return .single(try function(name, of: arguments[0]))
        case (_, _): break
        }
        return .single(try call(name, bind(all: arguments)))
    }

    /// The value itself, whose index has to be there: which one finds the rows is the database's choice.
    private func indexed(_ expression: Expression, by name: Expression) throws(StoreError) -> BoundExpression {
        let bound = try bind(expression)
        guard case .constant(.text(let name)) = name else {
            throw binding.refusal.nonsense("indexed:by: without the name of an index")
        }
        guard case .single(.path(let path)) = bound, case .attribute(let slot) = path.end else {
            throw binding.refusal.nonsense("indexed:by: of something else than an attribute")
        }
        let entities = sequence(first: path.entity) { entity in entity.parent.map { self.binding.schema[$0] } }
        let isThere = entities.contains { entity in
            entity.draft.indexes.contains { index in
                index.name == name && index.elements.contains { $0.property == path.entity.slots[slot].name }
            }
        }
        guard isThere else {
            throw binding.refusal.nonsense(
                "indexed:by: with “\(name)”, which is no index of \(path.entity.name).\(path.entity.slots[slot].name)")
        }
        return bound
    }

    private func bind(all expressions: [Expression]) throws(StoreError) -> [BoundExpression] {
        var bound: [BoundExpression] = []
        for expression in expressions { bound.append(try bind(expression)) }
        return bound
    }

    /// A function of one value, or `sum:` and its like of a to-many or a list. Its argument is bound once, since functions stand in
    /// functions.
    private func function(_ name: String, of argument: Expression) throws(StoreError) -> BoundOperand {
        let collecting = BoundAggregate.Function(named: name)
        if case .list(let items) = argument, items.count > 1, collecting != nil {
            return try call(name, bind(all: items))
        }
        let bound = try bind(argument)
        guard case .many(let chain, let operand) = bound else { return try call(name, [bound]) }
        guard let collecting else { throw binding.refusal.predicate("the function \(name) of a to-many") }
        try collecting.check(argument, binding)
        return try BoundAggregate.make(collecting, chain, operand, written: "\(name)(\(operand.title))", binding)
    }

    private func call(_ name: String, _ arguments: [BoundExpression]) throws(StoreError) -> BoundOperand {
        guard let function = PredicateFunctions.named(name, count: arguments.count),
            ValueFamily(ofFunction: name) != nil
        else {
            throw binding.refusal.predicate("the function \(name) with \(arguments.count) arguments")
        }
        // SQLite's functions take 127.
        guard arguments.count <= 100 else {
            throw binding.refusal.tooMuch("the function \(name) of \(arguments.count) values, where 100 are the most")
        }
        var operands: [BoundOperand] = []
        for argument in arguments {
            let operand = try operand(argument, of: "the function \(name)")
            if let lack = operand.lack(as: name) {
                throw binding.refusal.nonsense("the function \(name) of \(operand.title), \(lack)")
            }
            operands.append(operand.calculating(in: name, binding.schema))
        }
        // Of constants alone it is one, but for those that answer anew each time.
        let constants = operands.compactMap { operand -> Operand? in
            if case .value(.constant(let value)) = operand { .value(value) } else { nil }
        }
        if constants.count == operands.count, name != "random", case .value(let value) = function(constants) {
            return .value(.constant(value))
        }
        return .call(name, operands)
    }

    /// `a[0]`, `a[FIRST]`, `a[LAST]`, `a[SIZE]` of a to-many.
    private func item(_ collection: Expression, _ index: Expression) throws(StoreError) -> BoundExpression {
        guard case .many(let chain, let operand) = try bind(collection) else {
            throw binding.refusal.nonsense("an index into what is no to-many")
        }
        let function: BoundAggregate.Function
        switch index {
        case .function("SIZE", []):
            return .single(.aggregate(BoundAggregate(function: .count, chain: chain, operand: nil)))
        case .function("FIRST", []): function = .item(0)
        case .function("LAST", []): function = .last
        case .constant(.int(let place)) where place >= 0 && place <= Int32.max: function = .item(Int(place))
        case .constant, .list, .this, .keyPath, .variable, .function, .subquery, .conditional:
            throw binding.refusal.nonsense("an index that is no number from 0 and not FIRST, LAST or SIZE")
        }
        guard chain.count == 1, chain[0].relationship.isOrdered else {
            throw binding.refusal.nonsense("an index into \(chain[0].relationship.name), whose members have no order")
        }
        return .single(.aggregate(BoundAggregate(function: function, chain: chain, operand: operand)))
    }
}

extension BoundAggregate.Function {
    init?(named name: String) {
        guard let function = GroupAggregate.Function(named: name) else { return nil }
        self = function.ofMembers
    }
}

extension BoundOperand {
    /// What keeps it from being an argument of a function, as the end of a sentence; nil for what can be one.
    fileprivate func lack(as function: String) -> String? {
        guard let family, family != .unknown else { return nil }
        switch function {
        case "count:", TransformedEquality.function: return nil
        case "min:", "max:", "castObject:toType:": return family == .object ? "which is no value" : nil
        case "uppercase:", "lowercase:", "canonical:", "capitalized:", "length:":
            return family == .text ? nil : "which is no text"
        default: return family == .number ? nil : "which is no number"
        }
    }
}

extension ValueFamily {
    /// What the functions that every store can call come to; nil for any other.
    init?(ofFunction name: String) {
        switch name {
        case "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:",
            "bitwiseAnd:with:",
            "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", "onesComplement:", "sqrt:",
            "log:", "ln:",
            "exp:", "ceiling:", "floor:", "trunc:", "abs:", "length:", "now", "random", "sum:", "count:", "average:",
            "median:",
            "stddev:", PredicateFunctions.float, TransformedEquality.function:
            self = .number
        case "uppercase:", "lowercase:", "canonical:", "capitalized:": self = .text
        case "min:", "max:", "castObject:toType:": self = .unknown
        default: return nil
        }
    }
}
