// Uniqueness constraints of a store in memory.

import Foundation

/// The values that are taken, constraint by constraint. A row with a null in a constraint takes nothing, as in SQL.
struct ConstraintIndex: Sendable {
    /// One constraint of one declaring entity.
    struct Name: Hashable {
        let entity: EntityIndex
        private let place: UInt16
        var position: Int { Int(place) }

        init(entity: EntityIndex, position: Int) {
            self.entity = entity
            place = UInt16(truncatingIfNeeded: position)
        }
    }

    /// A constraint with the values that a row has in it, as bytes: `String` would hold é and e + accent for one.
    struct Claim: Hashable {
        let name: Name
        let bytes: [UInt8]
    }

    private(set) var taken: [Claim: Int64] = [:]

    /// Makes room, as `MemoryTree.reserve`.
    mutating func reserve(_ count: Int) { taken.reserveCapacity(taken.count + count) }

    mutating func claim(_ claims: [Claim], for number: Int64) {
        for claim in claims { taken[claim] = number }
    }

    mutating func free(_ claims: [Claim]) {
        for claim in claims { taken[claim] = nil }
    }

    /// What a row claims.
    static func claims(of row: MemoryRow, schema: Schema) -> [Claim] {
        schema[row.key.entity].constraints.compactMap { constraint in
            bytes(of: row, constraint.slots).map {
                Claim(name: Name(entity: constraint.owner, position: constraint.position), bytes: $0)
            }
        }
    }

    private static func bytes(of row: MemoryRow, _ slots: [Int]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for slot in slots {
            guard !row.values[slot].isNull else { return nil }
            let content = content(row.values[slot])
            withUnsafeBytes(of: content.count) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: content)
        }
        return bytes
    }

    /// Bytes that are equal when SQLite holds the values for equal.
    private static func content(_ value: Value) -> [UInt8] {
        switch value {
        case .null: []
        case .bool(let flag): [flag ? 1 : 0]
        case .int(let number): Array("\(number)".utf8)
        case .double(let number), .date(let number): Array("\(number == 0 ? 0 : number)".utf8)
        case .decimal(let number): Array(number.description.utf8)
        case .text(let text), .uri(let text): Array(text.utf8)
        case .data(let data): Array(data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
        case .key(let key): Array("\(key.number)".utf8)
        }
    }
}
