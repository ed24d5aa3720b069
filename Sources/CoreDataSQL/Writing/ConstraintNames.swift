// The attributes behind uniqueness constraints.

import CoreDataValues

/// The names of a constraint's attributes by its columns, `TABLE.COLUMN, TABLE.COLUMN`.
package struct ConstraintNames: Sendable {
    private var names: [String: [String]] = [:]

    init(_ map: StoreMap) throws {
        for entity in map.entities {
            let table = try map.table(of: entity.index)
            for constraint in entity.constraints where constraint.owner == entity.index {
                let columns = constraint.slots.compactMap { slot in
                    table.column(of: slot, in: entity.index).map { table.columns[$0].name }
                }
                names[columns.map { "\(table.name).\($0)" }.joined(separator: ", ")] = constraint.names
            }
        }
    }

    package subscript(columns: String) -> [String]? { names[columns] }
}
