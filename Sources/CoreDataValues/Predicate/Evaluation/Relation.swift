// One comparison of two operands, by operator and options.

import Foundation

extension Comparison {
    /// Whether an operator holds between two values.
    package static func holds(_ a: Value, _ op: Operator, _ b: Value, _ options: Options) -> Bool {
        Relation(op: op, options: options).holds(.value(a), .value(b))
    }
}

/// What stands between two expressions, compiled.
struct Relation {
    let op: Comparison.Operator
    let options: Comparison.Options

    func holds(_ a: Operand, _ b: Operand) -> Bool {
        switch op {
        case .equal: isEqual(a, b)
        case .notEqual: !isEqual(a, b)
        case .less: order(a, b) == .orderedAscending
        case .greater: order(a, b) == .orderedDescending
        case .lessOrEqual: order(a, b).map { $0 != .orderedDescending } ?? false
        case .greaterOrEqual: order(a, b).map { $0 != .orderedAscending } ?? false
        case .between: isBetween(a, b)
        case .in: isMember(a, of: b)
        case .contains: isMember(b, of: a)
        case .beginsWith: texts(a, b) { TextComparison.begins($0, with: $1, options: options) }
        case .endsWith: texts(a, b) { TextComparison.ends($0, with: $1, options: options) }
        case .like: texts(a, b) { LikePattern($1, options: options).matches($0) }
        // A pattern that is only known per row and is none matches nothing.
        case .matches: texts(a, b) { (try? RegularPattern($1, options: options))?.matches($0) ?? false }
        }
    }

    private func texts(_ a: Operand, _ b: Operand, _ test: (String, String) -> Bool) -> Bool {
        guard let x = a.text, let y = b.text else { return false }
        return test(x, y)
    }

    private func order(_ a: Operand, _ b: Operand) -> ComparisonResult? {
        if let floats = floats(a, b) {
            return floats.0 < floats.1
                ? .orderedAscending
                : floats.0 == floats.1 ? .orderedSame : floats.0 > floats.1 ? .orderedDescending : nil
        }
        guard case .value(let x) = a, case .value(let y) = b else { return nil }
        return ValueOrder.order(x, y, options: options)
    }

    /// Both sides as Floats, if one of them is one and the other a number.
    private func floats(_ a: Operand, _ b: Operand) -> (Float, Float)? {
        switch (a, b) {
        case (.float(let x), .float(let y)): (x, y)
        case (.float(let x), _): b.number.map { (x, Float($0.double)) }
        case (_, .float(let y)): a.number.map { (Float($0.double), y) }
        case (_, _): nil
        }
    }

    private func isBetween(_ a: Operand, _ b: Operand) -> Bool {
        guard case .collection(let bounds) = b, bounds.count == 2 else { return false }
        guard let low = order(a, bounds[0]), let high = order(a, bounds[1]) else { return false }
        return low != .orderedAscending && high != .orderedDescending
    }

    private func isMember(_ a: Operand, of b: Operand) -> Bool {
        switch b {
        case .collection(let members): members.contains { isEqual(a, $0) }
        case .value, .float, .source, .opaque: texts(b, a) { TextComparison.contains($0, $1, options: options) }
        }
    }

    func isEqual(_ a: Operand, _ b: Operand) -> Bool {
        switch (a, b) {
        case (.value(let x), .value(let y)): ValueOrder.isEqual(x, y, options: options)
        case (.source(let x), .source(let y)): x.isSame(as: y)
        case (.source(let x), .value(let y)), (.value(let y), .source(let x)):
            !y.isNull && ValueOrder.isEqual(x.identity, y)
        case (.opaque(let x), .opaque(let y)): x === y
        case (.collection(let x), .collection(let y)): haveSameMembers(x, y)
        case (.float, _), (_, .float): floats(a, b).map { $0.0 == $0.1 } ?? false
        case (.collection, _), (_, .collection), (.opaque, _), (_, .opaque): false
        }
    }

    /// Sets have no order, so order never counts.
    private func haveSameMembers(_ a: [Operand], _ b: [Operand]) -> Bool {
        guard a.count == b.count else { return false }
        var rest = b
        for member in a {
            guard let index = rest.firstIndex(where: { isEqual(member, $0) }) else { return false }
            rest.remove(at: index)
        }
        return true
    }
}
