// From predicate objects to predicate values.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

extension NSPredicate {
    /// The predicate as a value.
    ///
    /// - Parameter objects: answers for constants that are no values: managed objects, object IDs.
    /// - Parameters:
    ///   - fetching: whether `FETCH(…)` is carried out, and its results stand for it.
    ///   - transforming: what constants become beside transformable attributes of an entity.
    /// - Throws: `PredicateError` for block predicates and for objects that the closure does not know.
    package func tree(
        fetching: Bool = false, transforming: (any ConstantTransforming, EntityIndex),
        objects: @escaping (Any) throws -> Value? = { _ in nil }
    ) throws -> Predicate {
        var translation = Translation(.converting(objects), fetching: fetching)
        translation.constants = TransformedConstants(transforming.0, transforming.1)
        return try translation.predicate(self)
    }

    /// The same where no attribute is transformable.
    package func tree(fetching: Bool = false, objects: @escaping (Any) throws -> Value? = { _ in nil }) throws
        -> Predicate
    {
        var translation = Translation(.converting(objects), fetching: fetching)
        return try translation.predicate(self)
    }
}

extension NSExpression {
    /// The expression as a value; see `NSPredicate.tree(fetching:objects:)`.
    package func tree(fetching: Bool = false, objects: @escaping (Any) throws -> Value? = { _ in nil }) throws
        -> Expression
    {
        var translation = Translation(.converting(objects), fetching: fetching)
        return try translation.expression(self)
    }
}

/// One walk over a predicate. Foreign constants become values, or variables that are bound to them.
struct Translation {
    enum Mode {
        case converting((Any) throws -> Value?)
        /// For evaluation and printing in memory. The names of such variables hold a `%`, which no format text can name.
        case bindingForeign
    }
    private let mode: Mode
    private(set) var bound: [String: Operand] = [:]
    private var foreign: [String: Any] = [:]
    /// What only its own code can evaluate: blocks, subclasses of expressions, and fetches where they are carried out.
    private(set) var computed: [String: NSExpression] = [:]
    private let fetching: Bool
    private var fetches: Fetches?
    /// What becomes of constants beside transformable attributes; nil where there are none.
    var constants: TransformedConstants?
    /// How many fetches stand in it that are carried out.
    var fetchCount: Int { fetches?.count ?? 0 }

    /// What few predicates have: a class, so that the others pay for one word.
    private final class Fetches {
        var count = 0
        /// Those that are compared with one value.
        var singles: Set<String> = []
    }
    private var depth = 0
    /// What a fetch may ask: every walk over a condition is recursive.
    private static let deepest = 1000
    private static let flattened = 32
    /// An expression costs more of the stack than a condition.
    private static let deepestExpression = 300

    init(_ mode: Mode, fetching: Bool = false) {
        self.mode = mode
        self.fetching = fetching
    }

    /// Prints foreign constants by their descriptions.
    var printer: FormatPrinter {
        let foreign = foreign
        return FormatPrinter { name in foreign[name].map { String(describing: $0) } }
    }

    /// The values of foreign constants and of computed expressions.
    func operands(for object: Any?, _ context: NSMutableDictionary?) -> [String: Operand] {
        var operands = bound
        for (name, expression) in computed {
            let operand = Operand(any: expression.expressionValue(with: object, context: context))
            operands[name] = fetches?.singles.contains(name) == true ? operand.single : operand
        }
        return operands
    }

    mutating func predicate(_ predicate: NSPredicate) throws -> Predicate {
        if let comparison = predicate as? NSComparisonPredicate { return try self.comparison(comparison) }
        if let compound = predicate as? NSCompoundPredicate {
            return try self.compound(compound.compoundPredicateType.rawValue, compound.parts)
        }
        if let compound = predicate as? Foundation.NSCompoundPredicate {
            return try self.compound(compound.compoundPredicateType.rawValue, compound.subpredicates)
        }
        switch (predicate as any FormatPrinting).predicateFormat {
        case "TRUEPREDICATE": return .constant(true)
        case "FALSEPREDICATE": return .constant(false)
        default:
            throw PredicateError(
                "A predicate made of a block can only be asked in memory; \(type(of: predicate)) is one.")
        }
    }

