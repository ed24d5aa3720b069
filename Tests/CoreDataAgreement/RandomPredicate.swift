// Predicates on works of the library, at random.

import CoreDataSeeds
import Foundation

/// Writes predicates as texts; the same seed gives the same ones.
package struct RandomPredicate {
    package enum Argument { case value(Any), object(Int), objects([Int]) }
    package struct Text {
        package let format: String
        package let arguments: [Argument]

        package init(format: String, arguments: [Argument]) { (self.format, self.arguments) = (format, arguments) }
    }
    let names: PredicateNames
    /// The serial numbers of the objects of each entity.
    private let serials: [String: [Int]]
    let root: String
    private var random: SplitMix
    private var arguments: [Argument] = []
    var variables = 0

    package init(seed: UInt64, _ side: PredicateSide) {
        random = SplitMix(seed)
        (names, serials, root) = (PredicateNames(side.world.model), side.serials, side.world.root)
    }

    package mutating func next() -> Text {
        arguments = []
        let format = predicate(root, "", depth: pick([0, 1, 1, 2, 2, 3]))
        return Text(format: format, arguments: arguments)
    }

    // MARK: Choosing

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func pick<T>(_ all: [T]) -> T { all[int(0...all.count - 1)] }

    mutating func argument(_ value: Any) -> String {
        arguments.append(.value(value))
        return "%@"
    }

    mutating func object(_ entity: String) -> String {
        arguments.append(.object(pick(serials[entity] ?? [0])))
        return "%@"
    }

    mutating func objects(_ entity: String) -> String {
        var chosen: [Int] = []
        for _ in 0..<int(1...3) { chosen.append(pick(serials[entity] ?? [0])) }
        arguments.append(.objects(chosen))
        return "%@"
    }

    // MARK: Paths

    /// Some to-ones further, and the entity that they lead to.
    mutating func hops(_ entity: String, _ prefix: String) -> (entity: String, prefix: String) {
        var (entity, prefix) = (entity, prefix)
        for _ in 0..<max(0, int(-2...2)) {
            guard let toOnes = names.toOnes[entity], !toOnes.isEmpty else { break }
            let (key, destination) = pick(toOnes)
            (entity, prefix) = (destination, prefix + key + ".")
        }
        return (entity, prefix)
    }

    mutating func scalar(_ entity: String, _ prefix: String, _ family: PredicateNames.Family? = nil) -> (
        path: String, family: PredicateNames.Family
    ) {
        // Inside a sub-query the names without a variable are those of the row that is asked about.
        let isOuter = prefix.hasPrefix("$") && int(0...7) == 0
        let (owner, path) = isOuter ? hops(root, "") : hops(entity, prefix)
        let all = (names.scalars[owner] ?? []).filter { family == nil || $0.1 == family }
        guard !all.isEmpty else { return scalar(entity, prefix, family) }
        let (key, found) = pick(all)
        return (path + key, found)
    }

    typealias Many = (path: String, entity: String, isOrdered: Bool)

    mutating func many(_ entity: String, _ prefix: String, isDeep: Bool = true) -> Many {
        let (owner, path) = hops(entity, prefix)
        guard let toManys = names.toManys[owner], !toManys.isEmpty else { return many(entity, prefix, isDeep: isDeep) }
        let found = pick(toManys)
        if isDeep, int(0...3) == 0 { return many(found.destination, path + found.key + ".", isDeep: false) }
        return (path + found.key, found.destination, found.isOrdered)
    }

    // MARK: Tests of values

    mutating func constant(_ family: PredicateNames.Family) -> String {
        switch family {
        case .number: return number()
        case .text: return int(0...12) == 0 ? "nil" : argument(pick(Library.texts))
        case .identifier: return argument(Library.uuid(int(0...3)))
        case .object: return "nil"
        case .address: return argument(Library.url(int(0...3)))
        case .bytes: return argument(RandomRows.bytes[int(0...RandomRows.bytes.count - 1)])
        case .transformed: return int(0...5) == 0 ? "nil" : argument(pick(RandomRows.words))
        }
    }

    mutating func number() -> String {
        switch int(0...39) {
        case 0: return argument(NSDecimalNumber(string: pick(["0.1", "1.25", "-3"])))
        case 1: return argument(Date(timeIntervalSinceReferenceDate: Double(int(-4...4)) / 4))
        case 2: return argument(pick([0.1, 0.25, 1e16, 1e300, -0.0, 0.30000000000000004, 0.75, .infinity, .nan]))
        case 3: return argument(pick([Int.max, Int.min, 1 << 53, (1 << 53) + 1]))
        case 4: return argument(int(0...1) == 1)
        case 5: return argument(Float(0.1))
        case 6: return "nil"
        default: return int(0...1) == 0 ? "\(int(-3...3))" : argument(int(-3...3))
        }
    }

    mutating func sign(_ family: PredicateNames.Family) -> String {
        switch family {
        case .number, .text, .identifier, .bytes: pick(["==", "!=", "<", "<=", ">", ">="])
        case .object, .address, .transformed: pick(["==", "!="])
        }
    }

    mutating func options() -> String { pick(["", "", "[c]", "[d]", "[cd]", "[n]", "[l]", "[cdl]"]) }

    mutating func test(_ left: String, _ family: PredicateNames.Family) -> String {
        switch int(0...7) {
        case 0: return "\(left) IN {\((0..<int(1...5)).map { _ in constant(family) }.joined(separator: ", "))}"
        case 1 where family == .number && int(0...1) == 0: return "\(left) BETWEEN {\(int(-3...0)), \(int(0...3))}"
        case 1 where family != .address && family != .transformed:
            return "\(left) BETWEEN {\(constant(family)), \(constant(family))}"
        case 2...4 where family == .text: return textTest(left)
        case 5 where family == .text: return "\(left) \(sign(family))\(options()) \(constant(family))"
        case 6 where family == .text:
            return "\(left) \(pick(["IN", "BETWEEN"]))\(options()) {\(constant(family)), \(constant(family))}"
        default: return "\(left) \(sign(family)) \(constant(family))"
        }
    }

    mutating func textTest(_ left: String) -> String {
        // Half of them are in many texts.
        let piece = argument(int(0...1) == 0 ? pick(["a", "b", "A", "i", "s", "e"]) : pick(Library.texts))
        switch int(0...5) {
        case 5 where !left.contains("%"): return "\(piece) IN\(options()) \(left)"
        case 0: return "\(left) \(pick(["BEGINSWITH", "ENDSWITH", "=="]))\(options()) \(piece)"
        case 1, 2: return "\(left) CONTAINS\(options()) \(piece)"
        default: break
        }
        arguments.removeLast()
        return int(0...1) == 0
            ? "\(left) LIKE\(options()) \(argument(pick(Library.texts + ["*", "?", "a*", "*b", "??", "*a*"])))"
            : "\(left) MATCHES\(options()) \(argument(pick(["a.*", "[a-z]+", ".", "", "(a|é)b?", ".*b.*"])))"
    }

    /// Comparisons of one property, which fold.
    mutating func chain(_ entity: String, _ prefix: String) -> String {
        let (path, family) = scalar(entity, prefix)
        var parts: [String] = []
        for _ in 0..<int(4...7) { parts.append(int(0...3) == 0 ? "NOT (\(test(path, family)))" : test(path, family)) }
        return "(" + parts.joined(separator: pick([" OR ", " AND "])) + ")"
    }

    // MARK: Predicates

    mutating func predicate(_ entity: String, _ prefix: String, depth: Int) -> String {
        switch depth > 0 ? int(0...8) : 8 {
        case 0, 1: "(\(predicate(entity, prefix, depth: depth - 1)) AND \(predicate(entity, prefix, depth: depth - 1)))"
        case 2, 3: "(\(predicate(entity, prefix, depth: depth - 1)) OR \(predicate(entity, prefix, depth: depth - 1)))"
        case 4: "NOT (\(predicate(entity, prefix, depth: depth - 1)))"
        default: comparison(entity, prefix, depth: depth)
        }
    }

    mutating func comparison(_ entity: String, _ prefix: String, depth: Int) -> String {
        switch int(0...19) {
        case 0:
            let (path, family) = scalar(entity, prefix)
            return "\(constant(family)) \(sign(family)) \(path)"
        case 1: return ofColumns(entity, prefix)
        case 2, 3, 15...18:
            let value = computed(entity, prefix, depth: depth)
            // Most values of rows are small, and most of what is computed of them.
            switch int(0...4) {
            case 0: return test(value, .number)
            case 1: return "\(value) BETWEEN {\(int(-3...0)), \(int(0...3))}"
            default: return "\(value) \(pick(["<", "<=", ">", ">=", "!=", "=="])) \(int(-2...2))"
            }
        case 4:
            return
                "\(computed(entity, prefix, depth: depth)) \(sign(.number)) \(computed(entity, prefix, depth: depth))"
        case 5, 6: return quantified(entity, prefix)
        case 7: return target(entity, prefix)
        case 8: return members(entity, prefix)
        case 9:
            let own = prefix.isEmpty ? "SELF" : String(prefix.dropLast())
            if int(0...3) == 0 {
                let (_, path) = hops(entity, prefix)
                return "\(path)entity.name \(pick(["==", "!=", "ENDSWITH", "<"])) \(argument(pick(names.entities)))"
            }
            return int(0...1) == 0 ? "\(own) \(sign(.object)) \(object(entity))" : "\(own) IN \(objects(entity))"
        case 10, 19: return test(computedText(entity, prefix, depth: depth), .text)
        case 11 where depth > 0:
            return "\(subquery(many(entity, prefix), depth: depth)).@count \(sign(.number)) \(int(0...1))"
        case 12: return int(0...9) == 0 ? pick(["TRUEPREDICATE", "FALSEPREDICATE"]) : chain(entity, prefix)
        default:
            let (path, family) = scalar(entity, prefix)
            return test(path, family)
        }
    }

    /// Of two or three properties.
    mutating func ofColumns(_ entity: String, _ prefix: String) -> String {
        let family = pick([PredicateNames.Family.number, .number, .text])
        let (a, b, c) = (
            scalar(entity, prefix, family).path, scalar(entity, prefix, family).path,
            scalar(entity, prefix, family).path
        )
        switch int(0...6) {
        case 0: return "\(a) BETWEEN {\(b), \(c)}"
        case 1: return "\(a) IN {\(b), \(constant(family)), \(c)}"
        case 2 where family == .number:
            return
                "\(pick(["max", "min", "sum", "average", "count"])):(\(a), \(b), \(c)) \(sign(.number)) \(int(-1...2))"
        case 2 where family == .text, 3 where family == .text:
            return "\(a) \(pick(["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "IN"]))\(options()) \(b)"
        case 4 where family == .text: return "\(a) \(sign(.text))\(options()) \(b)"
        default: return "\(a) \(sign(family)) \(b)"
        }
    }

    mutating func quantified(_ entity: String, _ prefix: String) -> String {
        let word = pick(["ANY", "ALL", "NONE", "SOME", "NOT ANY", "NOT ALL"])
        let found = many(entity, prefix)
        let (path, family) = scalar(found.entity, "")
        switch int(0...4) {
        case 4:
            return
                "\(word) \(test("\(found.path).\(pick(["@unionOfObjects", "@distinctUnionOfObjects"])).\(path)", family))"
        case 0: return "\(word) \(constant(family)) \(sign(family)) \(found.path).\(path)"
        case 1 where family == .number || family == .text:
            return "\(word) \(found.path).\(path) \(sign(family)) \(scalar(entity, prefix, family).path)"
        default: return "\(word) \(test("\(found.path).\(path)", family))"
        }
    }

    mutating func target(_ entity: String, _ prefix: String) -> String {
        let (owner, path) = hops(entity, prefix)
        guard let toOnes = names.toOnes[owner], !toOnes.isEmpty else { return chain(entity, prefix) }
        let (key, destination) = pick(toOnes)
        switch int(0...6) {
        case 0: return "\(path)\(key) == \(object(destination))"
        case 1: return "\(path)\(key) != \(object(destination))"
        case 2: return "\(path)\(key) IN \(objects(destination))"
        case 3: return "\(path)\(key) \(sign(.object)) nil"
        case 4: return "\(object(destination)) == \(path)\(key)"
        case 5: return pick(["\(path)\(key) IN {nil}", "\(path)\(key).objectID == \(object(destination))"])
        default: return "NOT (\(path)\(key) IN \(objects(destination)))"
        }
    }

    mutating func members(_ entity: String, _ prefix: String) -> String {
        let found = many(entity, prefix)
        let word = pick(["ANY", "ALL", "NONE"])
        switch int(0...4) {
        case 0: return "\(found.path) CONTAINS \(object(found.entity))"
        case 1: return "\(object(found.entity)) IN \(found.path)"
        case 2: return "\(word) \(found.path) \(sign(.object)) \(object(found.entity))"
        case 3: return "\(word) \(found.path) IN \(objects(found.entity))"
        default: return "\(found.path).@count \(sign(.number)) \(int(0...2))"
        }
    }
}
