// Walks a predicate for what a model must have.

import CoreDataValues
import Foundation

/// Notes in an entity what a predicate asks of it, and gives values to the placeholders.
struct ModelGuess {
    typealias Tree = CoreDataValues.Predicate
    typealias Term = CoreDataValues.Expression
    let root = GuessedEntity()
    private var variables: [String: GuessedEntity] = [:]
    /// What placeholders are compared with.
    private(set) var kinds: [String: GuessedKind] = [:]
    private(set) var lists: Set<String> = []
    private var pairs: Set<String> = []

    mutating func note(_ predicate: Tree) throws {
        // Twice: what a key is compared with may say later what it is.
        for _ in 0..<2 { try self.predicate(predicate, root) }
    }

    private mutating func predicate(_ predicate: Tree, _ this: GuessedEntity) throws {
        switch predicate {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { try self.predicate(part, this) }
        case .not(let part): try self.predicate(part, this)
        case .comparison(let comparison): try self.comparison(comparison, this)
        }
    }

    private mutating func comparison(_ comparison: Comparison, _ this: GuessedEntity) throws {
        let isMany = comparison.modifier != .direct
        let isText = [.beginsWith, .endsWith, .like, .matches, .contains].contains(comparison.op)
        let left = kind(comparison.left, this) ?? (isText ? .text : nil)
        let right = kind(comparison.right, this) ?? (isText ? .text : nil)
        try term(comparison.left, this, expected: right, isMany: isMany)
        try term(comparison.right, this, expected: left, isMany: comparison.op == .in)
        pool(comparison.left, comparison.right, this)
        pool(comparison.right, comparison.left, this)
        if case .variable(let name) = comparison.right, comparison.op == .in || comparison.op == .between,
            variables[name] == nil
        {
            lists.insert(name)
            if comparison.op == .between { pairs.insert(name) }
        }
    }

    /// What an expression is known to come to.
    private func kind(_ term: Term, _ this: GuessedEntity) -> GuessedKind? {
        switch term {
        case .constant(let value): GuessedKind(value)
        case .list(let items): items.lazy.compactMap { kind($0, this) }.first
        case .keyPath(let path): kind(path, this)
        case .variable(let name): letterKind(name)
        case .function("valueForKeyPath:", let items): kind(ofPath: items)
        case .function("castObject:toType:", let items): items.last == .constant(.text("NSDate")) ? .date : nil
        case .function("now", _): .date
        case .function("uppercase:", _), .function("lowercase:", _), .function("canonical:", _): .text
        case .function: .number
        case .conditional(_, let first, let second): kind(first, this) ?? kind(second, this)
        case .this, .subquery: nil
        }
    }

    private func kind(ofPath items: [Term]) -> GuessedKind? {
        guard items.count == 2, case .keyPath(let path) = items[1] else { return nil }
        if case .variable(let name) = items[0], let entity = variables[name] { return kind(path, entity) }
        return path == ["@count"] ? .number : nil
    }

    private func kind(_ path: [String], _ this: GuessedEntity) -> GuessedKind? {
        if path.contains(where: { $0 == "@count" || $0 == "@sum" || $0 == "@avg" }) { return .number }
        var entity = this
        for key in path.dropLast() where !key.hasPrefix("@") {
            guard let next = entity.toOnes[key] ?? entity.toManys[key] else { return nil }
            entity = next
        }
        return path.last.flatMap { entity.attributes[$0] ?? nil }
    }

    private func letterKind(_ name: String) -> GuessedKind? {
        switch name.last {
        case "d", "i", "u", "x", "D", "U", "X", "o": .number
        case "f", "g", "e", "F": .real
        case "s": .text
        default: kinds[name]
        }
    }

    // MARK: Terms

    private mutating func term(_ term: Term, _ this: GuessedEntity, expected: GuessedKind?, isMany: Bool) throws {
        switch term {
        case .constant: break
        case .this: throw Unguessable("SELF as a value")
        case .list(let items): for item in items { try self.term(item, this, expected: expected, isMany: false) }
        case .keyPath(let path): try self.path(path, this, expected: expected, isMany: isMany)
        case .variable(let name):
            if variables[name] != nil { throw Unguessable("a member as a whole") }
            if let expected { kinds[name] = kinds[name].map { $0.joined(expected) } ?? expected }
        case .function(let name, let items): try function(name, items, this, expected: expected, isMany: isMany)
        case .subquery: throw Unguessable("an object or its members as a whole")
        case .conditional(let condition, let first, let second):
            try predicate(condition, this)
            let known = expected ?? kind(first, this) ?? kind(second, this)
            for part in [first, second] { try self.term(part, this, expected: known, isMany: false) }
        }
    }

    private mutating func path(_ path: [String], _ this: GuessedEntity, expected: GuessedKind?, isMany: Bool) throws {
        let keys = path.filter { $0.lowercased() != "self" }
        guard !keys.isEmpty else { throw Unguessable("SELF as a value") }
        if let place = keys.firstIndex(where: { $0.hasPrefix("@") }) {
            guard place > 0 else { throw Unguessable("an operator at the start") }
            var entity = this
            for key in keys[..<(place - 1)] { entity = try entity.follow(key, many: false) }
            let member = try entity.follow(keys[place - 1], many: true)
            let rest = Array(keys[(place + 1)...])
            if keys[place] == "@count" { return }
            guard ["@sum", "@avg", "@min", "@max"].contains(keys[place]) else {
                throw Unguessable("the operator \(keys[place])")
            }
            guard !rest.isEmpty else { throw Unguessable("members that are values") }
            return try self.path(rest, member, expected: expected ?? .number, isMany: false)
        }
        var entity = this
        var needsMany = isMany
        guard !isMany || keys.count > 1 else { throw Unguessable("members as a whole") }
        for (place, key) in keys.dropLast().enumerated() {
            let known = entity.toManys[key] != nil
            let isLast = place == keys.count - 2
            let takes = known || (needsMany && (isLast || entity.toOnes[key] == nil))
            entity = try entity.follow(key, many: takes)
            if takes { needsMany = false }
        }
        guard let last = keys.last else { return }
        try entity.note(last, expected)
    }