    private mutating func compound(_ type: UInt, _ parts: [NSPredicate]) throws -> Predicate {
        depth += 1
        defer { depth -= 1 }
        var all = parts
        if case .converting = mode {
            guard depth <= Translation.deepest else {
                throw PredicateError(
                    "A predicate has conditions nested more than \(Translation.deepest) deep; say the same with fewer.")
            }
            // Few have a part that is worth a look.
            if depth >= Translation.flattened { all = Translation.flat(type, parts) }
        }
        var trees: [Predicate] = []
        for part in all { trees.append(try predicate(part)) }
        switch NSCompoundPredicate.LogicalType(rawValue: type) {
        case .and: return .and(trees)
        case .or: return .or(trees)
        case .not:
            guard let first = trees.first else { throw PredicateError("NOT stands before nothing.") }
            return .not(first)
        case nil: throw PredicateError("There is no compound predicate of type \(type).")
        }
    }

    /// The parts of an AND or OR, those of the same inside it included, in order. Without recursion: such chains can be long.
    private static func flat(_ type: UInt, _ parts: [NSPredicate]) -> [NSPredicate] {
        guard type != NSCompoundPredicate.LogicalType.not.rawValue, parts.contains(where: { $0 is NSCompoundPredicate })
        else { return parts }
        var waiting = Array(parts.reversed())
        var flat: [NSPredicate] = []
        while let next = waiting.popLast() {
            if let inner = next as? NSCompoundPredicate, inner.compoundPredicateType.rawValue == type {
                waiting += inner.parts.reversed()
            } else {
                flat.append(next)
            }
        }
        return flat
    }

    private mutating func comparison(_ comparison: NSComparisonPredicate) throws -> Predicate {
        if constants != nil, let tree = try transformed(comparison) { return tree }
        if let tree = comparison.plainTree { return .comparison(tree) }
        guard let op = comparison.predicateOperatorType.tree else {
            throw PredicateError("A comparison by custom selector cannot be made here; use an operator or a block.")
        }
        let before = fetchCount
        let tree = Comparison(
            try expression(comparison.leftExpression), op, try expression(comparison.rightExpression),
            modifier: comparison.comparisonPredicateModifier.tree, options: comparison.options.tree)
        return fetchCount == before ? .comparison(tree) : .comparison(singles(of: tree, comparison))
    }

    mutating func expression(_ expression: NSExpression) throws -> Expression {
        switch expression.content {
        case .constant(let value): return try constant(value)
        case .evaluatedObject: return .this
        case .variable(let name): return .variable(name)
        case .keyPath(let path): return path.count == 1 && path[0].isSelf ? .this : .keyPath(path)
        case .swiftKeyPath(let steps): return .keyPath(try steps.keys())
        case .function, .aggregate, .subquery, .sets, .conditional, .block, .external: return try nesting(expression)
        }
    }

    /// An expression made of others.
    ///
    /// - Throws: for more expressions in one another than a fetch may ask.
    private mutating func nesting(_ expression: NSExpression) throws -> Expression {
        depth += 1
        defer { depth -= 1 }
        if case .converting = mode, depth > Translation.deepestExpression {
            throw PredicateError(
                "A predicate has expressions nested more than \(Translation.deepestExpression) deep; say the same with fewer."
            )
        }
        switch expression.content {
        case .function("FETCH", let arguments) where fetching: return try fetch(expression, arguments)
        case .function("objectFrom:withIndex:", let arguments): return try item(arguments)
        case .function(let name, let arguments): return .function(name, try list(arguments))
        case .aggregate(let items): return .list(try list(items))
        case .subquery(let collection, let variable, let condition):
            let items = try self.expression(collection)
            let outer = constants?.enter(variable, collection)
            defer { if let outer { constants?.variables = outer } }
            return .subquery(collection: items, variable: variable, predicate: try predicate(condition))
        case .sets(let type, let left, let right):
            let name =
                switch type {
                case .unionSet: "unionSet:with:"
                case .intersectSet: "intersectSet:with:"
                case .minusSet, .constantValue, .evaluatedObject, .variable, .keyPath, .function, .subquery, .aggregate,
                    .anyKey, .block, .conditional, .fetchRequest:
                    "minusSet:with:"
                }
            return .function(name, try list([left, right]))
        case .conditional(let condition, let first, let second):
            return .conditional(try predicate(condition), try self.expression(first), try self.expression(second))
        case .block, .external, .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath:
            return try outside(expression)
        }
    }

