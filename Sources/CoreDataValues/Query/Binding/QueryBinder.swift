// From a plan of names to a bound query, or to one refusal that holds for every store.

/// *predicate · order · reach*
enum QueryBinder {
    /// A shape with more constants is not shared: to compare it costs as much as to bind it.
    private static let mostParameters = 16
    private static let mostSortKeys = 500

    static func bind(_ plan: FetchPlan, in schema: Schema) throws(StoreError) -> BoundQuery {
        if case .values = plan.projection { throw valuesAsked(plan, schema) }
        let samples = plan.values(ofSameShape: plan).flatMap { $0.count <= mostParameters ? $0 : nil }
        let binding = Binding(plan, schema, samples: samples)
        let condition = try condition(plan, binding)
        var order: [BoundSort] = []
        guard plan.sort.count <= mostSortKeys else {
            throw binding.refusal.tooMuch("\(plan.sort.count) sort keys, of which \(mostSortKeys) are the most")
        }
        for term in plan.sort { order.append(try SortBinder(binding).bind(term)) }
        return BoundQuery(
            schema: schema, plan: plan, condition: condition, order: order, reach: binding.reach,
            levelCount: binding.levels.count, isShared: samples != nil)
    }

    /// Which rows a plan wants; nil for all.
    static func condition(_ plan: FetchPlan, _ binding: Binding) throws(StoreError) -> BoundCondition? {
        if let name = plan.predicate?.freeVariables.min() {
            throw binding.refusal.nonsense("the variable $\(name), which has no value; substitute it first")
        }
        guard let predicate = plan.predicate, predicate != .and([]) else { return nil }
        let condition = try ConditionBinder(binding).bind(predicate)
        try QuerySize(binding.refusal).check(condition)
        if case .constant(true) = condition { return nil }
        return condition
    }

    private static func valuesAsked(_ plan: FetchPlan, _ schema: Schema) -> StoreError {
        StoreError(
            134060,
            "Rows of \(schema[plan.entity].name) were asked for by a plan for columns of values; read it by fetchValues.",
            entity: schema[plan.entity].name)
    }
}

/// What binding one plan knows and has found so far.
final class Binding {
    /// The row of the query, or a member of a collection that it goes through.
    struct Level {
        let entity: Entity
        /// The relationships from the row of the query to it.
        let path: [String]
        let passesToMany: Bool
        /// Levels of one number are read by one FROM clause.
        let group: Int
    }
    /// A key that is not in the model.
    struct MissingKey {
        let key: String
        let owner: Entity
        /// The attribute that it is asked of, nil for the object itself.
        let attribute: String?
    }
    let schema: Schema
    let entity: Entity
    var refusal: QueryRefusal
    /// The one for which a key path was refused.
    var missing: MissingKey?
    /// What aggregates and keys of groups mean; nil outside of a projection.
    var projection: ProjectionScope?
    private let rows: ClosedRange<UInt16>
    private(set) var levels: [Level]
    /// The levels that the variables of SUBQUERY stand for.
    var variables: [String: Int] = [:]
    /// The values of the first query of a shared shape; nil for a query of its own.
    private let samples: [Value]?
    private var parameters = 0
    /// By the path that leads there.
    private var links: [[String]: (relationship: ResolvedRelationship, passesToMany: Bool)] = [:]
    private var keysRead: [[String]: Set<String>] = [:]
    private var groups = 1
    private var tables: [Int: Set<[String]>] = [:]
    /// SQLite joins 64 tables at most.
    private static let mostTables = 58

    init(_ plan: FetchPlan, _ schema: Schema, samples: [Value]?) {
        self.schema = schema
        self.samples = samples
        entity = schema[plan.entity]
        refusal = QueryRefusal(entity: entity)
        let last = plan.includesSubentities ? entity.last : entity.index
        rows = entity.index.rawValue...last.rawValue
        levels = [Level(entity: entity, path: [], passesToMany: false, group: 0)]
    }

    /// For what belongs to no query.
    convenience init(_ entity: Entity, in schema: Schema) {
        self.init(FetchPlan(entity: entity.index), schema, samples: nil)
    }

    var reach: QueryReach {
        let all = links.map { path, link in
            QueryReach.Link(
                path: path, entities: link.relationship.destinations, passesToMany: link.passesToMany,
                keys: keysRead[path] ?? [])
        }
        return QueryReach(rows: rows, links: all.sorted { $0.path.count < $1.path.count })
    }

    /// A constant as it will be bound. Called for each constant of a shared shape, in the order in which they stand in it.
    func constant(_ value: Value) -> BoundValue {
        guard isShared else { return .constant(value) }
        defer { parameters += 1 }
        return .parameter(parameters, .none)
    }

    var isShared: Bool { samples != nil }

    /// What a parameter is in the first query of the shape; it is of the same kind in all others.
    func sample(_ place: Int) -> Value { samples?[place] ?? .null }

    // MARK: Levels

    func newGroup() -> Int {
        defer { groups += 1 }
        return groups
    }

    /// Goes from a level over to-ones and a to-many to its members.
    func enter(_ relationship: ResolvedRelationship, from level: Int, over hops: [ResolvedRelationship], group: Int)
        throws(StoreError) -> Int
    {
        let path = levels[level].path + hops.map(\.name) + [relationship.name]
        note(path, relationship, passesToMany: true)
        levels.append(
            Level(entity: schema[relationship.destination], path: path, passesToMany: true, group: group))
        // Its own table, and one of pairs.
        try join(["\(levels.count)"], group)
        try join(["\(levels.count)", "pairs"], group)
        return levels.count - 1
    }

