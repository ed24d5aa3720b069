// Which rows that something points at come along.

import CoreDataValues

/// Conditions over tables as they are while rows move, with the entities' former numbers.
struct KeptRows {
    let migration: BoundMigration
    /// The former tables under the names that they have meanwhile.
    let from: StoreMap
    private var dialect: any SQLDialect { from.dialect }

    /// How many of what a key may name may stand there afterwards.
    enum Share {
        case all
        case none
        /// Where a condition holds.
        case those(String)
    }

    /// - Parameters:
    ///   - range: the entities that a key may name.
    ///   - end: the entities of the destination that may stand there.
    func share(_ key: String, among range: ClosedRange<UInt16>, as end: ClosedRange<UInt16>) throws -> Share {
        let kept = migration.kept(range, as: end)
        if kept.isEmpty { return .none }
        if kept.count == range.count { return .all }
        let table = try from.table(of: EntityIndex(rawValue: range.lowerBound))
        return .those(
            "EXISTS (SELECT 1 FROM \(dialect.quoted(table.name)) AS k WHERE k.\"Z_PK\" = \(key) AND k.\(isIn(kept)))")
    }

    func isIn(_ entities: [UInt16]) -> String {
        "\"Z_ENT\" IN (\(entities.map { "\(EntityIndex(rawValue: $0).number)" }.joined(separator: ", ")))"
    }

    /// A key, or null where the row that it names does not come along; nil where none of them does.
    func key(_ column: String, among range: ClosedRange<UInt16>, as end: ClosedRange<UInt16>) throws -> String? {
        switch try share(column, among: range, as: end) {
        case .all: column
        case .none: nil
        case .those(let condition): "CASE WHEN \(condition) THEN \(column) END"
        }
    }

    /// The later numbers of entities by their former ones.
    func numbers(_ range: ClosedRange<UInt16>) -> [(from: Int, to: Int)] {
        range.compactMap { value in
            let entity = EntityIndex(rawValue: value)
            return migration.destinations[entity].map { (entity.number, $0.number) }
        }
    }

    /// The number of a target's entity; nil where no target comes along.
    ///
    /// - Parameter tag: its number before; nil where that is not written down.
    func tag(_ tag: String?, of key: String, among range: ClosedRange<UInt16>) throws -> String? {
        let numbers = numbers(range)
        if numbers.isEmpty { return nil }
        if let tag {
            return numbers.count == range.count && numbers.allSatisfy { $0.from == $0.to }
                ? tag : Self.renumbered(tag, numbers)
        }
        if range.count == 1 { return "CASE WHEN \(dialect.isPresent(key)) THEN \(numbers[0].to) END" }
        let table = try from.table(of: EntityIndex(rawValue: range.lowerBound))
        return
            "(SELECT \(Self.renumbered("k.\"Z_ENT\"", numbers)) FROM \(dialect.quoted(table.name)) AS k WHERE k.\"Z_PK\" = \(key))"
    }

    static func renumbered(_ number: String, _ numbers: [(from: Int, to: Int)]) -> String {
        "CASE \(number) " + numbers.map { "WHEN \($0.from) THEN \($0.to) " }.joined() + "END"
    }
}

extension Schema {
    /// An entity with its descendants.
    func range(of entity: EntityIndex) -> ClosedRange<UInt16> { entity.rawValue...self[entity].last.rawValue }
}
