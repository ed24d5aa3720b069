// From an update of names to a bound one, or to one refusal that holds for every store.

import Foundation

/// *condition · order · assignments*
struct UpdateBinder {
    private let binding: Binding
    private var entity: Entity { binding.entity }
    private var schema: Schema { binding.schema }

    static func bind(_ plan: FetchPlan, _ assignments: [SetChange.Assignment], in schema: Schema) throws(StoreError)
        -> BoundUpdate
    {
        var rows = plan
        rows.projection = .rows
        let binding = Binding(rows, schema, samples: nil)
        let condition = try QueryBinder.condition(rows, binding)
        var order: [BoundSort] = []
        for term in rows.sort { order.append(try SortBinder(binding).bind(term)) }
        let bound = try UpdateBinder(binding: binding).bind(assignments)
        let query = BoundQuery(
            schema: schema, plan: rows, condition: condition, order: order, reach: binding.reach,
            levelCount: binding.levels.count, isShared: false)
        return BoundUpdate(query: Query(bound: query, values: [], plan: rows), assignments: bound)
    }

    private func bind(_ assignments: [SetChange.Assignment]) throws(StoreError) -> [BoundAssignment] {
        guard !assignments.isEmpty else {
            throw refusal(nil, "An update of \(entity.name) assigns nothing. Name a property.")
        }
        var bound: [BoundAssignment] = []
        for assignment in assignments {
            let slot = try slot(of: assignment.property)
            guard !bound.contains(where: { $0.slot == slot }) else {
                throw refusal(
                    assignment.property, "An update of \(entity.name) assigns “\(assignment.property)” twice.")
            }
            bound.append(try bind(assignment, slot))
        }
        return bound
    }

    // MARK: Properties

    private func slot(of property: String) throws(StoreError) -> Int {
        func no(_ why: String) -> StoreError {
            refusal(property, "An update of \(entity.name) cannot assign “\(property)”, which is \(why).")
        }
        switch entity.places[property] {
        case .slot(let place)?:
            let slot = entity.slots[place]
            if slot.isTransient { throw no("transient, so that no store keeps it") }
            if slot.attribute?.isDerived == true { throw no("derived, so that the store computes it") }
            return place
        case .toMany?: throw no("a to-many. Assign the to-one of its inverse, or save objects")
        case .fetched?: throw no("a fetched property")
        case nil where entity.composites[property] != nil:
            throw no("a composite. Assign its elements, as in \(property).element")
        case nil: throw no("no property of it")
        }
    }

    private func bind(_ assignment: SetChange.Assignment, _ place: Int) throws(StoreError) -> BoundAssignment {
        let slot = entity.slots[place]
        binding.refusal.subject = "The value assigned to \(entity.name).\(assignment.property)"
        if let index = slot.relationship {
            return BoundAssignment(
                slot: place, source: .target(try target(assignment, schema[index], isRequired: slot.isRequired)),
                isRequired: slot.isRequired)
        }
        return BoundAssignment(slot: place, source: try source(assignment.value, slot), isRequired: slot.isRequired)
    }

    // MARK: Values

    /// What an expression over rows of one schema gives a slot, which may be another schema's.
    ///
    /// - Parameter subject: the value, at the start of a sentence.
    static func source(
        _ expression: Expression, _ subject: String, _ slot: Slot, _ binding: Binding
    ) throws(StoreError) -> BoundAssignment.Source {
        binding.refusal.subject = subject
        return try UpdateBinder(binding: binding).source(expression, slot)
    }

    private func source(_ expression: Expression, _ slot: Slot) throws(StoreError) -> BoundAssignment.Source {
        let operand = try ExpressionBinder(binding).operand(expression, of: "an assignment")
        guard operand.depth <= QuerySize.deepest else {
            throw binding.refusal.tooMuch(
                "an expression nested \(operand.depth) deep, where \(QuerySize.deepest) are the most")
        }
        if case .value(let value) = operand { return .constant(try constant(value.value(among: []), slot)) }
        return .operand(try fitted(operand, slot))
    }

    private func target(
        _ assignment: SetChange.Assignment, _ relationship: ResolvedRelationship, isRequired: Bool
    ) throws(StoreError) -> RowKey? {
        guard case .constant(let value) = assignment.value else {
            throw refusal(
                assignment.property, "\(binding.refusal.subject) is computed; a to-one takes an object or nil.")
        }
        switch value {
        case .null:
            if isRequired { throw UpdateBinder.missing(entity, assignment.property) }
            return nil
        case .key(let key):
            guard schema.entities.indices.contains(key.entity.value), relationship.accepts(key.entity.rawValue),
                key.number > 0
            else {
                throw refusal(
                    assignment.property,
                    "\(binding.refusal.subject) is no saved object of \(schema[relationship.destination].name).")
            }
            if let inverse = relationship.inverse, !schema[inverse].isToMany {
                throw refusal(
                    assignment.property,
                    "unsupported: \(entity.name).\(assignment.property) is one to one, so many objects cannot have one target. "
                        + "Assign nil, or save objects.")
            }
            return key.row
        case .bool, .int, .double, .decimal, .text, .date, .data, .uuid, .uri:
            throw misfit(value, assignment.property, "an object or nil")
        }
    }

