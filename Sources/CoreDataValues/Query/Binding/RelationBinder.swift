// One operator between two bound sides.

import Foundation

/// Says what an operator means between two sides, or refuses what means nothing.
struct RelationBinder {
    let op: Comparison.Operator
    private let options: Comparison.Options
    private let binding: Binding
    private var refusal: QueryRefusal { binding.refusal }

    init(_ binding: Binding, _ op: Comparison.Operator, _ options: Comparison.Options) {
        self.binding = binding
        self.op = op
        self.options = options
    }

    private func with(_ op: Comparison.Operator) -> RelationBinder { RelationBinder(binding, op, options) }

    func bind(_ left: BoundExpression, _ right: BoundExpression) throws(StoreError) -> BoundCondition {
        switch op {
        case .in: return try membership(of: left, in: right)
        case .contains:
            switch left {
            case .many, .list: return try with(.in).bind(right, left)
            case .single: break
            }
        case .between: return try between(left, right)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .like, .matches:
            break
        }
        return try compare(single(left), single(right))
    }

    private func single(_ side: BoundExpression) throws(StoreError) -> BoundOperand {
        switch side {
        case .single(let operand): return operand
        case .many(let chain, _):
            let name = chain[chain.count - 1].relationship.name
            throw refusal.nonsense("the to-many \(name) as a whole; compare its members (ANY, ALL) or its @count")
        case .list: throw refusal.nonsense("\(op) with a list")
        }
    }

    // MARK: IN and BETWEEN

    private func membership(of left: BoundExpression, in right: BoundExpression) throws(StoreError) -> BoundCondition {
        let value = try single(left)
        switch right {
        case .many(let chain, let operand):
            if operand.family == .object, case .value(.constant(let constant)) = value, !constant.isNull,
                !ValueFamily.object.holds(constant)
            {
                throw refusal.nonsense(
                    "a value that is no object as a member of \(chain[chain.count - 1].relationship.name)")
            }
            return .exists(chain, try with(.equal).compare(value, operand))
        case .list(let items): return try among(value, items)
        case .single(let text):
            let isText = text.family == .text && (!text.isConstant || value.family == .text)
            guard isText || (text.family == .unknown && !text.isConstant && value.family == .text) else {
                throw refusal.nonsense("IN with \(text.title) on its right, which is no list")
            }
            return try with(.contains).compare(text, value)
        }
    }

    private func among(_ value: BoundOperand, _ items: [Expression]) throws(StoreError) -> BoundCondition {
        var constants: [Value] = []
        var others: [BoundCondition] = []
        let isFloat = isFloat(value)
        // What a locale calls equal no list tells, nor how to fold what only its values tell to be texts.
        let isSingly =
            value.isConstant || options.contains(.localeSensitive) || (!options.isEmpty && value.family == .unknown)
        for item in items {
            // A short list of a shared shape is compared one by one, so that its values may be others the next time.
            if binding.isShared, case .constant(let constant) = item {
                others.append(try with(.equal).compare(value, .value(binding.constant(constant))))
                continue
            }
            let element = try single(ExpressionBinder(binding).bind(item))
            guard case .value(.constant(let constant)) = element, !isSingly else {
                others.append(try with(.equal).compare(value, element))
                continue
            }
            if constant.isNull {
                others.append(.isNull(value))
            } else if let kept = try kept(constant, beside: value) {
                constants.append(kept)
            }
        }
        if isWhole(value) {
            constants = constants.compactMap { constant in
                guard case .decimal(let number) = constant else { return constant }
                return number.isWhole ? number.wholeBound : nil
            }
        }
        if isFloat { return .any(others + [.floats(value, constants.compactMap(FloatRange.init), options)]) }
        if !constants.isEmpty { others.append(.among(value, constants, options)) }
        return .any(others)
    }