    /// Notes that a to-one is followed from a level, the last of `hops`.
    func hop(_ hops: [ResolvedRelationship], from level: Int) throws(StoreError) {
        guard let last = hops.last else { return }
        note(levels[level].path + hops.map(\.name), last, passesToMany: levels[level].passesToMany)
        try join(["\(level)"] + hops.map(\.name), levels[level].group)
    }

    /// Notes that a property is read of what stands at the end of to-ones from a level.
    func read(_ key: String, of hops: [ResolvedRelationship], from level: Int) {
        let path = levels[level].path + hops.map(\.name)
        if !path.isEmpty { keysRead[path, default: []].insert(key) }
    }

    private func join(_ table: [String], _ group: Int) throws(StoreError) {
        tables[group, default: []].insert(table)
        guard tables[group, default: []].count <= Binding.mostTables else {
            throw refusal.tooMuch("a condition over more than \(Binding.mostTables) relationships")
        }
    }

    private func note(_ path: [String], _ relationship: ResolvedRelationship, passesToMany: Bool) {
        links[path] = (relationship, passesToMany)
    }
}

/// What even a chain of many parts must not exceed: SQLite's parser keeps a hundred open brackets, and plans no more than some
/// thousands of terms.
struct QuerySize {
    static let mostTerms = 4000
    static let deepest = 70
    private let refusal: QueryRefusal
    init(_ refusal: QueryRefusal) { self.refusal = refusal }

    /// A list of the query's rows does not count: the overlay of unsaved changes adds one to what was asked.
    func check(_ asked: BoundCondition) throws(StoreError) {
        let condition = asked.withoutRows
        let terms = condition.termCount
        guard terms <= QuerySize.mostTerms else {
            throw refusal.tooMuch(
                "\(terms) comparisons and quantifiers, of which \(QuerySize.mostTerms) are the most; ask for a list (IN) instead"
            )
        }
        guard condition.depth <= QuerySize.deepest else {
            throw refusal.tooMuch("conditions nested \(condition.depth) deep, where \(QuerySize.deepest) are the most")
        }
    }
}

extension BoundCondition {
    /// Without `SELF IN {…}` as a part of the whole.
    fileprivate var withoutRows: BoundCondition {
        guard case .and(let parts) = self else { return self }
        let rest = parts.filter { !$0.namesRows }
        return rest.count == parts.count ? self : .all(rest)
    }

    private var namesRows: Bool {
        switch self {
        case .among(.path(let path), _, _): path.isRow
        case .not(let part): part.namesRows
        case .constant, .isNull, .compare, .between, .among, .exists, .and, .or: false
        }
    }

    /// How many comparisons it holds.
    var termCount: Int {
        switch self {
        case .constant: 0
        case .isNull(let operand), .among(let operand, _, _): 1 + operand.termCount
        case .compare(let comparison): 1 + comparison.left.termCount + comparison.right.termCount
        case .between(let operand, let low, let high, _): 1 + operand.termCount + low.termCount + high.termCount
        case .not(let part): part.termCount
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.termCount }
        case .exists(let chain, let part): chain.reduce(1 + part.termCount) { $0 + ($1.filter?.termCount ?? 0) }
        }
    }

    /// How many brackets stay open at once where its deepest part is written first.
    package var depth: Int {
        switch self {
        case .constant: 1
        case .isNull(let operand), .among(let operand, _, _): operand.depth
        case .compare(let comparison):
            (comparison.isCalled ? 4 : 0) + max(comparison.left.depth, 2 + comparison.right.depth)
        case .between(let operand, let low, let high, _): max(operand.depth, 2 + max(low.depth, high.depth))
        case .not(let part): 1 + part.depth
        case .and(let parts), .or(let parts):
            {
                let depths = parts.map { $0.depth + ($0.isJunction ? 1 : 0) }.sorted(by: >)
                let rest = depths.dropFirst().first.map { $0 + 2 } ?? 0
                return max(depths.first ?? 0, rest) + (parts.count > 100 ? 10 : 0)
            }()
        case .exists(let chain, let part):
            10 + chain.reduce(part.depth) { max($0, $1.filter?.depth ?? 0) }
        }
    }

    package var isJunction: Bool {
        switch self {
        case .and, .or: true
        case .constant, .not, .isNull, .compare, .between, .among, .exists: false
        }
    }
}

extension BoundComparison {
    /// Whether SQL may have to call a function for it.
    fileprivate var isCalled: Bool {
        switch op {
        case .contains, .beginsWith, .endsWith, .like, .matches: true
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in:
            left.family == .unknown || right.family == .unknown || options.contains(.localeSensitive)
        }
    }
}

extension BoundOperand {
    /// Those of the conditions in it.
    fileprivate var termCount: Int {
        switch self {
        case .value, .path, .aggregate, .grouped: 0
        case .call(_, let arguments): arguments.reduce(0) { $0 + $1.termCount }
        case .conditional(let condition, let first, let second):
            condition.termCount + first.termCount + second.termCount
        }
    }

    var depth: Int {
        switch self {
        case .value, .path: 1
        case .grouped(let value):
            switch value.source {
            case .key(let operand): operand.depth
            case .aggregate(let aggregate): 4 + (aggregate.operand?.depth ?? 0)
            }
        case .call(_, let arguments): 4 + (arguments.map(\.depth).max() ?? 0)
        case .conditional(let condition, let first, let second): 4 + max(condition.depth, first.depth, second.depth)
        case .aggregate(let aggregate):
            aggregate.chain.reduce(12 + (aggregate.operand?.depth ?? 0)) { max($0, 12 + ($1.filter?.depth ?? 0)) }
        }
    }
}