    /// The constant as the slot keeps it.
    private func constant(_ value: Value, _ slot: Slot) throws(StoreError) -> Value {
        if value.isNull {
            if slot.isRequired { throw UpdateBinder.missing(entity, slot.name) }
            return .null
        }
        let wanted = slot.attribute?.type.modelName ?? "value"
        if slot.kind == .externalData {
            guard case .data(let data) = value else { throw misfit(value, slot.name, wanted) }
            return .data(Data([ExternalReference.inlineTag]) + data)
        }
        guard let type = ValueType(slot.kind), let fitted = type.value(fitting: value) else {
            throw misfit(value, slot.name, wanted)
        }
        // A default may not be an infinite date; a value may, as in a save.
        if case .date(let seconds) = fitted, seconds.isInfinite { return fitted }
        guard slot.attribute?.type.accepts(fitted) != false else { throw misfit(value, slot.name, wanted) }
        return fitted
    }

    private func fitted(_ operand: BoundOperand, _ slot: Slot) throws(StoreError) -> BoundOperand {
        if slot.kind == .externalData {
            throw refusal(
                slot.name,
                "\(binding.refusal.subject) is computed as \(operand.title); the property allows external storage, and no store computes what "
                    + "may lie in a file. Assign data, or save objects.")
        }
        let operand = slot.kind == .bool ? try flags(operand, slot) : operand
        guard let wanted = ValueType(slot.kind), let type = ValueType(of: operand, in: schema), wanted.takes(type)
        else {
            throw refusal(
                slot.name,
                "\(binding.refusal.subject) is computed as \(operand.title), whose values are of another type; the property takes "
                    + "\(slot.attribute?.type.modelName ?? "others").")
        }
        guard wanted == .int, type != .int, type != .bool else { return operand }
        return .call("trunc:", [operand])
    }

    /// A TERNARY with its constants as Booleans, which may be given as 1 and 0.
    private func flags(_ operand: BoundOperand, _ slot: Slot) throws(StoreError) -> BoundOperand {
        switch operand {
        case .conditional(let condition, let first, let second):
            return .conditional(condition, try flags(first, slot), try flags(second, slot))
        case .value(.constant(let value)) where !value.isNull:
            return .value(.constant(try constant(value, slot)))
        case .value, .path, .aggregate, .grouped, .call: return operand
        }
    }

    // MARK: Refusals

    private func refusal(_ property: String?, _ sentence: String) -> StoreError {
        StoreError(134060, sentence, entity: entity.name, property: property)
    }

    private func misfit(_ value: Value, _ property: String, _ wanted: String) -> StoreError {
        refusal(property, "\(binding.refusal.subject) is \(value.shown), where \(wanted) is needed.")
    }

    static func missing(_ entity: Entity, _ property: String) -> StoreError {
        StoreError(missing: property, of: entity)
    }
}

extension ValueType {
    /// Whether values of another type can be kept as this one.
    fileprivate func takes(_ other: ValueType) -> Bool {
        switch (self, other) {
        case (.int, .int), (.int, .bool), (.int, .double), (.int, .float), (.int, .decimal): true
        case (.double, .int), (.double, .bool), (.double, .double), (.double, .float), (.double, .decimal): true
        case (.float, .int), (.float, .bool), (.float, .double), (.float, .float), (.float, .decimal): true
        case (.decimal, .int), (.decimal, .bool), (.decimal, .double), (.decimal, .float), (.decimal, .decimal): true
        case (.text, .text), (.text, .uri), (.uri, .text), (.uri, .uri): true
        case (.bool, .bool), (.date, .date), (.uuid, .uuid), (.data, .data): true
        case (.int, _), (.double, _), (.float, _), (.decimal, _), (.text, _), (.uri, _), (.bool, _), (.date, _),
            (.uuid, _),
            (.data, _), (.key, _):
            false
        }
    }

    /// A constant as a value of this type; nil for one that is none or would lose something.
    fileprivate func value(fitting constant: Value) -> Value? {
        switch (self, constant) {
        case (.int, .double(let number)): Int64(exactly: number).map(Value.int)
        case (.int, .decimal(let number)): number.int.map(Value.int)
        case (.bool, .int(let number)): number == 0 || number == 1 ? .bool(number == 1) : nil
        case (.date, .date), (.int, .int), (.int, .bool), (.bool, .bool), (.text, .text), (.uri, .uri), (.uuid, .uuid),
            (.data, .data),
            (.double, .int), (.double, .bool), (.double, .double), (.double, .decimal), (.float, .int), (.float, .bool),
            (.float, .double), (.float, .decimal), (.decimal, .int), (.decimal, .bool), (.decimal, .double),
            (.decimal, .decimal):
            value(.value(constant))
        case (.int, _), (.double, _), (.float, _), (.decimal, _), (.text, _), (.uri, _), (.bool, _), (.date, _),
            (.uuid, _),
            (.data, _), (.key, _):
            nil
        }
    }
}

extension BoundUpdate {
    /// Binds an update.
    ///
    /// - Throws: 134060 for what no store can do, 1570 for a required property that is assigned nothing.
    package init(_ plan: FetchPlan, _ assignments: [SetChange.Assignment], in schema: Schema) throws(StoreError) {
        self = try UpdateBinder.bind(plan, assignments, in: schema)
    }
}

extension StoreError {
    /// A set change that leaves a required property without a value.
    package init(missing property: String, of entity: Entity) {
        self.init(
            1570,
            "\(entity.name).\(property) must have a value, and the change leaves rows without one; nothing was written.",
            entity: entity.name, property: property)
    }
}
