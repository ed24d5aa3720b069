// From a plan for values to a bound query, or to one refusal that holds for every store.

/// *condition · keys · columns · having · order*
struct ProjectionBinder {
    private let plan: FetchPlan
    private let projection: ValueProjection
    private let binding: Binding
    private let scope: ProjectionScope
    static let mostColumns = 500

    /// - Throws: 134060 for what no store can answer.
    static func bind(_ plan: FetchPlan, in schema: Schema) throws(StoreError) -> BoundQuery {
        guard case .values(let projection) = plan.projection else {
            var refusal = QueryRefusal(entity: schema[plan.entity])
            refusal.subject = "The projection of \(refusal.entity.name)"
            throw refusal.nonsense("no columns; ask for its rows or their number instead")
        }
        let binding = Binding(plan, schema, samples: nil)
        let condition = try QueryBinder.condition(plan, binding)
        let bound = try ProjectionBinder(plan, projection, binding).bind()
        return BoundQuery(
            schema: schema, plan: plan, condition: condition, order: [], reach: binding.reach,
            levelCount: binding.levels.count,
            isShared: false, projection: bound)
    }

    private init(_ plan: FetchPlan, _ projection: ValueProjection, _ binding: Binding) {
        self.plan = plan
        self.projection = projection
        self.binding = binding
        scope = ProjectionScope(binding)
    }

    private func bind() throws(StoreError) -> BoundProjection {
        binding.projection = scope
        binding.refusal.subject = "The projection of \(binding.entity.name)"
        try checkNames()
        for key in projection.grouping { try scope.addKey(key) }
        let keyCount = scope.values.count
        let columns = try columns()
        scope.columns = Dictionary(columns.map { ($0.name, $0.operand) }, uniquingKeysWith: { a, _ in a })
        let having = try having()
        let terms = try terms(columns)
        let isGrouped = keyCount > 0 || scope.hasAggregates
        if isGrouped { try checkGrouped(columns, having, terms) }
        return BoundProjection(
            columns: columns, groupValues: scope.values, keyCount: keyCount, isGrouped: isGrouped, having: having,
            isDistinct: projection.isDistinct, order: terms + ties(behind: terms, columns, keyCount, isGrouped))
    }

    private func checkNames() throws(StoreError) {
        var names: Set<String> = []
        for column in projection.columns where !names.insert(column.name).inserted {
            throw binding.refusal.nonsense("the name “\(column.name)” for two columns")
        }
        guard !projection.columns.isEmpty else { throw binding.refusal.nonsense("no columns; name one at least") }
        let count = projection.columns.count + projection.grouping.count
        guard count <= ProjectionBinder.mostColumns else {
            throw binding.refusal.tooMuch(
                "\(count) columns and groupings, of which \(ProjectionBinder.mostColumns) are the most")
        }
    }

    // MARK: Parts

    private func columns() throws(StoreError) -> [BoundProjection.Column] {
        var columns: [BoundProjection.Column] = []
        for column in projection.columns {
            binding.refusal.subject = "The column “\(column.name)” of \(binding.entity.name)"
            let operand = try ExpressionBinder(binding).column(column.expression)
            guard let type = ValueType(of: operand, in: binding.schema) else {
                throw binding.refusal.nonsense("\(operand.title), whose values have no one type")
            }
            if case .aggregate = operand, type.family == .object {
                throw binding.refusal.nonsense("a member by its place; name one of its properties")
            }
            try checkDepth(operand)
            columns.append(BoundProjection.Column(name: column.name, operand: operand, type: type))
        }
        binding.refusal.subject = "The projection of \(binding.entity.name)"
        return columns
    }

    private func checkDepth(_ operand: BoundOperand) throws(StoreError) {
        guard operand.depth > QuerySize.deepest else { return }
        throw binding.refusal.tooMuch(
            "an expression nested \(operand.depth) deep, where \(QuerySize.deepest) are the most")
    }

