// Which members of a collection were there before.

import Foundation

/// Members under the evaluator's equality, found by hash where they have one.
struct SeenMembers {
    private var keys: Set<Membership.Key> = []
    /// Beside decimals numbers are found by the nearest real number, and then compared.
    private var numbers: [Double: [Number]] = [:]
    private var others: [Operand] = []
    private let amongDecimals: Bool

    /// - Parameter amongDecimals: whether decimals will come, whose equality to other numbers a key cannot follow.
    init(amongDecimals: Bool) { self.amongDecimals = amongDecimals }

    /// Whether the member is new.
    mutating func insert(_ member: Operand) -> Bool {
        if amongDecimals, let number = member.number {
            let place = number.double
            if numbers[place]?.contains(where: { $0.order(number) == .orderedSame }) == true { return false }
            numbers[place, default: []].append(number)
            return true
        }
        if let key = key(of: member) { return keys.insert(key).inserted }
        let relation = Relation(op: .equal, options: [])
        if others.contains(where: { relation.isEqual($0, member) }) { return false }
        others.append(member)
        return true
    }

    /// nil for what only a comparison finds.
    private func key(of member: Operand) -> Membership.Key? {
        switch member {
        case .value, .float: Membership.Key(member.comparable)
        case .source(let source): source.identity.isNull ? nil : Membership.Key(source.identity)
        case .collection, .opaque: nil
        }
    }
}

extension Operand {
    var isDecimal: Bool { if case .value(.decimal) = self { true } else { false } }
}
