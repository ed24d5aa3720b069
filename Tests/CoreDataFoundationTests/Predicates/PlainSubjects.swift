// Things that a predicate which comes without a model can be asked of: dictionaries, objects with keys, values and lists.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// An object with keys of its own that says nothing of their types.
final class KeyedThing: KeyValueCoding {
    private let values: [String: Any]
    init(_ values: [String: Any]) { self.values = values }
    func value(forKey key: String) -> Any? { values[key] }
    func setValue(_ value: Any?, forKey key: String) {}
}

/// What a predicate asks for, and things made of it.
struct PlainSubjects {
    /// Keys that lead on to others, and those at the end of a path.
    private(set) var inner: Set<String> = []
    private(set) var last: Set<String> = []
    /// Keys of lists: those whose values are counted, and those from whose values something is calculated.
    private var counted: Set<String> = []
    private var gathered: Set<String> = []
    private(set) var constants: [Value] = []
    /// Variables that stand for a list and for two bounds, and what others are chosen from.
    private var lists: Set<String> = []
    private var bounds: Set<String> = []
    private var choices: [String: [Any]] = [:]
    private var variables: Set<String> = []
    /// What a key, by its name, or a variable is compared with.
    private var beside: [String: [CoreDataValues.Expression]] = [:]
    private var values: [String: Any] = [:]
    /// Whether it asks about a subject itself, not only for its keys; and whether it answers otherwise each time.
    private(set) var asksForItself = false
    /// Whether it asks for all keys or all values or counts the subject, of which a dictionary has any number and another object none or one.
    private(set) var asksForEntries = false
    var meansTheSameOfObjects: Bool { !isRandom && !asksForItself && !asksForEntries }
    private(set) var isRandom = false
    private var random: SystemlessRandom

    init(_ predicate: CoreDataValues.Predicate, seed: UInt64) {
        random = SystemlessRandom(seed: seed)
        note(predicate)
    }

    // MARK: What is asked

    private mutating func note(_ predicate: CoreDataValues.Predicate) {
        switch predicate {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { note(part) }
        case .not(let part): note(part)
        case .comparison(let comparison):
            if case .variable(let name) = comparison.right, comparison.op == .in { lists.insert(name) }
            if case .variable(let name) = comparison.left, comparison.modifier != .direct { lists.insert(name) }
            if case .variable(let name) = comparison.right, comparison.op == .between { bounds.insert(name) }
            if case .variable(let name) = comparison.right { choices[name] = choices(beside: comparison) }
            if let key = comparison.left.lastKey { beside[key, default: []].append(comparison.right) }
            if let key = comparison.right.lastKey { beside[key, default: []].append(comparison.left) }
            note(comparison.left)
            note(comparison.right)
        }
    }

    private mutating func note(_ expression: CoreDataValues.Expression) {
        switch expression {
        case .constant(let value): constants.append(value)
        case .this: asksForItself = true
        case .keyPath(let path):
            let keys = path.filter { !$0.hasPrefix("@") }
            inner.formUnion(keys.dropLast())
            if path.contains("@allKeys") || path.contains("@allValues") || path.first == "@count" {
                asksForEntries = true
            }
            for (key, next) in zip(path, path.dropFirst()) where next == "@count" { counted.insert(key) }
            guard let key = keys.last else { break }
            switch path.last {
            case "@count", "@allKeys", "@allValues": inner.insert(key)
            case let name? where name.hasPrefix("@"): gathered.insert(key)
            default: last.insert(key)
            }
        case .variable(let name): variables.insert(name)
        case .list(let items): for item in items { note(item) }
        case .function(let name, let items):
            if name.hasPrefix("random") { isRandom = true }
            let isOfMembers = name == "valueForKeyPath:" && items[0].isSubquery
            for item in items where !isOfMembers || item != .keyPath(["@count"]) { note(item) }
            if name == "objectFrom:withIndex:", let key = items[0].lastKey, case .constant(.text(let entry)) = items[1]
            {
                inner.insert(key)
                last.insert(entry)
            }
        case .subquery(let collection, let variable, let predicate):
            if case .keyPath(let path) = collection, let key = path.last { inner.insert(key) }
            note(collection)
            note(predicate)
            variables.remove(variable)
        case .conditional(let condition, let first, let second):
            note(condition)
            note(first)
            note(second)
        }
    }

    private func choices(beside comparison: Comparison) -> [Any]? {
        if case .keyPath(let path) = comparison.left, path.contains(where: { $0.hasPrefix("@") }) { return [0, 1, 2] }
        return switch comparison.op {
        case .beginsWith, .endsWith, .like, .matches, .contains: ["a", "bc", "Abc"]
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            [1, 2, 0.5, "bc", Date(timeIntervalSinceReferenceDate: 30)]
        case .equal, .notEqual, .between, .in: nil
        }
    }

