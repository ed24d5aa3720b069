// Key paths, compiled: steps through objects and collections, and the collection operators.

import Foundation

/// Reads one key path. A step over a collection reads every member; what comes out is one flat collection.
struct KeyPathReader {
    enum CollectionOperator: String {
        case count = "@count", sum = "@sum", average = "@avg", minimum = "@min", maximum = "@max"
        case union = "@unionOfObjects", distinctUnion = "@distinctUnionOfObjects"
        case unionArrays = "@unionOfArrays", distinctUnionArrays = "@distinctUnionOfArrays"
        case unionSets = "@unionOfSets", distinctUnionSets = "@distinctUnionOfSets"
    }
    private enum Step {
        case key(String)
        /// The operator and the path of its argument.
        case collect(CollectionOperator, [String])
    }
    private let steps: [Step]

    init(_ path: [String]) throws(PredicateError) {
        var steps: [Step] = []
        var rest = path[...]
        while let key = rest.popFirst() {
            if key.lowercased() == "self" { continue }
            guard key.hasPrefix("@"), key != "@allKeys", key != "@allValues" else {
                steps.append(.key(key))
                continue
            }
            guard let found = CollectionOperator(rawValue: key) else {
                throw PredicateError(
                    "The key path “\(path.joined(separator: "."))” asks for the unknown collection operator \(key).")
            }
            if found == .count {
                steps.append(.collect(found, []))
            } else {
                steps.append(.collect(found, rest.filter { $0.lowercased() != "self" }))
                rest = []
            }
        }
        self.steps = steps
    }

    /// Whether a path asks for a collection operator that there is not.
    static func hasUnknownOperator(_ path: [String]) -> Bool {
        path.contains { key in
            key.hasPrefix("@") && key != "@allKeys" && key != "@allValues" && CollectionOperator(rawValue: key) == nil
        }
    }

    func read(_ start: Operand) -> Operand {
        var operand = start
        for step in steps {
            switch step {
            case .key(let key): operand = KeyPathReader.step(operand, key)
            case .collect(let collect, let path): operand = KeyPathReader.apply(collect, path, operand)
            }
        }
        return operand
    }

    static func step(_ operand: Operand, _ key: String) -> Operand {
        switch operand {
        case .source(let source): return source.operand(forKey: key)
        case .collection(let members):
            var result: [Operand] = []
            result.reserveCapacity(members.count)
            for member in members {
                let value = step(member, key)
                if case .collection(let inner) = value { result += inner } else { result.append(value) }
            }
            return .collection(result)
        case .value(let value):
            guard let text = ValueOrder.text(value) else { return .null }
            return textProperty(text, key)
        case .float, .opaque: return .null
        }
    }

    static func isTextProperty(_ key: String) -> Bool { !textProperty("", key).isNull }

    /// The keys that every text answers.
    static func textProperty(_ text: String, _ key: String) -> Operand {
        switch key {
        case "length": .value(.int(Int64(text.utf16.count)))
        case "uppercaseString": .value(.text(text.uppercased()))
        case "lowercaseString": .value(.text(text.lowercased()))
        case "capitalizedString": .value(.text(text.capitalized))
        default: .null
        }
    }

    static func apply(_ collect: CollectionOperator, _ path: [String], _ operand: Operand) -> Operand {
        if operand.isNull { return .null }
        let values = path.reduce(operand) { step($0, $1) }
        switch collect {
        case .count: return .value(.int(Int64(values.count)))
        case .sum: return Aggregate.sum(values.members)
        case .average: return Aggregate.average(values.members)
        case .minimum: return Aggregate.extreme(values.members, .orderedAscending)
        case .maximum: return Aggregate.extreme(values.members, .orderedDescending)
        case .union, .unionArrays, .unionSets: return .collection(values.members)
        case .distinctUnion, .distinctUnionArrays, .distinctUnionSets:
            return .collection(Aggregate.distinct(values.members))
        }
    }
}

/// Aggregates skip nulls as SQL does; of nothing, the sum is 0 and the others are null.
enum Aggregate {
    static func sum(_ values: [Operand]) -> Operand {
        let numbers = values.compactMap(\.number)
        var whole = Int128(0)
        for number in numbers {
            guard case .int(let int) = number else { return .value(sum(numbers).value.known) }
            whole += Int128(int)
        }
        // Exact in whatever order they come, and a real number where it does not fit.
        return .value(Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole)))
    }

    private static func sum(_ numbers: [Number]) -> Number {
        numbers.reduce(.int(0)) { Number.apply(.add, $0, $1) ?? $0 }
    }

    /// Always a real number, also of integers.
    static func average(_ values: [Operand]) -> Operand {
        let numbers = values.compactMap(\.number)
        guard !numbers.isEmpty else { return .null }
        return .value(.double(numbers.reduce(0) { $0 + $1.double } / Double(numbers.count)).known)
    }

    static func extreme(_ values: [Operand], _ wanted: ComparisonResult) -> Operand {
        var best = Value.null
        for value in values.map(\.comparable) where !value.isNull {
            if best.isNull || ValueOrder.sortOrder(value, best) == wanted { best = value }
        }
        return .value(best)
    }

    /// Each member once: numbers by value, objects by identity.
    static func distinct(_ values: [Operand]) -> [Operand] {
        var seen = SeenMembers(amongDecimals: values.contains(where: \.isDecimal))
        return values.filter { seen.insert($0) }
    }
}
