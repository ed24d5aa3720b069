// Derived texts, written with the rows they belong to.

import CoreDataValues

/// The attributes that are `canonical:`, `uppercase:` or `lowercase:` of another one, and the statements that
/// write them.
package struct DerivedTexts: Sendable {
    private struct Text: Sendable {
        let source: Int
        /// Up to the numbers of the rows.
        let sql: String
    }
    /// By entity, inherited ones included.
    private let texts: [[Text]]
    package let isEmpty: Bool
    private let isInKeys: String

    package init(_ map: StoreMap) throws {
        let dialect = map.dialect
        var texts: [[Text]] = Array(repeating: [], count: map.schema.entities.count)
        for derived in map.derived {
            guard case .text(let form, let source) = derived.derivation else { continue }
            let table = try map.table(of: derived.entity)
            guard let from = table.column(of: source, in: derived.entity),
                let to = table.column(of: derived.slot, in: derived.entity)
            else { continue }
            let sql =
                "UPDATE \(dialect.quoted(table.name)) SET \(dialect.quoted(table.columns[to].name)) = "
                + "\(dialect.derived(form, of: dialect.quoted(table.columns[from].name))) WHERE \"Z_PK\" "
            for entity in derived.entity.value...map.schema[derived.entity].last.value {
                texts[entity].append(Text(source: source, sql: sql))
            }
        }
        isInKeys = dialect.isIn(SQLList(dialect.parameter(1, like: dialect.list([Int64(0)]))))
        self.texts = texts
        isEmpty = texts.allSatisfy(\.isEmpty)
    }

    /// The statements for rows of an entity, of which these slots were written, nil for all. Each takes a
    /// list of keys.
    ///
    /// - Parameter rows: instead of the list, what follows the number of a row as a condition.
    package func statements(for entity: EntityIndex, slots: [Int]?, rows: String? = nil) -> [String] {
        texts[entity.value].filter { slots?.contains($0.source) ?? true }.map { $0.sql + (rows ?? isInKeys) }
    }
}