    private mutating func function(
        _ name: String, _ items: [Term], _ this: GuessedEntity, expected: GuessedKind?, isMany: Bool
    ) throws {
        switch name {
        case "valueForKeyPath:":
            guard items.count == 2, case .keyPath(let path) = items[1] else {
                throw Unguessable("a key path of a computed value")
            }
            switch items[0] {
            case .variable(let variable):
                guard let entity = variables[variable] else { throw Unguessable("a key path of a variable") }
                try self.path(path, entity, expected: expected, isMany: isMany)
            case .subquery(let collection, let variable, let condition):
                let member = try members(collection, this)
                let outer = variables
                variables[variable] = member
                try predicate(condition, this)
                variables = outer
                if path != ["@count"] {
                    try self.path(Array(path.dropFirst()), member, expected: expected ?? .number, isMany: false)
                }
            default: throw Unguessable("a key path of a computed value")
            }
        case "uppercase:", "lowercase:", "canonical:", "length:":
            for item in items { try term(item, this, expected: .text, isMany: false) }
        case "castObject:toType:": if let first = items.first { try term(first, this, expected: nil, isMany: false) }
        case "FUNCTION", "FETCH", "objectFrom:withIndex:", "ANYKEY": throw Unguessable("methods, indexes and fetches")
        case "sum:", "min:", "max:", "average:", "count:":
            guard items.count == 1, case .keyPath(let path) = items[0], path.count > 1 else { fallthrough }
            try self.path(path, this, expected: .number, isMany: true)
        default: for item in items { try term(item, this, expected: .number, isMany: false) }
        }
    }

    private mutating func members(_ collection: Term, _ this: GuessedEntity) throws -> GuessedEntity {
        let (start, path): (GuessedEntity, [String])
        switch collection {
        case .keyPath(let keys): (start, path) = (this, keys)
        case .function("valueForKeyPath:", let items):
            guard items.count == 2, case .variable(let name) = items[0], let entity = variables[name],
                case .keyPath(let keys) = items[1]
            else { throw Unguessable("members of a computed value") }
            (start, path) = (entity, keys)
        default: throw Unguessable("members of a computed value")
        }
        let keys = path.filter { $0.lowercased() != "self" }
        guard let last = keys.last, !keys.contains(where: { $0.hasPrefix("@") }) else {
            throw Unguessable("members of a computed value")
        }
        var entity = start
        for key in keys.dropLast() { entity = try entity.follow(key, many: false) }
        return try entity.follow(last, many: true)
    }

    // MARK: Values

    /// Remembers what an attribute is compared with.
    private func pool(_ side: Term, _ other: Term, _ this: GuessedEntity) {
        let place: (GuessedEntity, [String])
        switch side {
        case .keyPath(let path): place = (this, path)
        case .function("valueForKeyPath:", let items):
            guard items.count == 2, case .variable(let name) = items[0], let entity = variables[name],
                case .keyPath(let path) = items[1]
            else { return }
            place = (entity, path)
        default: return
        }
        var entity = place.0
        for key in place.1.dropLast() where !key.hasPrefix("@") {
            guard let next = entity.toOnes[key] ?? entity.toManys[key] else { return }
            entity = next
        }
        guard let last = place.1.last else { return }
        switch other {
        case .constant(let value): entity.pools[last, default: []].append(value)
        case .list(let items): for case .constant(let value) in items { entity.pools[last, default: []].append(value) }
        default: break
        }
    }

    /// The constants that stand for a placeholder.
    func value(_ name: String) -> Term {
        let kind = letterKind(name) ?? kinds[name] ?? .text
        let values: [Value] =
            switch kind {
            case .number: [.int(1), .int(3)]
            case .real: [.double(0.5), .double(2)]
            case .flag: [.bool(true), .bool(false)]
            case .text: [.text("a"), .text("bc")]
            case .date: [.date(0), .date(60)]
            }
        if lists.contains(name) { return .list(values.map { .constant($0) }) }
        return .constant(values[0])
    }
}

extension CoreDataValues.Predicate {
    /// With constants for its placeholders.
    func filled(_ value: (String) -> CoreDataValues.Expression?) -> CoreDataValues.Predicate {
        switch self {
        case .constant: self
        case .and(let parts): .and(parts.map { $0.filled(value) })
        case .or(let parts): .or(parts.map { $0.filled(value) })
        case .not(let part): .not(part.filled(value))
        case .comparison(let old):
            .comparison(
                Comparison(
                    old.left.filled(value), old.op, old.right.filled(value), modifier: old.modifier,
                    options: old.options))
        }
    }
}

extension CoreDataValues.Expression {
    func filled(_ value: (String) -> CoreDataValues.Expression?) -> CoreDataValues.Expression {
        switch self {
        case .constant, .this, .keyPath: self
        case .variable(let name): value(name) ?? self
        case .list(let items): .list(items.map { $0.filled(value) })
        case .function(let name, let items): .function(name, items.map { $0.filled(value) })
        case .subquery(let collection, let variable, let predicate):
            .subquery(collection: collection.filled(value), variable: variable, predicate: predicate.filled(value))
        case .conditional(let condition, let first, let second):
            .conditional(condition.filled(value), first.filled(value), second.filled(value))
        }
    }
}
