// Predicate and expression objects of format texts and trees.

import CoreDataValues
import enum CoreDataValues.Expression
import enum CoreDataValues.Predicate
import struct CoreDataValues.PredicateError
import Foundation

/// Makes predicate objects of a text. Arguments travel through the tree as variables and come out as they went in.
struct FormatReader {
    private let arguments: [Any?]
    /// What stands for a row that a condition names; nil where none can.
    private let objects: ((ObjectKey) -> Any?)?
    /// Whether a Boolean becomes one of Swift's: only that is told from a number again.
    private let keepsBooleans: Bool
    init(_ arguments: [Any?], objects: ((ObjectKey) -> Any?)? = nil, keepsBooleans: Bool = false) {
        self.arguments = arguments
        self.objects = objects
        self.keepsBooleans = keepsBooleans
    }

    func predicate(_ text: String) throws(PredicateError) -> NSPredicate {
        let entry = try entry(text)
        return entry.plain.map { NSComparisonPredicate($0, arguments) } ?? object(entry.tree)
    }

    private func entry(_ text: String) throws(PredicateError) -> FormatCache.Entry {
        if let known = FormatCache.shared.entry(text, argumentCount: arguments.count), areNumbers(known.numbers) {
            return known
        }
        var (count, isKept, numbers) = (0, true, UInt64(0))
        let tree = try FormatParser.predicate(text) { place, letter in
            count = max(count, place + 1)
            if FormatReader.numbers.contains(letter) {
                if place < 64 { numbers |= 1 << UInt64(place) } else { isKept = false }
            } else if letter != "@" {
                isKept = false
            }
            return try argument(place, letter)
        }
        let entry = FormatCache.Entry(
            tree: tree, argumentCount: count, numbers: numbers, plain: isKept ? plainComparison(tree) : nil)
        if isKept { FormatCache.shared.keep(entry, for: text) }
        return entry
    }

    private func plainComparison(_ tree: Predicate) -> PlainComparison? {
        guard case .comparison(let comparison) = tree, case .keyPath(let path) = comparison.left,
            !(path.count == 1 && path[0].isSelf), case .variable(let name) = comparison.right, let place = place(name)
        else { return nil }
        return PlainComparison(comparison, place: place)
    }

    /// A predicate that never ends the process.
    func valid(_ text: String) throws -> NSPredicate {
        let entry = try entry(text)
        func wrong(_ sentence: String) -> PredicateError {
            PredicateError("The predicate format “\(text.shortened())” cannot be taken: \(sentence)")
        }
        guard entry.argumentCount >= arguments.count else {
            throw wrong("it asks for \(entry.argumentCount) arguments, and \(arguments.count) are given.")
        }
        let predicate = object(entry.tree)
        var translation = Translation(.bindingForeign)
        let tree = try translation.predicate(predicate)
        let evaluator: Evaluator
        do {
            evaluator = try Evaluator(tree, isLenient: true)
        } catch { throw wrong(error.sentence) }
        if let name = evaluator.freeVariables.filter({ translation.bound[$0] == nil }).min() {
            throw wrong("nothing gives the variable $\(name) a value; write the value, or %@ for an argument.")
        }
        return predicate
    }

    func expression(_ text: String) throws(PredicateError) -> NSExpression {
        object(try FormatParser.expression(text, arguments: argument))
    }

    private func argument(_ place: Int, _ letter: Character) throws -> FormatArgument {
        guard arguments.indices.contains(place) else {
            throw PredicateError("There is no argument \(place + 1) for “%\(letter)”.")
        }
        if letter == "K" {
            guard case .text(let path)? = Value(any: arguments[place]) else { throw wrongKind(place, letter, "a text") }
            return .keyPath(path)
        }
        if letter != "@" { try checkKind(place, letter) }
        return .expression(.variable("%\(place)"))
    }

    // MARK: Kinds of arguments

    /// The placeholders of numbers.
    private static let numbers: Set<Character> = [
        "d", "D", "i", "u", "U", "x", "X", "o", "O", "f", "F", "e", "E", "g", "G", "a", "A",
    ]

