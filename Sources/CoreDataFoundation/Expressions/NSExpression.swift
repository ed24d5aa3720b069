// Expressions, as Foundation on Linux declares but does not supply them.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Something with a value: a constant, a key path, a function … A subclass may stand for what only a store can answer.
open class NSExpression: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0, evaluatedObject, variable, keyPath, function, unionSet, intersectSet, minusSet
        case subquery = 13, aggregate, anyKey
        case block = 19, conditional
        /// `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }
    /// What a block answers of the object, the values of its arguments, and what evaluation was given as context.
    public typealias Block = (_ object: Any?, _ arguments: [Any], _ context: NSMutableDictionary?) -> Any?

    enum Content {
        case constant(Any?)
        case evaluatedObject
        case variable(String)
        case keyPath([String])
        /// Swift key paths one behind the other, whose keys are looked for when they are needed.
        case swiftKeyPath([KeyPathStep])
        case function(String, [NSExpression])
        case aggregate([NSExpression])
        case subquery(NSExpression, String, NSPredicate)
        case sets(ExpressionType, NSExpression, NSExpression)
        case conditional(NSPredicate, NSExpression, NSExpression)
        case block(Block, [NSExpression])
        /// Made by a subclass, which answers for itself.
        case external(ExpressionType)
    }
    let content: Content

    init(content: Content) { self.content = content }

    /// `FETCH(request, context, countOnly)`.
    package init(fetch request: NSExpression, context: NSExpression, countOnly: Bool) {
        content = .function("FETCH", [request, context, NSExpression(forConstantValue: countOnly)])
    }

    /// For subclasses that evaluate themselves.
    public init(expressionType type: ExpressionType) { content = .external(type) }

    public convenience init(forConstantValue value: Any?) { self.init(content: .constant(KeyValue.unwrapped(value))) }
    public convenience init(forVariable name: String) { self.init(content: .variable(name)) }
    public convenience init(forAggregate items: [Any]) {
        self.init(content: .aggregate(items.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }))
    }

    public convenience init(forKeyPath keyPath: String) {
        self.init(content: .keyPath(keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)))
    }

    /// A key path of a managed object class. Its name is looked for when it is first asked for; a fetch by one that has none throws.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(content: .swiftKeyPath([.path(keyPath)]))
    }

    /// A built-in function by its name, such as `sum:` or `add:to:`.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        self.init(
            content: .function(name, parameters.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }))
    }

    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
    ) {
        guard let predicate = predicate as? NSPredicate else {
            preconditionFailure("A sub-query needs an NSPredicate, not \(type(of: predicate)).")
        }
        self.init(content: .subquery(expression, variable, predicate))
    }

    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(content: .sets(.unionSet, left, right))
    }
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(content: .sets(.intersectSet, left, right))
    }
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(content: .sets(.minusSet, left, right))
    }

    /// One of two values, as a condition says.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(content: .conditional(predicate, trueExpression, falseExpression))
    }

    /// What a closure answers; only memory can evaluate it.
    public convenience init(block: @escaping Block, arguments: [NSExpression]? = nil) {
        self.init(content: .block(block, arguments ?? []))
    }

    /// A method of an object by its name, such as `uppercaseString` or `pow:`.
    public convenience init(
        forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]? = nil
    ) {
        let arguments = (parameters ?? []).map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
        self.init(content: .function("FUNCTION", [target, NSExpression(forConstantValue: name)] + arguments))
    }

    public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(content: .evaluatedObject) }

    /// Any key of the object; it can be written, but no side evaluates it.
    public class func expressionForAnyKey() -> NSExpression { NSExpression(content: .function("ANYKEY", [])) }

    // MARK: Parts

    open var expressionType: ExpressionType {
        switch content {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath, .swiftKeyPath: .keyPath
        case .function("ANYKEY", _): .anyKey
        case .function("FETCH", _): .fetchRequest
        case .function: .function
        case .conditional: .conditional
        case .block: .block
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .sets(let type, _, _), .external(let type): type
        }
    }

    open var constantValue: Any? { if case .constant(let value) = content { value } else { nil } }

    /// The dotted key path. Asking an expression of another type, or one whose Swift key path has no name, is a programmer's
    /// mistake and traps.
    open var keyPath: String {
        switch content {
        case .keyPath(let path): return path.joined(separator: ".")
        case .swiftKeyPath(let steps):
            do { return try steps.keys().joined(separator: ".") } catch { misuse(error.sentence) }
        case .constant, .evaluatedObject, .variable, .function, .aggregate, .subquery, .sets, .conditional, .block,
            .external:
            noPart("keyPath")
        }
    }

    open var function: String {
        guard case .function(let name, let items) = content else { noPart("function") }
        guard name == "FUNCTION", items.count >= 2, let selector = items[1].constantValue as? String else {
            return name
        }
        return selector
    }

    open var variable: String {
        switch content {
        case .variable(let name), .subquery(_, let name, _): return name
        case .constant, .evaluatedObject, .keyPath, .swiftKeyPath, .function, .aggregate, .sets, .conditional, .block,
            .external:
            noPart("variable")
        }
    }

    /// Those of a method do not include its target, which is the `operand`.
    open var arguments: [NSExpression]? {
        switch content {
        case .function("FUNCTION", let items): Array(items.dropFirst(2))
        case .function(_, let items), .block(_, let items): items
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .aggregate, .subquery, .sets,
            .conditional, .external:
            nil
        }
    }

    open var operand: NSExpression {
        guard case .function(_, let arguments) = content, let first = arguments.first else { noPart("operand") }
        return first
    }

    /// An aggregate's expressions, or what a sub-query filters.
    open var collection: Any? {
        switch content {
        case .aggregate(let items): items
        case .subquery(let collection, _, _): collection
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .sets, .conditional, .block,
            .external:
            nil
        }
    }

    open var predicate: NSPredicate {
        switch content {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return predicate
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .aggregate, .sets, .block,
            .external:
            noPart("predicate")
        }
    }

    open var left: NSExpression {
        guard case .sets(_, let left, _) = content else { noPart("left") }
        return left
    }

    open var right: NSExpression {
        guard case .sets(_, _, let right) = content else { noPart("right") }
        return right
    }

    open var `true`: NSExpression {
        guard case .conditional(_, let value, _) = content else { noPart("true") }
        return value
    }

    open var `false`: NSExpression {
        guard case .conditional(_, _, let value) = content else { noPart("false") }
        return value
    }

    open var expressionBlock: Block {
        guard case .block(let block, _) = content else { noPart("expressionBlock") }
        return block
    }

    private func noPart(_ part: String) -> Never {
        misuse("\(part) was asked of the expression “\(description)”, which has none. Ask expressionType first.")
    }

    // MARK: Values

    /// The value for an object. An expression that memory cannot evaluate traps with the reason.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        if case .block(let block, let arguments) = content {
            return block(
                object, arguments.map { $0.expressionValue(with: object, context: context) ?? NSNull() }, context)
        }
        if case .function("FETCH", let arguments) = content {
            return fetchedValue(arguments, with: object, context: context)
        }
        do {
            var translation = Translation(.bindingForeign, fetching: true)
            let evaluator = try ExpressionEvaluator(translation.expression(self), isLenient: true)
            var variables = translation.operands(for: object, context)
            for (key, value) in context ?? [:] { variables[String(describing: key)] = Operand(any: value) }
            return evaluator.value(Operand(any: object), variables: variables).object
        } catch {
            misuse(String(describing: error))
        }
    }

    /// - Throws: what would end the process if a value were asked for: a function that memory does not have.
    package final func checkEvaluation() throws {
        switch content {
        case .block, .function("FETCH", _): return
        default: break
        }
        var translation = Translation(.bindingForeign, fetching: true)
        _ = try ExpressionEvaluator(translation.expression(self), isLenient: true)
    }

    /// Expressions that were archived can be evaluated without it.
    open func allowEvaluation() {}

    open override var description: String {
        switch content {
        case .block(_, let arguments): return "BLOCK(\(arguments.map(\.description).joined(separator: ", ")))"
        case .external(let type): return "<\(type)>"
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .aggregate, .subquery, .sets,
            .conditional:
            break
        }
        var translation = Translation(.bindingForeign)
        guard let tree = try? translation.expression(self) else { return "<\(expressionType)>" }
        return translation.printer.text(tree)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        if self === other { return true }
        switch content {
        case .external, .block: return false
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .aggregate, .subquery, .sets,
            .conditional:
            break
        }
        return Translation.isEqual({ try $0.expression(self) }, { try $0.expression(other) })
    }

    open override var hash: Int { Translation.hash { try $0.expression(self) } }

    // MARK: Archiving

    open class var supportsSecureCoding: Bool { true }

    /// Encodes the expression; of one with a block, or with an object that is no value, nothing, so that reading the archive fails.
    open func encode(with coder: NSCoder) { coder.encode(tree: try? tree()) }

    public required init?(coder: NSCoder) {
        guard let tree = coder.decodeTree(Expression.self) else { return nil }
        content = FormatReader([], keepsBooleans: true).object(tree).content
    }
}
