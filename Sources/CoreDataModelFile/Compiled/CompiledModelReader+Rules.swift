// Predicates, expressions and values of compiled models.

import CoreDataValues
import Foundation

extension CompiledModelReader {
    func predicate(_ archived: ArchivedObject, _ entity: String, _ property: String?) throws(SchemaError) -> String {
        var reader = ArchivedExpressions()
        do { return try reader.predicate(archived).predicateFormat } catch {
            throw wrong("has a predicate that cannot be read: \(error.sentence)", entity, property)
        }
    }

    func text(of archived: ArchivedObject, _ entity: String, _ property: String?) throws(SchemaError) -> String {
        FormatPrinter().text(try expression(archived, entity, property))
    }

    private func expression(_ archived: ArchivedObject, _ entity: String, _ property: String?) throws(SchemaError)
        -> CoreDataValues.Expression
    {
        var reader = ArchivedExpressions()
        do { return try reader.expression(archived) } catch {
            throw wrong("has an expression that cannot be read: \(error.sentence)", entity, property)
        }
    }

    /// `count:(pages)` is what the model file calls `pages.@count`.
    func derivation(_ archived: ArchivedObject, _ entity: String, _ property: String) throws(SchemaError) -> String {
        let tree = try expression(archived, entity, property)
        guard case .function(let name, let arguments) = tree, arguments.count == 1,
            case .keyPath(let path) = arguments[0]
        else {
            return FormatPrinter().text(tree)
        }
        switch name {
        case "count:": return (path + ["@count"]).joined(separator: ".")
        case "sum:" where path.count > 1: return (path.dropLast() + ["@sum"] + path.suffix(1)).joined(separator: ".")
        default: return FormatPrinter().text(tree)
        }
    }

    func converted(_ value: Value, _ type: AttributeType) -> Value {
        switch (type, value) {
        case (.boolean, .int(let number)): .bool(number != 0)
        case (.boolean, .double(let number)): .bool(number != 0)
        case (.integer16, .bool(let flag)), (.integer32, .bool(let flag)), (.integer64, .bool(let flag)):
            .int(flag ? 1 : 0)
        case (.integer16, .double(let number)), (.integer32, .double(let number)), (.integer64, .double(let number)):
            Int64(exactly: number.rounded(.towardZero)).map { .int($0) } ?? .null
        case (.double, .int(let number)), (.float, .int(let number)): .double(Double(number))
        case (.double, .bool(let flag)), (.float, .bool(let flag)): .double(flag ? 1 : 0)
        case (.decimal, .int(let number)): .decimal(Decimal(number))
        case (.decimal, .double(let number)): .decimal(Decimal(number))
        case (.date, .int(let number)): .date(Double(number))
        case (.date, .double(let number)): .date(number)
        case (.uri, .text(let text)): .uri(text)
        case (.uuid, .text(let text)): UUID(uuidString: text).map { .uuid($0) } ?? .null
        default: value
        }
    }

    /// The rules that the editor writes: bounds of numbers, dates and lengths, and a pattern.
    mutating func addRule(_ archived: ArchivedObject, to attribute: inout Attribute, _ entity: String) {
        var reader = ArchivedExpressions()
        guard let tree = try? reader.predicate(archived) else {
            return warn("a rule that cannot be read", attribute.name, entity)
        }
        for part in tree.conjuncts {
            guard case .comparison(let rule) = part, case .constant(let value) = rule.right,
                take(rule, value, &attribute)
            else {
                warn("the rule \(part.predicateFormat)", attribute.name, entity)
                continue
            }
        }
    }

    private mutating func warn(_ what: String, _ property: String, _ entity: String) {
        draft.warnings.append(
            SchemaWarning(
                "\(what) of “\(entity).\(property)” is not kept", entity: entity, property: property,
                location: SourceLocation(path: path, line: 1, column: 1)))
    }

    private func take(_ rule: Comparison, _ value: Value, _ attribute: inout Attribute) -> Bool {
        switch (rule.left, rule.op, value) {
        case (.this, .greaterOrEqual, _): attribute.minimum = converted(value, attribute.type)
        case (.this, .lessOrEqual, _): attribute.maximum = converted(value, attribute.type)
        case (.keyPath(["length"]), .greaterOrEqual, .int(let length)): attribute.minimumLength = Int(clamping: length)
        case (.keyPath(["length"]), .lessOrEqual, .int(let length)): attribute.maximumLength = Int(clamping: length)
        case (.this, .matches, .text(let pattern)): attribute.pattern = pattern
        default: return false
        }
        return true
    }
}
