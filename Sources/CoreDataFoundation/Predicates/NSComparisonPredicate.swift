// Comparisons as predicate objects.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation
import Synchronization

/// Two expressions and an operator.
open class NSComparisonPredicate: NSPredicate, NSSecureCoding {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)
        public static let normalized = Options(rawValue: 4)
        static let localeSensitive = Options(rawValue: 8)
    }
    public enum Modifier: UInt, Sendable {
        case direct = 0, all, any
    }
    public enum Operator: UInt, Sendable {
        case lessThan = 0, lessThanOrEqualTo, greaterThan, greaterThanOrEqualTo, equalTo, notEqualTo
        case matches, like, beginsWith, endsWith, `in`, customSelector
        case contains = 99, between
    }

    private enum Sides {
        case expressions(NSExpression, NSExpression)
        /// Of a format text. Most are never asked for their expressions, so these are made when they are.
        case text(Comparison, FormatReader)
        /// The same of a text that is kept, with the text's arguments.
        case plain(PlainComparison, [Any?])
    }
    private let sides: Sides
    private let modifier: Modifier
    private let operatorType: Operator
    private let optionSet: Options
    /// What the first evaluation makes of the comparison.
    private final class Compiled: @unchecked Sendable {
        let evaluator: Evaluator
        let bound: [String: Operand]
        /// Of a comparison with parts that only their own code can evaluate.
        let computing: Translation?
        /// Whether it has no variables of its own, so that it can be bound to an entity.
        let isClosed: Bool

        init(_ evaluator: Evaluator, _ translation: Translation) {
            self.evaluator = evaluator
            bound = translation.bound
            computing = translation.computed.isEmpty ? nil : translation
            isClosed =
                translation.computed.values.allSatisfy(\.isClosedFetch)
                && evaluator.freeVariables.allSatisfy { translation.bound[$0] != nil }
        }

        func operands(_ translation: Translation, for object: Any?, _ bindings: [String: Any]?) -> [String: Operand] {
            let context = NSMutableDictionary()
            for (name, value) in bindings ?? [:] { context.setObject(value, forKey: name as NSString) }
            return translation.operands(for: object, context)
        }
    }
    private let compiled = Mutex<Compiled?>(nil)
    /// What managed objects are asked instead, by their entities.
    final let entityComparisons = Mutex<[EntityComparison]>([])

    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator,
        options: Options = []
    ) {
        sides = .expressions(lhs, rhs)
        self.modifier = modifier
        operatorType = type
        optionSet = options
        super.init(value: true)
    }

    init(_ comparison: Comparison, _ reader: FormatReader) {
        sides = .text(comparison, reader)
        modifier = Modifier(comparison.modifier)
        operatorType = Operator(comparison.op)
        optionSet = Options(comparison.options)
        super.init(value: true)
    }

    init(_ plain: PlainComparison, _ arguments: [Any?]) {
        sides = .plain(plain, arguments)
        modifier = .direct
        operatorType = Operator(plain.comparison.op)
        optionSet = []
        super.init(value: true)
    }

    open var leftExpression: NSExpression {
        switch sides {
        case .expressions(let left, _): left
        case .plain(let plain, let arguments): FormatReader(arguments).object(plain.comparison.left)
        case .text(let comparison, let reader): reader.object(comparison.left)
        }
    }
    open var rightExpression: NSExpression {
        switch sides {
        case .expressions(_, let right): right
        case .plain(let plain, let arguments): FormatReader(arguments).object(plain.comparison.right)
        case .text(let comparison, let reader): reader.object(comparison.right)
        }
    }
    open var comparisonPredicateModifier: Modifier { modifier }
    open var predicateOperatorType: Operator { operatorType }
    open var options: Options { optionSet }

    /// Whether the condition holds for an object, by key-value coding. Compiled at the first call.
    ///
    /// Of a managed object the answer is that of a fetch, where a fetch has one. A key that an object does not have is nil. A
    /// condition that memory cannot evaluate, and a variable without a value, trap with the reason.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        if let expressions = bindings?.filter({ $0.value is NSExpression }), !expressions.isEmpty {
            return withSubstitutionVariables(expressions)
                .evaluate(with: object, substitutionVariables: bindings?.filter { expressions[$0.key] == nil })
        }
        let compiled = prepared()
        let evaluator = compiled.evaluator
        if compiled.isClosed, let object, PlainType(of: object) == nil, let owner = object as? any SchemaObject,
            let answer = answer(of: owner, hasObjects: !compiled.bound.isEmpty)
        {
            return answer
        }
        var variables = compiled.bound
        if let computing = compiled.computing { variables = compiled.operands(computing, for: object, bindings) }
        for (name, value) in bindings ?? [:] { variables[name] = Operand(any: value) }
        for name in evaluator.freeVariables where variables[name] == nil {
            misuse(
                "The predicate “\(description)” was evaluated without a value for $\(name); give it among the substitution variables."
            )
        }
        return evaluator.matches(Operand(any: object), variables: variables)
    }

    open override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    /// Compiles outside the lock, if need be twice: the parts may be a program's own classes.
    private func prepared() -> Compiled {
        if let known = compiled.withLock({ $0 }) { return known }
        do {
            var translation = Translation(.bindingForeign, fetching: true)
            let evaluator = try Evaluator(translation.predicate(self), isLenient: true)
            let made = Compiled(evaluator, translation)
            compiled.withLock { $0 = made }
            return made
        } catch {
            misuse(String(describing: error))
        }
    }

    open override var predicateFormat: String { printedFormat }
    open override var description: String { printedFormat }
    open override func copy(with zone: NSZone? = nil) -> Any { self }
    open override func isEqual(_ object: Any?) -> Bool { isSame(as: object) }
    open override var hash: Int { treeHash }

    // MARK: Archiving

    open class var supportsSecureCoding: Bool { true }

    /// Encodes the comparison; of one with a block, or with an object that is no value, nothing, so that reading the archive fails.
    open func encode(with coder: NSCoder) { coder.encode(tree: try? tree()) }

    public required init?(coder: NSCoder) {
        guard case .comparison(let comparison)? = coder.decodeTree(Predicate.self) else { return nil }
        sides = .text(comparison, FormatReader([], keepsBooleans: true))
        modifier = Modifier(comparison.modifier)
        operatorType = Operator(comparison.op)
        optionSet = Options(comparison.options)
        super.init(value: true)
    }
}