    /// A constant dictionary has entries here, and its values everywhere else.
    @inline(never)
    private mutating func item(_ arguments: [NSExpression]) throws -> Expression {
        guard arguments.count == 2, case .constant(let object?) = arguments[0].content,
            let entries = Translation.entries(object),
            !arguments[1].isPlaceInList
        else { return .function("objectFrom:withIndex:", try list(arguments)) }
        if case .constant(let key?) = arguments[1].content { return try constant(entries[key]) }
        guard case .bindingForeign = mode else {
            throw PredicateError("The entry of a dictionary whose key is no constant can only be asked in memory.")
        }
        let name = "%\(bound.count)"
        bound[name] = Operand(any: entries)
        foreign[name] = entries
        return .function("objectFrom:withIndex:", [.variable(name), try expression(arguments[1])])
    }

    private static func entries(_ object: Any) -> NSDictionary? {
        guard let object = KeyValue.unwrapped(object), Value(any: object) == nil else { return nil }
        return object as? NSDictionary ?? (object as? [AnyHashable: Any]).map { NSDictionary(dictionary: $0) }
    }

    private mutating func outside(_ expression: NSExpression) throws -> Expression {
        switch mode {
        case .converting:
            throw PredicateError("An expression of type \(expression.expressionType) can only be asked in memory.")
        case .bindingForeign: return computing(expression)
        }
    }

    private mutating func computing(_ expression: NSExpression) -> Expression {
        let name = "%\(bound.count)"
        bound[name] = .value(.null)
        computed[name] = expression
        foreign[name] = expression
        return .variable(name)
    }

    @inline(never)
    private mutating func transformed(_ comparison: NSComparisonPredicate) throws -> Predicate? {
        try constants?.condition(comparison) { try expression($0) }
    }

    // MARK: FETCH

    /// What a request finds, once for all objects that are judged; one that the object has part in is left to whoever refuses it.
    @inline(never)
    private mutating func fetch(_ expression: NSExpression, _ arguments: [NSExpression]) throws -> Expression {
        let known = fetches ?? Fetches()
        fetches = known
        switch mode {
        case .bindingForeign:
            known.count += 1
            return computing(expression)
        case .converting:
            guard let fetch = FetchArguments(constants: arguments) else {
                return .function("FETCH", try list(arguments))
            }
            known.count += 1
            return try constant(fetch.results())
        }
    }

    /// Where one value is compared, a fetch of one row stands for it, and a fetch of none for nil.
    @inline(never)
    private mutating func singles(of tree: Comparison, _ comparison: NSComparisonPredicate) -> Comparison {
        var tree = tree
        switch tree.op {
        case .between, .in, .contains: return tree
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .like, .matches:
            break
        }
        if comparison.leftExpression.isFetch { tree.left = single(tree.left) }
        if comparison.rightExpression.isFetch { tree.right = single(tree.right) }
        return tree
    }

    private mutating func single(_ side: Expression) -> Expression {
        switch side {
        case .list(let items) where items.count < 2: return items.first ?? .constant(.null)
        case .variable(let name):
            fetches?.singles.insert(name)
            return side
        case .list, .constant, .this, .keyPath, .function, .subquery, .conditional: return side
        }
    }