    // MARK: What is made

    /// What stands for the variables.
    mutating func variableValues() -> [String: Any] {
        for name in variables.sorted() {
            values[name] =
                lists.contains(name)
                ? [leaf(), leaf(), leaf()] : bounds.contains(name) ? [0, 3] : value(ofVariable: name)
        }
        return values
    }

    private mutating func value(ofVariable name: String) -> Any {
        switch name.last {
        case "d", "i", "u", "x": 1
        case "f", "g": 0.5
        default: choices[name]?.randomElement(using: &random) ?? leaf()
        }
    }

    /// A dictionary of what is asked for.
    mutating func dictionary(depth: Int = 3) -> [String: Any] {
        var result: [String: Any] = [:]
        for key in inner.sorted() where depth > 0 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: break
            case 1 where last.contains(key): result[key] = leaf(ofKey: key)
            case 1...3 where !counted.contains(key): result[key] = dictionary(depth: depth - 1)
            default: result[key] = (0..<Int.random(in: 0...3, using: &random)).map { _ in dictionary(depth: depth - 1) }
            }
        }
        for key in last.union(gathered).sorted() where result[key] == nil {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: break
            case 1: result[key] = [leaf(ofKey: key), leaf()]
            case 2... where gathered.contains(key):
                result[key] = (0..<Int.random(in: 1...3, using: &random)).map { _ in leaf(ofKey: key) }
            default: result[key] = leaf(ofKey: key)
            }
        }
        if asksForEntries {
            for case .text(let key) in constants where Bool.random(using: &random) { result[key] = leaf(ofKey: key) }
        }
        return result
    }

    /// A value, a list of values or one of dictionaries.
    mutating func bare() -> Any {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: (0..<3).map { _ in leaf() }
        case 1: (0..<2).map { _ in dictionary(depth: 1) }
        default: leaf()
        }
    }

    /// What the key is compared with, or near it; or any value.
    private mutating func leaf(ofKey key: String) -> Any {
        guard Int.random(in: 0..<4, using: &random) > 0, let other = beside[key]?.randomElement(using: &random) else {
            return leaf()
        }
        let known = known(other)
        guard let value = known.randomElement(using: &random) else { return leaf() }
        return Bool.random(using: &random) ? value.object ?? NSNull() : near(value) ?? leaf()
    }

    private func known(_ expression: CoreDataValues.Expression) -> [Value] {
        switch expression {
        case .constant(let value): [value]
        case .list(let items): items.flatMap(known)
        case .variable(let name):
            if let list = values[name] as? [Any] {
                list.compactMap { Value(any: $0) }
            } else {
                Value(any: values[name]).map { [$0] } ?? []
            }
        case .this, .keyPath, .function, .subquery, .conditional: []
        }
    }

    /// One of the constants of the predicate, or near it; or any value.
    private mutating func leaf() -> Any {
        let any: [Any] = [
            0, 1, 2, 4, -1, 0.5, true, "", "a", "bc", "Abc", Date(timeIntervalSinceReferenceDate: 30), Data([1]),
            NSNull(),
        ]
        guard Int.random(in: 0..<4, using: &random) > 0, let constant = constants.randomElement(using: &random) else {
            return any.randomElement(using: &random) ?? 0
        }
        return near(constant) ?? any.randomElement(using: &random) ?? 0
    }

    /// Something like the value; nil where nothing is.
    private mutating func near(_ value: Value) -> Any? {
        switch value {
        case .int(let number):
            return number.addingReportingOverflow(Int64.random(in: -1...1, using: &random)).partialValue
        case .double(let number): return number + Double.random(in: 0...1, using: &random).rounded()
        case .bool(let flag): return flag
        case .text(let text):
            return [text, text.uppercased(), text + "x", text.replacing("*", with: "z")].randomElement(using: &random)
                ?? text
        case .date(let seconds):
            return Date(timeIntervalSinceReferenceDate: seconds + Double.random(in: -1...1, using: &random).rounded())
        case .null: return NSNull()
        case .decimal, .data, .uuid, .uri, .key: return nil
        }
    }
}

extension CoreDataValues.Expression {
    /// The last name of a key path.
    fileprivate var lastKey: String? {
        guard case .keyPath(let path) = self else { return nil }
        return path.last { !$0.hasPrefix("@") }
    }

    fileprivate var isSubquery: Bool { if case .subquery = self { true } else { false } }
}

/// The same numbers for the same seed.
struct SystemlessRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

extension [String: Any] {
    /// The same with objects in the place of dictionaries.
    var asThing: KeyedThing { KeyedThing(mapValues(Self.object)) }

    private static func object(_ value: Any) -> Any {
        if let dictionary = value as? [String: Any] { return dictionary.asThing }
        if let list = value as? [Any] { return list.map(object) }
        return value
    }
}