    private func between(_ left: BoundExpression, _ right: BoundExpression) throws(StoreError) -> BoundCondition {
        guard case .list(let bounds) = right, bounds.count == 2 else {
            throw refusal.nonsense("BETWEEN without a list of two bounds")
        }
        let value = try single(left)
        if value.family == .object { throw refusal.nonsense("BETWEEN for objects") }
        if case .value(.constant(.null)) = value { return .constant(false) }
        var ends: [BoundOperand] = []
        var hasDecimals = false
        for bound in bounds {
            let end = try single(ExpressionBinder(binding).bind(bound))
            guard case .value(.constant(let constant)) = end else {
                try requireSameFamily(value, end)
                ends.append(end)
                continue
            }
            if constant.isNull { return .constant(false) }
            guard let kept = try kept(constant, beside: value) else {
                throw refusal.nonsense("BETWEEN for \(value.title) with a bound of another kind of value")
            }
            if case .decimal = kept { hasDecimals = true }
            let coercion: Coercion = !isFloat(value) ? .none : ends.isEmpty ? .lowestFloat : .highestFloat
            ends.append(.value(.constant(coercion.apply(kept))))
        }
        if value.isConstant || hasDecimals && isWhole(value) {
            return .all([
                try with(.greaterOrEqual).compare(value, ends[0]), try with(.lessOrEqual).compare(value, ends[1]),
            ])
        }
        return .between(value, ends[0], ends[1], options)
    }

    // MARK: Two values

    private func compare(_ left: BoundOperand, _ right: BoundOperand) throws(StoreError) -> BoundCondition {
        if case .value(.constant(let a)) = left, case .value(.constant(let b)) = right {
            try checkText(left, right)
            return .constant(Relation(op: op, options: options).holds(.value(a), .value(b)))
        }
        if left.isConstant, let flipped { return try with(flipped).compare(right, left) }
        if op.isOfTexts { return try text(left, right) }
        if op.isOrder, left.family == .object || right.family == .object {
            throw refusal.nonsense("an ordering comparison of objects")
        }
        switch right {
        case .value(.constant(let constant)): return try compare(left, constant: constant)
        case .value(.parameter(let place, _)): return try compare(left, parameter: place)
        case .path, .aggregate, .call, .conditional, .grouped:
            try requireSameFamily(left, right)
            if areOfDifferentTables(left, right) {
                // Their numbers may be the same, and the objects are not.
                let areNil = BoundCondition.all([.isNull(left), .isNull(right)])
                return op == .equal ? areNil : .not(areNil)
            }
            return .compare(BoundComparison(left: left, op: op, right: right, options: options))
        }
    }

    /// Whether both sides are objects and no object can be both.
    private func areOfDifferentTables(_ left: BoundOperand, _ right: BoundOperand) -> Bool {
        guard let first = left.target(in: binding.schema), let second = right.target(in: binding.schema) else {
            return false
        }
        return first.root != second.root
    }

    private func compare(_ left: BoundOperand, constant: Value) throws(StoreError) -> BoundCondition {
        if constant.isNull {
            if op == .equal { return .isNull(left) }
            return op == .notEqual ? .not(.isNull(left)) : .constant(false)
        }
        if case .aggregate(let aggregate) = left, let some = members(of: aggregate, counted: constant) { return some }
        guard let kept = try kept(constant, beside: left) else { return .constant(op == .notEqual) }
        return compare(left, kept) { .constant($0.apply(kept)) }
    }

    /// Whether there are any, which the first one tells; nil for other questions. At the end of a to-one that is nil nothing is counted.
    private func members(of aggregate: BoundAggregate, counted: Value) -> BoundCondition? {
        guard aggregate.function == .count, case .int(let count) = counted, count == 0 || count == 1 else { return nil }
        let isAlways = aggregate.chain[0].owner.hops.isEmpty
        let some = BoundCondition.exists(aggregate.chain, .constant(true))
        switch (op, count) {
        case (.greater, 0), (.greaterOrEqual, 1): return some
        case (.notEqual, 0): return isAlways ? some : nil
        case (.equal, 0), (.lessOrEqual, 0), (.less, 1): return isAlways ? .not(some) : nil
        default: return nil
        }
    }

