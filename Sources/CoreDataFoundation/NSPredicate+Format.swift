// Predicates and expressions from format texts.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Lets an initialiser of Foundation's class answer an instance of a subclass.
public protocol PredicateMaking {}

extension NSPredicate: PredicateMaking {}

extension PredicateMaking where Self == NSPredicate {
    /// A predicate that every object satisfies.
    public init() { self = NSPredicate(value: true) }
}

extension PredicateMaking {
    init(making make: () throws -> NSPredicate) rethrows {
        let predicate = try make()
        self = ObjectIdentifier(Self.self) == ObjectIdentifier(NSPredicate.self)
            ? unsafeBitCast(predicate, to: Self.self) : Self.subclass(predicate)
    }

    /// Apart from the usual case: the type of the cast's answer is asked of the runtime at each call (600 instructions).
    @inline(never)
    private static func subclass(_ predicate: NSPredicate) -> Self {
        guard let made = predicate as? Self else {
            preconditionFailure("A format text makes an object of another class than \(Self.self).")
        }
        return made
    }
}

extension NSPredicate {
    /// A predicate from a text such as `"name BEGINSWITH[c] %@ AND age > %d"`.
    ///
    /// A text that cannot be read is a programmer's mistake and traps with the text and the place, as on Apple's systems;
    /// for texts that come from outside there is `init(parsing:arguments:)`.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(trapping: predicateFormat, args)
    }

    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(trapping: predicateFormat, arguments ?? [])
    }

    private convenience init(trapping predicateFormat: String, _ arguments: [Any?]) {
        self.init(making: {
            do {
                return try FormatReader(arguments).predicate(predicateFormat)
            } catch {
                preconditionFailure(String(describing: error))
            }
        })
    }

    /// The same for a text that may be wrong.
    ///
    /// - Throws: an error that names the text and the place of the fault.
    public convenience init(parsing predicateFormat: String, arguments: [Any] = []) throws {
        try self.init(making: { try FormatReader(arguments).predicate(predicateFormat) })
    }

    /// The predicate with constants in the place of its variables; variables without a value stay.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        Self(making: { Substitution(variables).predicate(self) })
    }
}

extension NSExpression {
    /// An expression from a text such as `"price * %d"`; a text that cannot be read traps.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(trapping: expressionFormat, args)
    }

    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(trapping: expressionFormat, arguments)
    }

    private convenience init(trapping expressionFormat: String, _ arguments: [Any?]) {
        do {
            let made = try FormatReader(arguments).expression(expressionFormat)
            self.init(content: made.content)
        } catch {
            preconditionFailure(String(describing: error))
        }
    }
}

/// Makes predicate objects of a text. Arguments travel through the tree as variables and come out as they went in.
struct FormatReader {
    private let arguments: [Any?]
    /// What stands for a row that a condition names; nil where none can.
    private let objects: ((ObjectKey) -> Any?)?
    init(_ arguments: [Any?], objects: ((ObjectKey) -> Any?)? = nil) {
        self.arguments = arguments
        self.objects = objects
    }

    func predicate(_ text: String) throws(PredicateError) -> NSPredicate {
        if let known = FormatCache.shared.tree(text, argumentCount: arguments.count) { return object(known) }
        var (count, hasKeyPaths) = (0, false)
        let tree = try FormatParser.predicate(text) { place, letter in
            count = max(count, place + 1)
            hasKeyPaths = hasKeyPaths || letter == "K"
            return try argument(place, letter)
        }
        if !hasKeyPaths { FormatCache.shared.keep(.init(tree: tree, argumentCount: count), for: text) }
        return object(tree)
    }

    func expression(_ text: String) throws(PredicateError) -> NSExpression {
        object(try FormatParser.expression(text, arguments: argument))
    }

    private func argument(_ place: Int, _ letter: Character) throws -> FormatArgument {
        guard arguments.indices.contains(place) else {
            throw PredicateError("There is no argument \(place + 1) for “%\(letter)”.")
        }
        guard letter == "K" else { return .expression(.variable("%\(place)")) }
        guard case .text(let path)? = Value(any: arguments[place]) else {
            let found = arguments[place].map { "of type \(type(of: $0))" } ?? "nil"
            throw PredicateError("“%K” needs a text; argument \(place + 1) is \(found).")
        }
        return .keyPath(path)
    }

    // MARK: From values to objects

    func object(_ predicate: Predicate) -> NSPredicate {
        switch predicate {
        case .constant(let flag): NSPredicate(value: flag)
        case .and(let parts): NSCompoundPredicate(type: .and, subpredicates: parts.map(object))
        case .or(let parts): NSCompoundPredicate(type: .or, subpredicates: parts.map(object))
        case .not(let part): NSCompoundPredicate(type: .not, subpredicates: [object(part)])
        case .comparison(let comparison): NSComparisonPredicate(comparison, self)
        }
    }

