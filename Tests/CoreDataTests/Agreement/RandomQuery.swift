// Random predicates and orders, as texts that every stack reads for itself.

import CoreDataSeeds
import Foundation

@testable import CoreData

/// One fetch of items.
struct RandomQuery: CustomStringConvertible {
    enum Argument {
        case value(Any)
        /// An object by its serial number; each stack has its own.
        case object(Int)
    }
    private(set) var format = ""
    private(set) var arguments: [Argument] = []
    private(set) var sort: [(key: String, isAscending: Bool, comparison: SortSelector)] = []
    private(set) var entity = "Item"
    private(set) var limit = 0
    private(set) var offset = 0
    private(set) var includesSubentities = true

    var description: String {
        "\(entity) \(format) \(arguments) \(sort) \(limit) \(offset) \(includesSubentities)"
    }

    private static let comparisons = ["==", "!=", "<", "<=", ">", ">="]
    private static let selectors: [SortSelector] = [
        .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
        .localizedStandardCompare,
    ]

    init(_ random: inout SplitMix, people: [Int], items: [Int], labels: [Int]) {
        var writer = PredicateWriter(random: random, people: people, items: items, labels: labels)
        format = writer.predicate(depth: 2)
        arguments = writer.arguments
        random = writer.random
        entity = Int.random(in: 0..<5, using: &random) == 0 ? "SpecialItem" : "Item"
        includesSubentities = Int.random(in: 0..<5, using: &random) > 0
        let keys = [
            "flag", "small", "big", "number", "ratio", "day", "label", "title", "link", "blob", "tag",
            "price", "owner.name",
            "owner.age", "owner.boss.name", "labels.@count", "owner.items.@count",
        ]
        for key in keys.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
            let isText = ["label", "title", "name"].contains { key.hasSuffix($0) }
            let comparison = isText ? RandomQuery.selectors.randomElement(using: &random) : nil
            sort.append((key, Bool.random(using: &random), comparison ?? .compare))
        }
        guard !sort.isEmpty else { return }
        limit = max(0, Int.random(in: -8...9, using: &random))
        offset = max(0, Int.random(in: -6...6, using: &random))
    }

    func predicate(_ objects: [Int: NSManagedObject]) throws -> NSPredicate {
        try NSPredicate(
            parsing: format,
            arguments: arguments.map { argument in
                switch argument {
                case .value(let value): value
                case .object(let serial): objects[serial] ?? NSNull()
                }
            })
    }

    var descriptors: [NSSortDescriptor] {
        sort.map { NSSortDescriptor(key: $0.key, ascending: $0.isAscending, comparison: $0.comparison) }
    }

    func request(_ objects: [Int: NSManagedObject]) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = try predicate(objects)
        request.sortDescriptors = descriptors
        request.fetchLimit = limit
        request.fetchOffset = offset
        request.includesSubentities = includesSubentities
        return request
    }
}

/// Writes one predicate in the format language.
private struct PredicateWriter {
    var random: SplitMix
    let people: [Int]
    let items: [Int]
    let labels: [Int]
    var arguments: [RandomQuery.Argument] = []