    private func having() throws(StoreError) -> BoundCondition? {
        guard let predicate = projection.having, predicate != .and([]) else { return nil }
        guard !projection.grouping.isEmpty else {
            throw binding.refusal.nonsense("having without a grouping; use a predicate instead")
        }
        binding.refusal.subject = "The having predicate on \(binding.entity.name)"
        defer { binding.refusal.subject = "The projection of \(binding.entity.name)" }
        let condition = try ConditionBinder(binding).bind(predicate)
        try QuerySize(binding.refusal).check(condition)
        if case .constant(true) = condition { return nil }
        return condition
    }

    private func terms(_ columns: [BoundProjection.Column]) throws(StoreError) -> [BoundProjection.Sort] {
        var terms: [BoundProjection.Sort] = []
        for term in plan.sort {
            let column = place(of: term)
            let operand: BoundOperand
            if let column { operand = columns[column].operand } else { operand = try self.operand(of: term) }
            guard !projection.isDistinct || column != nil else {
                throw binding.refusal.sort(
                    term.keyPath, "it is no column of the distinct rows; add it, or sort by a column")
            }
            terms.append(
                .init(operand: operand, column: column, isAscending: term.isAscending, comparison: term.comparison))
        }
        return terms
    }

    /// The column that a sort key names, or whose key path it is.
    private func place(of term: SortTerm) -> Int? {
        let named = term.keyPath.count == 1 ? projection.columns.firstIndex { $0.name == term.keyPath[0] } : nil
        if let named { return named }
        let path = Expression.keyPath(term.keyPath).plain
        return projection.columns.firstIndex { $0.expression.plain == path }
    }

    private func operand(of term: SortTerm) throws(StoreError) -> BoundOperand {
        guard try scope.bind(.keyPath(term.keyPath)) == nil else {
            return try ExpressionBinder(binding).operand(.keyPath(term.keyPath), of: "a sort key")
        }
        return try SortBinder(binding).bind(term).operand
    }

    // MARK: Groups

    private func checkGrouped(
        _ columns: [BoundProjection.Column], _ having: BoundCondition?, _ terms: [BoundProjection.Sort]
    )
        throws(StoreError)
    {
        let advice = "neither grouped nor an aggregate; group by it or aggregate it"
        for column in columns where column.operand.readsRow {
            binding.refusal.subject = "The column “\(column.name)” of \(binding.entity.name)"
            throw binding.refusal.nonsense("a value that is \(advice)")
        }
        if having?.readsRow == true {
            binding.refusal.subject = "The having predicate on \(binding.entity.name)"
            throw binding.refusal.nonsense("a value that is \(advice)")
        }
        for (term, sort) in zip(terms, plan.sort) where term.operand.readsRow {
            throw binding.refusal.sort(sort.keyPath, "it is \(advice)")
        }
    }

    /// What tells rows of the result apart behind the terms, in the direction of the last one. Without terms only a window of
    /// groups or distinct rows needs an order.
    private func ties(
        behind terms: [BoundProjection.Sort], _ columns: [BoundProjection.Column], _ keyCount: Int, _ isGrouped: Bool
    ) -> [BoundProjection.Sort] {
        let isPart = plan.limit > 0 || plan.offset > 0
        guard !terms.isEmpty || (isPart && (isGrouped || projection.isDistinct)) else { return [] }
        let isAscending = terms.last?.isAscending ?? true
        if projection.isDistinct {
            return columns.indices.filter { place in !terms.contains { $0.column == place && $0.comparison == .binary }
            }.map {
                .init(operand: columns[$0].operand, column: $0, isAscending: isAscending, comparison: .binary)
            }
        }
        if isGrouped {
            return scope.values[..<keyCount].map {
                .init(operand: .grouped($0), column: nil, isAscending: isAscending, comparison: .binary)
            }
        }
        let row = BoundPath(level: 0, hops: [], end: .object, entity: binding.entity)
        return [.init(operand: .path(row), column: nil, isAscending: isAscending, comparison: .binary)]
    }
}

extension Query {
    /// Binds a plan whose projection is columns of values.
    ///
    /// - Throws: 134060 for what no store can answer.
    package init(valuesOf plan: FetchPlan, in schema: Schema) throws(StoreError) {
        self.init(bound: try ProjectionBinder.bind(plan, in: schema), values: [], plan: plan)
    }
}
