// Statements over the tables that say what a store holds.

import CoreDataValues

/// Reads and writes `Z_METADATA` and `Z_PRIMARYKEY`.
package struct MetadataStatements: Sendable {
    private let dialect: any SQLDialect
    package init(_ dialect: any SQLDialect) { self.dialect = dialect }
    private func name(_ name: String) -> String { dialect.defined(name) }

    /// Answers the identifier, the property list unless it is longer than so many bytes, and its length.
    package func read(limit: Int) -> String {
        let (identifier, list) = (name("Z_UUID"), name("Z_PLIST"))
        return
            "SELECT \(identifier), CASE WHEN length(\(list)) <= \(limit) THEN \(list) END, length(\(list)) FROM \(name("Z_METADATA"))"
    }

    /// Identifier, property list.
    package var write: String {
        dialect.replace(
            in: name("Z_METADATA"), ["Z_VERSION", "Z_UUID", "Z_PLIST"].map(dialect.defined),
            ["1", dialect.next(1), dialect.next(2)])
    }

    /// The same in the row that is there, whose version stays.
    package var change: String {
        "UPDATE \(name("Z_METADATA")) SET \(name("Z_UUID")) = \(dialect.next(1)), \(name("Z_PLIST")) = \(dialect.next(2))"
    }

    /// Removes the copy of the model.
    package var forgetModel: String { "DELETE FROM \(name(Self.modelCopy))" }
    /// The copy of the model, compressed.
    package var keepModel: String {
        "INSERT INTO \(name(Self.modelCopy)) (\(name("Z_CONTENT"))) VALUES (\(dialect.next(1)))"
    }
    package static var modelCopy: String { "Z_MODELCACHE" }

    /// Answers the name of each entity with that of its parent or null.
    package var parents: String {
        let (entities, number) = (name("Z_PRIMARYKEY"), name("Z_ENT"))
        return "SELECT a.\(name("Z_NAME")), b.\(name("Z_NAME")) FROM \(entities) a "
            + "LEFT JOIN \(entities) b ON b.\(number) = a.\(name("Z_SUPER"))"
    }

    /// Number, name, number of the parent or 0.
    package var addEntity: String {
        "INSERT INTO \(name("Z_PRIMARYKEY")) (\(["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"].map(dialect.defined).joined(separator: ", "))) "
            + "VALUES (\((1...3).map(dialect.next).joined(separator: ", ")), 0)"
    }

    /// Answers the number of each entity of a model, and the highest number that was given to a row of it.
    ///
    /// - Parameter count: how many entities the model has; tables of other things have higher numbers.
    package func lastNumbers(of count: Int) -> String {
        "SELECT \(name("Z_ENT")), COALESCE(\(name("Z_MAX")), 0) FROM \(name("Z_PRIMARYKEY")) WHERE \(name("Z_ENT")) <= \(count)"
    }

    package func removeEntities(of count: Int) -> String {
        "DELETE FROM \(name("Z_PRIMARYKEY")) WHERE \(name("Z_ENT")) <= \(count)"
    }

    /// Highest number, number of the entity.
    package var setLastNumber: String {
        "UPDATE \(name("Z_PRIMARYKEY")) SET \(name("Z_MAX")) = \(dialect.next(1)) WHERE \(name("Z_ENT")) = \(dialect.next(2))"
    }
}

extension Schema {
    /// Writes down the numbers of the entities, none of which has rows.
    package func addEntityNumbers(_ session: any SQLSession, _ texts: WriteCompiler) throws {
        let shape = SQLShape.text(MetadataStatements(session.dialect).addEntity)
        for entity in entities {
            let parent = Int64(entity.parent?.number ?? 0)
            try session.run(shape, [.int(Int64(entity.index.number)), .text(entity.name), .int(parent)], texts)
        }
    }
}