extension NSComparisonPredicate {
    /// The comparison as a value, where no expressions are needed for it; nil also for subclasses, whose sides are their own.
    final var plainTree: Comparison? {
        guard Swift.type(of: self) == NSComparisonPredicate.self else { return nil }
        switch sides {
        case .expressions: return nil
        case .plain(let plain, let arguments):
            return Value(plainAt: plain.place, of: arguments).map { plain.filled($0) }
        case .text(var comparison, let reader):
            guard let left = reader.plain(comparison.left), let right = reader.plain(comparison.right) else {
                return nil
            }
            comparison.left = left
            comparison.right = right
            return comparison
        }
    }

    /// The condition of a kept text with the value in it; nil for all others.
    fileprivate final var filled: FetchCondition? {
        guard case .plain(let plain, let arguments) = sides, let value = Value(plainAt: plain.place, of: arguments)
        else { return nil }
        return .filled(plain, value)
    }
}

extension NSPredicate {
    /// What a comparison of a text that was read before asks of a fetch, without the making of a tree; nil for all other predicates.
    package final var filledCondition: FetchCondition? {
        guard Swift.type(of: self) == NSComparisonPredicate.self else { return nil }
        return unsafeDowncast(self, to: NSComparisonPredicate.self).filled
    }
}

extension NSComparisonPredicate.Modifier {
    var tree: Comparison.Modifier {
        switch self {
        case .direct: .direct
        case .any: .any
        case .all: .all
        }
    }

    init(_ modifier: Comparison.Modifier) {
        self =
            switch modifier {
            case .direct: .direct
            case .any: .any
            case .all: .all
            }
    }
}

extension NSComparisonPredicate.Operator {
    /// nil for a custom selector.
    var tree: Comparison.Operator? {
        switch self {
        case .lessThan: .less
        case .lessThanOrEqualTo: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqualTo: .greaterOrEqual
        case .equalTo: .equal
        case .notEqualTo: .notEqual
        case .matches: .matches
        case .like: .like
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .in: .in
        case .contains: .contains
        case .between: .between
        case .customSelector: nil
        }
    }

    init(_ op: Comparison.Operator) {
        self =
            switch op {
            case .less: .lessThan
            case .lessOrEqual: .lessThanOrEqualTo
            case .greater: .greaterThan
            case .greaterOrEqual: .greaterThanOrEqualTo
            case .equal: .equalTo
            case .notEqual: .notEqualTo
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .in
            case .contains: .contains
            case .between: .between
            }
    }
}

extension NSComparisonPredicate.Options {
    // The bits of both are the same.
    var tree: Comparison.Options { Comparison.Options(rawValue: UInt8(truncatingIfNeeded: rawValue)) }
    init(_ options: Comparison.Options) { self.init(rawValue: UInt(options.rawValue)) }
}

extension NSPredicate {
    /// The text of a predicate of ours; a part that cannot be written is named.
    var printedFormat: String {
        do {
            var translation = Translation(.bindingForeign)
            let tree = try translation.predicate(self)
            return translation.printer.text(tree)
        } catch {
            return "BLOCKPREDICATE"
        }
    }

    var treeHash: Int { Translation.hash { try $0.predicate(self) } }

    func isSame(as object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || Translation.isEqual({ try $0.predicate(self) }, { try $0.predicate(other) })
    }
}

extension Value {
    /// The value of one of many objects, if its very type is one that most are of, read where it lies: to copy an `Any` and to let go of it takes longer than all else (300 instructions).
    init?(plainAt place: Int, of objects: [Any?]) {
        let found: Value? = objects.withUnsafeBufferPointer { objects in
            guard objects.indices.contains(place), let first = objects.baseAddress else { return nil }
            let object = UnsafeRawPointer(first + place)
            // Behind its three words stands the type that it was given as; none for nil.
            let type = object.load(fromByteOffset: 3 * MemoryLayout<UInt>.stride, as: UInt.self)
            if type == UInt(bitPattern: ObjectIdentifier(String.self)) { return .text(object.load(as: String.self)) }
            if type == UInt(bitPattern: ObjectIdentifier(Int.self)) { return .int(Int64(object.load(as: Int.self))) }
            if type == UInt(bitPattern: ObjectIdentifier(Double.self)) {
                return .double(object.load(as: Double.self))
            }
            if type == UInt(bitPattern: ObjectIdentifier(Date.self)) {
                return .date(object.load(as: Date.self).timeIntervalSinceReferenceDate)
            }
            if type == UInt(bitPattern: ObjectIdentifier(NSDate.self)) {
                let date = object.load(as: NSDate.self)
                if Swift.type(of: date) == NSDate.self { return .date(date.timeIntervalSinceReferenceDate) }
            }
            if let object = first[place] { return Value(plain: object) }
            return nil
        }
        guard let found else { return nil }
        self = found
    }
}
