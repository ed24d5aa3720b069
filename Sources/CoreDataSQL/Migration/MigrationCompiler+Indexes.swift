// Indexes of the file that are in the way of those of the model.

import CoreDataValues

extension MigrationCompiler {
    /// Whether tables or columns that stay get other names. The database carries their indexes along, under the indexes' own names.
    var renames: Bool {
        moves.contains { $0.isInPlace && ($0.from.name != $0.to.name || !$0.renamedColumns.isEmpty) }
            || joins.contains { $0.from.name != $0.to.name || !$0.renamedColumns.isEmpty }
    }

    /// The statements as they go to the file. Before them go indexes that are there already under a name that they make, over another
    /// table or other columns: these came with what was renamed, now or by an earlier migration, or with what is put off. What they were
    /// for has one of its own name. Indexes that are there as they should be are not asked for again.
    ///
    /// - Parameter present: what the file has, by name.
    func completing(_ statements: [String], with present: [String: String]) -> [String] {
        let wanted = statements.map(IndexText.init)
        let there = present.compactMap { name, sql in IndexText(sql).map { (name: name, index: $0) } }
        let clashes = there.filter { name, index in
            let start = IndexText.folded(IndexText.plain(to.dialect.defined(name))) + " on ".utf8
            return wanted.contains { $0.map { $0.folded.starts(with: start) && $0.text != index.text } ?? false }
        }
        let drops = clashes.map { "DROP INDEX IF EXISTS \(to.dialect.defined($0.name))" }.sorted()
        // What is dropped first may be made anew.
        if !drops.isEmpty || statements.contains(where: { $0.hasPrefix("DROP INDEX") }) { return drops + statements }
        return zip(statements, wanted).compactMap { sql, index in
            index.map { index in index.mayBeThere && there.contains { $0.index.text == index.text } } ?? false
                ? nil : sql
        }
    }
}

/// A definition of an index by what it means: the database quotes names that it has changed. By bytes, as every migration compares some.
private struct IndexText {
    let text: [UInt8]
    /// What stands behind the first words, without regard to case, in which names may differ.
    let folded: [UInt8]
    /// Whether the statement does nothing where there is one of the name.
    let mayBeThere: Bool

    /// nil for any other statement.
    init?(_ statement: String) {
        guard let start = MigrationCompiler.indexStarts.first(where: statement.hasPrefix) else { return nil }
        var rest = statement.utf8.dropFirst(start.utf8.count)
        mayBeThere = rest.starts(with: MigrationCompiler.condition.utf8)
        if mayBeThere { rest = rest.dropFirst(MigrationCompiler.condition.utf8.count) }
        let words = Self.plain(rest)
        (text, folded) = (start.utf8 + words, Self.folded(words))
    }

    static func plain(_ text: String) -> [UInt8] { plain(text.utf8[...]) }
    private static func plain(_ text: Substring.UTF8View) -> [UInt8] { text.filter { $0 != UInt8(ascii: "\"") } }
    static func folded(_ text: [UInt8]) -> [UInt8] { text.map { 65...90 ~= $0 ? $0 | 32 : $0 } }
}
