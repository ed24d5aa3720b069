// Indexes of the file that are in the way of those of the model.

import CoreDataValues

extension MigrationCompiler {
    /// Whether tables or columns that stay get other names. The database carries their indexes along, under the indexes' own names.
    var renames: Bool {
        moves.contains { $0.isInPlace && ($0.from.name != $0.to.name || !$0.renamedColumns.isEmpty) }
            || joins.contains { $0.from.name != $0.to.name || !$0.renamedColumns.isEmpty }
    }

    /// The names of indexes that are made by statements and are there already, over another table or other columns: they came with what
    /// was renamed, now or by an earlier migration, or with what is put off. What they were for has one of its own name.
    func clashes(_ statements: [String], with present: [String: String]) -> [String] {
        let made = statements.compactMap(IndexText.init)
        return present.filter { name, sql in
            guard let there = IndexText(sql) else { return false }
            let start = IndexText.folded(IndexText.plain(to.dialect.defined(name))) + " on ".utf8
            return made.contains { $0.folded.starts(with: start) && $0.text != there.text }
        }.keys.sorted()
    }
}

/// A definition of an index by what it means: the database quotes names that it has changed. By bytes, as every migration compares some.
private struct IndexText {
    let text: [UInt8]
    /// What stands behind the first words, without regard to case, in which names may differ.
    let folded: [UInt8]

    /// nil for any other statement.
    init?(_ statement: String) {
        guard let start = MigrationCompiler.indexStarts.first(where: statement.hasPrefix) else { return nil }
        var rest = statement.utf8.dropFirst(start.utf8.count)
        if rest.starts(with: MigrationCompiler.condition.utf8) {
            rest = rest.dropFirst(MigrationCompiler.condition.utf8.count)
        }
        let words = Self.plain(rest)
        (text, folded) = (start.utf8 + words, Self.folded(words))
    }

    static func plain(_ text: String) -> [UInt8] { plain(text.utf8[...]) }
    private static func plain(_ text: Substring.UTF8View) -> [UInt8] { text.filter { $0 != UInt8(ascii: "\"") } }
    static func folded(_ text: [UInt8]) -> [UInt8] { text.map { 65...90 ~= $0 ? $0 | 32 : $0 } }
}