    /// A comparison with a constant; a Float is compared with all numbers that it would keep alike. Beside another column or a
    /// computed value it is the number that it is.
    ///
    /// - Parameter sample: the constant, or one of its kind.
    private func compare(_ left: BoundOperand, _ sample: Value, _ right: (Coercion) -> BoundValue) -> BoundCondition {
        func compared(_ coercion: Coercion, _ op: Comparison.Operator? = nil) -> BoundCondition {
            .compare(BoundComparison(left: left, op: op ?? self.op, right: .value(right(coercion)), options: options))
        }
        if case .decimal(let number) = sample, isWhole(left) {
            if number.isWhole { return compared(.wholeBound) }
            switch op {
            case .equal, .notEqual: return .constant(op == .notEqual)
            case .less, .lessOrEqual: return compared(.wholeBound, .lessOrEqual)
            case .greater, .greaterOrEqual: return compared(.wholeBound, .greater)
            case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: break
            }
        }
        guard isFloat(left) else { return compared(.none) }
        switch op {
        case .less, .greaterOrEqual: return compared(.lowestFloat)
        case .lessOrEqual, .greater: return compared(.highestFloat)
        case .equal, .notEqual:
            let same = BoundCondition.between(left, .value(right(.lowestFloat)), .value(right(.highestFloat)), options)
            return op == .equal ? same : .not(same)
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: return compared(.none)
        }
    }

    /// Whether a value of its kind can stand beside the left side is the same for all of the shape.
    private func compare(_ left: BoundOperand, parameter place: Int) throws(StoreError) -> BoundCondition {
        if let family = left.family, !family.holds(binding.sample(place)) { return .constant(op == .notEqual) }
        return compare(left, binding.sample(place)) { .parameter(place, $0) }
    }

    private func isFloat(_ side: BoundOperand) -> Bool {
        switch side {
        case .value: false
        case .path(let path): path.slot?.kind == .float
        case .aggregate, .call, .conditional, .grouped: ValueType(of: side, in: binding.schema) == .float
        }
    }

    /// Whether its values are whole numbers, which are compared with a decimal itself and not with its double.
    private func isWhole(_ side: BoundOperand) -> Bool {
        switch ValueType(of: side, in: binding.schema) {
        case .int, .bool: !side.isConstant
        case .double, .float, .decimal, .text, .date, .data, .uuid, .uri, .key, nil: false
        }
    }

    /// The constant as the side beside it keeps it; nil for one that can never be there, such as a text in a column of numbers:
    /// equality with it is false.
    private func kept(_ constant: Value, beside side: BoundOperand) throws(StoreError) -> Value? {
        if let family = side.family, !family.holds(constant) { return nil }
        if case .key(let key) = constant {
            guard let entity = side.target(in: binding.schema),
                binding.schema.entities.indices.contains(key.entity.value)
            else { return constant }
            return binding.schema[key.entity].root == entity.root ? constant : nil
        }
        return constant
    }

    private func requireSameFamily(_ left: BoundOperand, _ right: BoundOperand) throws(StoreError) {
        guard let a = left.family, let b = right.family else { return }
        guard a == b || a == .unknown || b == .unknown else {
            throw refusal.nonsense("a comparison of \(a.rawValue) with \(b.rawValue)")
        }
    }

    /// The operator with its sides turned round; nil for one that means something else then.
    private var flipped: Comparison.Operator? {
        switch op {
        case .equal, .notEqual: op
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches: nil
        }
    }

    // MARK: Texts

    private func text(_ left: BoundOperand, _ right: BoundOperand) throws(StoreError) -> BoundCondition {
        try checkText(left, right)
        if case .value(.constant(.null)) = right { return .constant(false) }
        if case .value(.constant(.null)) = left { return .constant(false) }
        return .compare(BoundComparison(left: left, op: op, right: right, options: options))
    }

    private func checkText(_ left: BoundOperand, _ right: BoundOperand) throws(StoreError) {
        guard op.isOfTexts else { return }
        for side in [left, right] {
            if case .value(.constant(.null)) = side { continue }
            guard let family = side.family else { continue }
            guard family == .text || family == .unknown else {
                throw refusal.nonsense("\(op) on \(side.isConstant ? "a value that is no text" : family.rawValue)")
            }
        }
        guard op == .matches, case .value(.constant(.text(let pattern))) = right else { return }
        do { _ = try RegularPattern(pattern, options: options) } catch {
            throw refusal.nonsense("matches with “\(pattern)”, which is no regular expression")
        }
    }
}

extension Comparison.Operator {
    var isOfTexts: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith, .like, .matches: true
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in: false
        }
    }

    var isOrder: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
        case .equal, .notEqual, .in, .contains, .beginsWith, .endsWith, .like, .matches: false
        }
    }
}

extension BoundOperand {
    package var isConstant: Bool { if case .value = self { true } else { false } }

    var isNull: Bool { if case .value(.constant(.null)) = self { true } else { false } }
}
