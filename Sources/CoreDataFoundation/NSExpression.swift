// Expressions, as Foundation on Linux declares but does not supply them.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Something with a value: a constant, a key path, a function … A subclass may stand for what only a store can answer.
open class NSExpression: NSObject, NSCopying, @unchecked Sendable {
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0, evaluatedObject, variable, keyPath, function, unionSet, intersectSet, minusSet
        case subquery = 13, aggregate, anyKey
        case block = 19, conditional
        /// `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }

    enum Content {
        case constant(Any?)
        case evaluatedObject
        case variable(String)
        case keyPath([String])
        /// A Swift key path, whose keys are looked for when they are needed.
        case swiftKeyPath(AnyKeyPath)
        case function(String, [NSExpression])
        case aggregate([NSExpression])
        case subquery(NSExpression, String, NSPredicate)
        case sets(ExpressionType, NSExpression, NSExpression)
        /// Made by a subclass, which answers for itself.
        case external(ExpressionType)
    }
    let content: Content

    init(content: Content) { self.content = content }

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
        self.init(content: .swiftKeyPath(keyPath))
    }

    /// A built-in function by its name, such as `sum:` or `add:to:`.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        self.init(content: .function(name, parameters.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }))
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

    public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(content: .evaluatedObject) }

    // MARK: Parts

    open var expressionType: ExpressionType {
        switch content {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath, .swiftKeyPath: .keyPath
        case .function: .function
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
        case .swiftKeyPath(let keyPath):
            do { return try keyPath.dottedName() } catch { CoreDataValues.misuse(error.sentence) }
        case .constant, .evaluatedObject, .variable, .function, .aggregate, .subquery, .sets, .external: misuse("keyPath")
        }
    }

    open var function: String {
        guard case .function(let name, _) = content else { misuse("function") }
        return name
    }

    open var variable: String {
        switch content {
        case .variable(let name), .subquery(_, let name, _): return name
        case .constant, .evaluatedObject, .keyPath, .swiftKeyPath, .function, .aggregate, .sets, .external: misuse("variable")
        }
    }

    open var arguments: [NSExpression]? { if case .function(_, let arguments) = content { arguments } else { nil } }

    open var operand: NSExpression {
        guard case .function(_, let arguments) = content, let first = arguments.first else { misuse("operand") }
        return first
    }

    /// An aggregate's expressions, or what a sub-query filters.
    open var collection: Any? {
        switch content {
        case .aggregate(let items): items
        case .subquery(let collection, _, _): collection
        case .constant, .evaluatedObject, .variable, .keyPath, .swiftKeyPath, .function, .sets, .external: nil
        }
    }

    open var predicate: NSPredicate {
        guard case .subquery(_, _, let predicate) = content else { misuse("predicate") }
        return predicate
    }

    open var left: NSExpression {
        guard case .sets(_, let left, _) = content else { misuse("left") }
        return left
    }

    open var right: NSExpression {
        guard case .sets(_, _, let right) = content else { misuse("right") }
        return right
    }

    private func misuse(_ part: String) -> Never {
        preconditionFailure("\(part) was asked of the expression “\(description)”, which has none.")
    }

    // MARK: Values

    /// The value for an object. An expression that memory cannot evaluate traps with the reason.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        do {
            var translation = Translation(.bindingForeign)
            let evaluator = try ExpressionEvaluator(translation.expression(self), isLenient: true)
            var variables = translation.bound
            for (key, value) in context ?? [:] { variables[String(describing: key)] = Operand(any: value) }
            return evaluator.value(Operand(any: object), variables: variables).object
        } catch {
            preconditionFailure(String(describing: error))
        }
    }

    open override var description: String {
        var translation = Translation(.bindingForeign)
        guard let tree = try? translation.expression(self) else { return "<\(expressionType)>" }
        return translation.printer.text(tree)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        if self === other { return true }
        if case .external = content { return false }
        return Translation.isEqual({ try $0.expression(self) }, { try $0.expression(other) })
    }

    open override var hash: Int { description.hashValue }
}
