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
        let made = statements.filter { $0.hasPrefix("CREATE INDEX ") || $0.hasPrefix("CREATE UNIQUE INDEX ") }
            .map { (words: plain($0), folded: plain($0).lowercased()) }
        return present.filter { name, sql in
            let (start, sql) = (" INDEX \(plain(to.dialect.defined(name))) ON ".lowercased(), plain(sql))
            return made.contains { $0.folded.contains(start) && $0.words != sql }
        }.keys.sorted()
    }

    /// A definition by what it means: the database quotes names that it has changed.
    private func plain(_ statement: String) -> String {
        statement.replacing("IF NOT EXISTS ", with: "", maxReplacements: 1).replacing("\"", with: "")
    }
}