    mutating func predicate(depth: Int) -> String {
        guard depth > 0 else { return atom() }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return "(\(predicate(depth: depth - 1)) AND \(predicate(depth: depth - 1)))"
        case 2, 3: return "(\(predicate(depth: depth - 1)) OR \(predicate(depth: depth - 1)))"
        case 4: return "NOT (\(predicate(depth: depth - 1)))"
        default: return atom()
        }
    }

    private mutating func atom() -> String {
        switch Int.random(in: 0..<14, using: &random) {
        case 0...3: return text(pick(["label", "title", "owner.name", "owner.boss.name"]))
        case 4...6:
            return number(
                pick([
                    "flag", "small", "big", "number", "ratio", "day", "price", "owner.age", "labels.@count",
                    "owner.items.@count",
                ]))
        case 7:
            return
                "\(pick(["label", "small", "owner.age", "day", "price"])) \(operation()) \(pick(["nil", "NULL"]))"
        case 8: return pair()
        case 9: return bytes()
        case 10, 11: return object()
        case 12:
            return "\(pick(["ANY", "ALL", "NOT ANY"])) \(text(pick(["labels.name", "owner.items.label"])))"
        default:
            return
                "\(pick(["ANY", "ALL"])) \(number(pick(["labels.rank", "owner.items.small", "owner.reports.age"])))"
        }
    }

    private mutating func operation() -> String { pick(["==", "!=", "<", "<=", ">", ">="]) }
    private mutating func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }

    private mutating func argument(_ value: Any) -> String {
        arguments.append(.value(value))
        return "%@"
    }

    private mutating func list(_ count: Int, _ make: (inout PredicateWriter) -> Any) -> String {
        var parts: [String] = []
        for _ in 0..<count {
            let value = make(&self)
            parts.append(argument(value))
        }
        return "{\(parts.joined(separator: ", "))}"
    }

    private mutating func text(_ path: String) -> String {
        let options = pick(["", "", "[c]", "[d]", "[cd]", "[n]"])
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: return "\(path) \(operation())\(options) \(argument(pick(Shop.texts)))"
        case 4: return "\(path) BEGINSWITH\(options) \(argument(pick(Shop.texts)))"
        case 5: return "\(path) ENDSWITH\(options) \(argument(pick(Shop.texts)))"
        case 6: return "\(path) CONTAINS\(options) \(argument(pick(Shop.texts)))"
        case 7, 8:
            return
                "\(path) LIKE\(options) \(argument(pick(Shop.texts + ["*", "?", "a*", "*b", "?\u{301}", "a\\*b", "*\u{e9}*"])))"
        case 9:
            return
                "\(path) MATCHES\(options) \(argument(pick(["a.*", "[a-z]", "\\d+", ".", "", "(a|\u{e9})b?"])))"
        case 10: return "\(path) IN\(options) \(list(3) { $0.pick(Shop.texts) })"
        default: return "\(path) BETWEEN\(options) \(list(2) { $0.pick(Shop.texts) })"
        }
    }

    private mutating func numeric() -> Any {
        let whole = Int.random(in: -4...4, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Double(whole) / 2
        case 1: return 0.1
        case 2: return NSDecimalNumber(string: "1.25")
        case 3: return pick([Int.max, Int.min, 1 << 53, (1 << 53) + 1])
        case 4: return whole > 0
        case 5: return Date(timeIntervalSinceReferenceDate: Double(whole) / 2)
        default: return whole
        }
    }

    private mutating func number(_ path: String) -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "\(path) IN \(list(3) { $0.numeric() })"
        case 1: return "\(path) BETWEEN \(list(2) { $0.numeric() })"
        default:
            let value = numeric()
            return "\(path) \(operation()) \(argument(value))"
        }
    }

    /// Two columns.
    private mutating func pair() -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            "\(pick(["small", "number", "price"])) \(operation()) \(pick(["owner.age", "big", "ratio", "flag", "day"]))"
        case 1:
            "label \(operation())\(pick(["", "[c]", "[cd]"])) \(pick(["title", "owner.name", "owner.boss.name"]))"
        default: "\(pick(["owner", "owner.boss"])) \(pick(["==", "!="])) owner.boss"
        }
    }

    private mutating func bytes() -> String {
        let byte = UInt8.random(in: 0...4, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "blob \(operation()) \(argument(Data([UInt8](repeating: byte, count: Int(byte) % 3))))"
        case 1: return "link \(pick(["==", "!="])) \(argument(URL(string: "x:\(byte)") as Any))"
        case 2:
            return
                "tag IN \(list(2) { UUID(uuid: ($0.pick([0, 1, 2, 3]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) })"
        default:
            return
                "tag \(pick(["==", "!="])) \(argument(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))))"
        }
    }

    private mutating func object() -> String {
        let kind = Int.random(in: 0..<6, using: &random)
        let serial = pick(kind < 3 ? people : kind < 5 ? labels : items)
        arguments.append(.object(serial))
        switch kind {
        case 0: return "\(pick(["owner", "owner.boss"])) == %@"
        case 1: return "owner != %@"
        case 2: return "owner.objectID IN {%@}"
        case 3: return "labels CONTAINS %@"
        case 4: return "ANY labels == %@"
        default: return "\(pick(["SELF", "objectID"])) \(pick(["==", "!="])) %@"
        }
    }
}
