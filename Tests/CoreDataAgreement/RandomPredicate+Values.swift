// Computed values of random predicates.

import Foundation

extension RandomPredicate {
    mutating func computed(_ entity: String, _ prefix: String, depth: Int) -> String {
        let value = scalar(entity, prefix, .number).path
        switch int(0...17) {
        case 0: return "\(many(entity, prefix).path).@count"
        case 1, 2: return ofMembers(entity, prefix) { "\($0).@\($1.pick($1.aggregates($2, "avg"))).\($2)" }
        case 3:
            return ofMembers(entity, prefix) { "\($1.pick($1.aggregates($2, "average") + ["count"])):(\($0).\($2))" }
        case 4: return "(\(value) \(pick(["+", "-", "*", "/"])) \(scalar(entity, prefix, .number).path))"
        case 5: return "\(scalar(entity, prefix, .text).path).length"
        case 6: return "length:(\(scalar(entity, prefix, .text).path))"
        case 7, 17:
            return
                "\(pick(["abs", "floor", "ceiling", "trunc", "sqrt", "ln", "log", "exp", "sum", "noindex"])):(\(value))"
        case 8: return "modulus:by:(\(value), \(pick(["2", "3", "0"])))"
        case 9:
            var found = many(entity, prefix, isDeep: false)
            for _ in 0..<9 where !found.isOrdered { found = many(entity, prefix, isDeep: false) }
            guard found.isOrdered, int(0...4) > 0 else { return "\(found.path)[SIZE]" }
            return "\(found.path)[\(pick(["FIRST", "LAST", "0", "1"]))].\(scalar(found.entity, "", .number).path)"
        case 10 where depth > 0:
            let found = many(entity, prefix)
            return "\(subquery(found, depth: depth)).@count"
        case 11 where depth > 0:
            let found = many(entity, prefix, isDeep: false)
            let path = scalar(found.entity, "", .number).path
            return "\(subquery(found, depth: depth)).@\(pick(aggregates(path, "avg"))).\(path)"
        case 12, 13:
            let condition = predicate(entity, prefix, depth: max(0, depth - 1))
            return
                "TERNARY(\(condition), \(value), \(int(0...1) == 0 ? number() : scalar(entity, prefix, .number).path))"
        case 14: return "(\(value) \(pick(["&", "|", "^", "<<", ">>"])) \(int(-2...66)))"
        case 15: return "(\(value) ** \(pick(["2", "0", "-1", "0.5", "3"])))"
        case 10, 11, 16:
            return pick([
                "-(\(value))", "~(\(value))", "CAST(\(value), 'NSNumber')", "CAST(\(value), 'NSDate')",
                "FUNCTION(\(value), 'pow:', 2)",
            ])
        default: return value
        }
    }

    mutating func computedText(_ entity: String, _ prefix: String, depth: Int) -> String {
        let value = scalar(entity, prefix, .text).path
        switch int(0...4) {
        case 4: return "CAST(\(scalar(entity, prefix, pick([.number, .text, nil])).path), 'NSString')"
        case 0: return "TERNARY(\(predicate(entity, prefix, depth: max(0, depth - 1))), \(value), \(constant(.text)))"
        case 1: return "FUNCTION(\(value), '\(pick(["uppercaseString", "lowercaseString"]))')"
        default: return "\(pick(["uppercase", "lowercase", "canonical"])):(\(value))"
        }
    }

    mutating func ofMembers(
        _ entity: String, _ prefix: String, _ write: (String, inout RandomPredicate, String) -> String
    ) -> String {
        let found = many(entity, prefix)
        let path = scalar(found.entity, "", .number).path
        return write(found.path, &self, path)
    }

    /// An average of numbers beyond 53 bits depends on the order of its members, and those of a set have none.
    func aggregates(_ path: String, _ average: String) -> [String] {
        names.wide.contains((path.split(separator: ".").last.map(String.init) ?? "").replacing("#", with: ""))
            ? ["sum", "min", "max"] : ["sum", average, "min", "max"]
    }

    mutating func subquery(_ found: Many, depth: Int) -> String {
        variables += 1
        let name = "$v\(variables)"
        return "SUBQUERY(\(found.path), \(name), \(predicate(found.entity, name + ".", depth: depth - 1)))"
    }
}