    private func argument(_ object: Any?) -> NSExpression {
        if let object, PlainType(of: object) == nil, let expression = object as? NSExpression { return expression }
        return NSExpression(forConstantValue: object)
    }

    /// What a side of a comparison means without an object for it; nil where one must be made.
    func plain(_ expression: Expression) -> Expression? {
        guard objects == nil else { return nil }
        switch expression {
        case .keyPath(let path): return path.count == 1 && path[0].isSelf ? .this : expression
        case .variable(let name):
            guard let place = place(name), let argument = arguments[place] else { return nil }
            return Value(plain: argument).map { .constant($0) }
        case .constant, .list, .this, .function, .subquery: return nil
        }
    }

    /// Which argument a variable stands for.
    private func place(_ name: String) -> Int? {
        var (place, isFirst) = (0, true)
        for byte in name.utf8 {
            if isFirst {
                guard byte == UInt8(ascii: "%") else { return nil }
                isFirst = false
            } else {
                let digit = byte &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                place = 10 &* place &+ Int(digit)
            }
        }
        return !isFirst && place >= 0 && place < arguments.count ? place : nil
    }

    func object(_ expression: Expression) -> NSExpression {
        switch expression {
        case .constant(.key(let key)): NSExpression(forConstantValue: objects?(key))
        case .constant(let value): NSExpression(forConstantValue: value.object)
        case .list(let items): NSExpression(content: .aggregate(items.map(object)))
        case .this: NSExpression.expressionForEvaluatedObject()
        // Objects stand for rows here, so that what is compared with an ID is compared with its object.
        case .keyPath(let path) where objects != nil && path.last == "objectID":
            object(path.count == 1 ? .this : .keyPath(path.dropLast()))
        case .keyPath(let path): NSExpression(content: .keyPath(path))
        case .function(let name, let items): NSExpression(content: .function(name, items.map(object)))
        case .subquery(let collection, let variable, let predicate):
            NSExpression(content: .subquery(object(collection), variable, object(predicate)))
        case .variable(let name):
            place(name).map { argument(arguments[$0]) } ?? NSExpression(forVariable: name)
        }
    }
}

extension String {
    /// Whether the key names the object itself, however it is written.
    var isSelf: Bool { utf8.count == 4 && lowercased() == "self" }
}

/// Puts constants in the place of variables.
struct Substitution {
    private let variables: [String: Any]
    init(_ variables: [String: Any]) { self.variables = variables }

    func predicate(_ predicate: NSPredicate) -> NSPredicate {
        if let comparison = predicate as? NSComparisonPredicate {
            return NSComparisonPredicate(
                leftExpression: expression(comparison.leftExpression),
                rightExpression: expression(comparison.rightExpression),
                modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
                options: comparison.options)
        }
        guard let compound = predicate as? NSCompoundPredicate else { return predicate }
        return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: compound.parts.map(self.predicate))
    }

    /// `$person.name`: with the person given, what the path comes to now.
    private func path(_ items: [NSExpression]) -> NSExpression {
        let target = expression(items[0])
        if case .variable = items[0].content, case .constant(let object) = target.content,
            case .keyPath(let path) = items[1].content
        {
            return NSExpression(
                forConstantValue: KeyValue.value(of: object, forKeyPath: path.joined(separator: ".")))
        }
        return NSExpression(content: .function("valueForKeyPath:", [target, items[1]]))
    }

    private func expression(_ expression: NSExpression) -> NSExpression {
        switch expression.content {
        case .constant, .evaluatedObject, .keyPath, .swiftKeyPath, .external: return expression
        case .variable(let name):
            guard let value = variables[name] else { return expression }
            return value as? NSExpression ?? NSExpression(forConstantValue: value)
        case .function("valueForKeyPath:", let items) where items.count == 2: return path(items)
        case .function(let name, let items): return NSExpression(content: .function(name, items.map(self.expression)))
        case .aggregate(let items): return NSExpression(content: .aggregate(items.map(self.expression)))
        case .subquery(let collection, let variable, let predicate):
            // The iterator hides a variable of the same name.
            let inner = Substitution(variables.filter { $0.key != variable })
            return NSExpression(
                content: .subquery(self.expression(collection), variable, inner.predicate(predicate)))
        case .sets(let type, let left, let right):
            return NSExpression(content: .sets(type, self.expression(left), self.expression(right)))
        }
    }
}