    private mutating func list(_ expressions: [NSExpression]) throws -> [Expression] {
        var result: [Expression] = []
        for item in expressions { result.append(try expression(item)) }
        return result
    }

    private mutating func constant(_ object: Any?) throws -> Expression {
        if let value = Value(any: object) { return .constant(value) }
        guard let object = KeyValue.unwrapped(object) else { return .constant(.null) }
        if !isPlainCollection(object), let expression = object as? NSExpression {
            return try self.expression(expression)
        }
        if let members = Translation.members(of: object) {
            var items: [Expression] = []
            items.reserveCapacity(members.count)
            for member in members { items.append(try Value(plain: member).map { .constant($0) } ?? constant(member)) }
            return .list(items)
        }
        switch mode {
        case .converting(let objects):
            if let value = try objects(object) { return .constant(value) }
            if let names = try Translation.entityNames(object) { return names }
            throw PredicateError("An object of type \(type(of: object)) cannot be a constant of a predicate here.")
        case .bindingForeign:
            if let names = try Translation.entityNames(object) { return names }
            let name = "%\(bound.count)"
            bound[name] = Operand(any: object)
            foreign[name] = object
            return .variable(name)
        }
    }

    /// The names of a class's entities, where a constant stands for them.
    @inline(never)
    private static func entityNames(_ object: Any) throws -> Expression? {
        guard let entities = object as? EntitiesOfClass else { return nil }
        return .list(try entities.naming.entityNames().map { .constant(.text($0)) })
    }

    /// A constant dictionary stands for its values.
    private static func members(of object: Any) -> [Any]? {
        if isPlainCollection(object) { return Operand.members(of: object) }
        if let dictionary = object as? NSDictionary { return dictionary.allValues }
        if let dictionary = object as? [AnyHashable: Any] { return Array(dictionary.values) }
        return Operand.members(of: object)
    }

    /// A hash that walks to the same tree have in common, whatever its foreign constants look like now.
    static func hash<T: Hashable>(_ walk: (inout Translation) throws -> T) -> Int {
        var translation = Translation(.bindingForeign)
        return (try? walk(&translation))?.hashValue ?? 0
    }

    /// Whether two walks end in the same tree with the same foreign constants.
    static func isEqual<T: Equatable>(
        _ first: (inout Translation) throws -> T, _ second: (inout Translation) throws -> T
    ) -> Bool {
        var a = Translation(.bindingForeign)
        var b = Translation(.bindingForeign)
        guard let x = try? first(&a), let y = try? second(&b), x == y, a.bound.count == b.bound.count,
            a.computed.count == b.computed.count
        else { return false }
        return a.bound.allSatisfy { name, operand in
            if let expression = a.computed[name] { return expression == b.computed[name] }
            return b.bound[name].map { operand.isSameForeign(as: $0) } ?? false
        }
    }
}

extension Operand {
    /// A collection of one as its member, and an empty one as nil.
    fileprivate var single: Operand {
        guard case .collection(let members) = self, members.count < 2 else { return self }
        return members.first ?? .value(.null)
    }

    /// Foreign constants are never values or collections.
    fileprivate func isSameForeign(as other: Operand) -> Bool {
        switch (self, other) {
        case (.source(let x), .source(let y)): x.isSame(as: y)
        case (.opaque(let x), .opaque(let y)): x === y
        case (_, _): false
        }
    }
}

/// Reads `predicateFormat` of Foundation's own predicates, where it is deprecated but the only thing that tells them apart.
protocol FormatPrinting {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatPrinting {}

extension NSExpression {
    /// `FIRST`, `LAST`, `SIZE` and numbers, which mean members of a list.
    fileprivate var isPlaceInList: Bool {
        switch content {
        case .function(_, let arguments): arguments.isEmpty
        case .constant(let value): !(value is String)
        case .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .aggregate, .subquery, .sets, .conditional, .block,
            .external:
            false
        }
    }
}