    private func wrongKind(_ place: Int, _ letter: Character, _ wanted: String) -> PredicateError {
        let found = arguments[place].map { "of type \(type(of: $0))" } ?? "nil"
        return PredicateError(
            "“%\(letter)” needs \(wanted); argument \(place + 1) is \(found). Write %@ for an object.")
    }

    private func checkKind(_ place: Int, _ letter: Character) throws(PredicateError) {
        if FormatReader.numbers.contains(letter) {
            guard isNumber(arguments[place]) else { throw wrongKind(place, letter, "a number") }
        } else if letter == "s" || letter == "S" {
            guard case .text? = Value(any: arguments[place]) else { throw wrongKind(place, letter, "a text") }
        }
    }

    /// Whether the arguments at the places of some bits are numbers, or nil.
    private func areNumbers(_ bits: UInt64) -> Bool {
        var rest = bits
        while rest != 0 {
            guard isNumber(arguments[rest.trailingZeroBitCount]) else { return false }
            rest &= rest - 1
        }
        return true
    }

    private func isNumber(_ argument: Any?) -> Bool {
        guard let argument else { return true }
        switch PlainType(of: argument) {
        case .int?, .double?, .number?, .date?, .dateObject?: return true
        case .string?, .uuid?: return false
        case nil: break
        }
        switch Value(any: argument) {
        case .null?, .bool?, .int?, .double?, .decimal?, .date?: return true
        case .text?, .data?, .uuid?, .uri?, .key?, nil: return false
        }
    }

    // MARK: From values to objects

    func object(_ predicate: Predicate) -> NSPredicate {
        switch predicate {
        case .constant(let flag): ConstantPredicate(flag)
        case .and(let parts): NSCompoundPredicate(type: .and, subpredicates: parts.map(object))
        case .or(let parts): NSCompoundPredicate(type: .or, subpredicates: parts.map(object))
        case .not(let part): NSCompoundPredicate(type: .not, subpredicates: [object(part)])
        case .comparison(let comparison): NSComparisonPredicate(comparison, self)
        }
    }

    private func argument(_ object: Any?) -> NSExpression {
        if let object, PlainType(of: object) == nil, !isPlainCollection(object),
            let expression = object as? NSExpression
        {
            return expression
        }
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
        // As an object and a value again they are the same; a Boolean becomes a number.
        case .constant(.int), .constant(.double), .constant(.text): return expression
        case .constant, .list, .this, .function, .subquery, .conditional: return nil
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
        case .constant(.bool(let flag)) where keepsBooleans: NSExpression(forConstantValue: flag)
        case .constant(let value): NSExpression(forConstantValue: value.object)
        case .list(let items): NSExpression(content: .aggregate(items.map(object)))
        case .this: NSExpression.expressionForEvaluatedObject()
        // Objects stand for rows here, so that what is compared with an ID is compared with its object.
        case .keyPath(let path) where objects != nil && path.last == "objectID":
            object(path.count == 1 ? .this : .keyPath(path.dropLast()))
        case .keyPath(let path): NSExpression(content: .keyPath(path))
        case .function("unionSet:with:", let items) where items.count == 2: sets(.unionSet, items)
        case .function("intersectSet:with:", let items) where items.count == 2: sets(.intersectSet, items)
        case .function("minusSet:with:", let items) where items.count == 2: sets(.minusSet, items)
        case .function(let name, let items): NSExpression(content: .function(name, items.map(object)))
        case .conditional(let condition, let first, let second):
            NSExpression(content: .conditional(object(condition), object(first), object(second)))
        case .subquery(let collection, let variable, let predicate):
            NSExpression(content: .subquery(object(collection), variable, object(predicate)))
        case .variable(let name):
            place(name).map { argument(arguments[$0]) } ?? NSExpression(forVariable: name)
        }
    }

    private func sets(_ type: NSExpression.ExpressionType, _ items: [Expression]) -> NSExpression {
        NSExpression(content: .sets(type, object(items[0]), object(items[1])))
    }
}

extension String {
    /// Whether the key names the object itself, however it is written.
    var isSelf: Bool { utf8.count == 4 && utf8.elementsEqual("self".utf8) { $0 | 0x20 == $1 } }
}
