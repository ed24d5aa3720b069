// Uniqueness constraints of a store in memory.

import Foundation

/// The values that are taken, constraint by constraint. A row with a null in a constraint takes nothing, as in SQL.
struct ConstraintIndex: Sendable {
    /// One constraint of one declaring entity.
    struct Name: Hashable {
        let entity: EntityIndex
        let position: Int
    }

    /// A constraint with the values that a row has in it, as bytes: `String` would hold é and e + accent for one.
    struct Claim: Hashable {
        let name: Name
        let bytes: [UInt8]
    }

    private(set) var taken: [Claim: Int64] = [:]

    mutating func take(_ claims: [Claim], for number: Int64) {
        for claim in claims { taken[claim] = number }
    }

    mutating func free(_ claims: [Claim]) {
        for claim in claims { taken[claim] = nil }
    }

    /// What a row claims: its own entity's constraints and those of its ancestors.
    static func claims(of row: MemoryRow, schema: Schema) -> [Claim] {
        var claims: [Claim] = []
        var current: EntityIndex? = row.key.entity
        while let index = current {
            let entity = schema[index]
            for (position, attributes) in entity.draft.uniquenessConstraints.enumerated() {
                if let bytes = bytes(of: row, attributes, schema[row.key.entity]) {
                    claims.append(Claim(name: Name(entity: index, position: position), bytes: bytes))
                }
            }
            current = entity.parent
        }
        return claims
    }

    private static func bytes(of row: MemoryRow, _ attributes: [String], _ entity: Entity) -> [UInt8]? {
        var bytes: [UInt8] = []
        for attribute in attributes {
            guard case .slot(let slot)? = entity.places[attribute], !row.values[slot].isNull else { return nil }
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
