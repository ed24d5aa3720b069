// The statements that create one fetch index, in the form Core Data's own files have them.

import CoreDataValues

/// One fetch index of an entity: an index on its table, a partial one where it has a condition, or an R-tree with the
/// triggers that keep it.
struct FetchIndexDefinition {
    let index: FetchIndex
    let entity: Entity
    let table: TableMap
    let map: StoreMap

    var name: String { "Z_\(entity.name)_\(index.name)" }

    /// Nothing when the index has to-many elements only, which have no column.
    ///
    /// - Throws: `StoreError` for what has no form here.
    func statements() throws -> [String] {
        let elements = index.elements.filter { !isToMany($0) }
        if elements.isEmpty { return [] }
        if elements.contains(where: \.isRTree) { return try tree(elements, elements.map(column)) }
        let dialect = map.dialect
        let parts = try elements.map { element in
            if let name = rowColumn(element) {
                return dialect.indexed(dialect.defined(name), .int, isAscending: element.isAscending)
            }
            let column = try column(element)
            return dialect.indexed(dialect.defined(column.name), column.kind, isAscending: element.isAscending)
        }
        return [
            "CREATE INDEX \(dialect.defined(name)) ON \(dialect.defined(table.name)) "
                + "(\(parts.joined(separator: ", ")))" + (try condition())
        ]
    }

    private func isToMany(_ element: FetchIndex.Element) -> Bool {
        guard let name = element.property, case .toMany? = entity.places[name] else { return false }
        return true
    }

    /// The column that every table has for an element of all objects: the object itself, and its entity.
    private func rowColumn(_ element: FetchIndex.Element) -> String? {
        guard let name = element.property ?? element.expression, entity.places[name] == nil else { return nil }
        switch name {
        case "SELF", "self", "objectID": return "Z_PK"
        case "entity": return "Z_ENT"
        default: return nil
        }
    }

    private func column(_ element: FetchIndex.Element) throws -> Column {
        guard let property = element.property else { throw unsupported(index, entity, "a computed element") }
        let use = "the fetch index \(index.name)"
        guard case .slot(let slot)? = entity.places[property] else {
            throw table.noColumn(property, of: entity, use: use)
        }
        return try table.column(slot, of: entity, use: use)
    }

    private func condition() throws -> String {
        guard let text = index.partialPredicate else { return "" }
        let predicate: Predicate
        do { predicate = try FormatParser.predicate(text) } catch {
            throw unsupported(index, entity, "a condition that cannot be read. \(error.sentence)")
        }
        let condition: BoundCondition
        do { condition = try map.schema.condition(predicate, on: entity) } catch {
            throw unsupported(index, entity, "a condition that means nothing to a store. \(error.sentence)")
        }
        return " WHERE "
            + (try IndexCondition(index: index, entity: entity, table: table, dialect: map.dialect).compile(condition))
    }

    /// The R-tree of an index that is one.
    var spatialIndex: SQLSpatialIndex {
        get throws { spatialIndex(try index.elements.filter { !isToMany($0) }.map(column)) }
    }

    private func spatialIndex(_ columns: [Column]) -> SQLSpatialIndex {
        SQLSpatialIndex(name: "Z_RT_\(entity.name)_\(index.name)", table: table.name, columns: columns.map(\.name))
    }

    /// At most five numbers.
    private func tree(_ elements: [FetchIndex.Element], _ columns: [Column]) throws -> [String] {
        if index.partialPredicate != nil { throw unsupported(index, entity, "an R-tree with a condition") }
        if elements.contains(where: { !$0.isRTree }) {
            throw unsupported(index, entity, "an R-tree with binary elements")
        }
        if columns.count > 5 { throw unsupported(index, entity, "an R-tree of more than five elements") }
        for element in elements where !isNumber(element) {
            throw unsupported(index, entity, "an R-tree of something that is no number")
        }
        return map.dialect.spatialIndex(spatialIndex(columns))
    }

    private func isNumber(_ element: FetchIndex.Element) -> Bool {
        guard let name = element.property, case .slot(let slot)? = entity.places[name] else { return false }
        switch entity.slots[slot].kind {
        case .int, .bool, .double, .float, .decimal, .date: return true
        case .text, .uri, .uuid, .data, .externalData, .transformable, .toOne, .entityTag: return false
        }
    }
}

func unsupported(_ index: FetchIndex, _ entity: Entity, _ what: String) -> StoreError {
    StoreError(
        134060,
        "unsupported: the fetch index \(index.name) of \(entity.name) has \(what). Change it or remove it from the model.",
        entity: entity.name)
}

extension TableMap {
    /// The column of a stored attribute or to-one.
    func column(_ slot: Int, of entity: Entity, use: String) throws -> Column {
        if let column = column(of: slot, in: entity.index) { return columns[column] }
        throw noColumn(entity.slots[slot].name, of: entity, use: use)
    }

    func noColumn(_ property: String, of entity: Entity, use: String) -> StoreError {
        StoreError(
            134060,
            "\(entity.name).\(property) has no column of its own, so \(use) of \(entity.name) cannot use it. "
                + "Name a stored attribute or a to-one relationship.",
            entity: entity.name, property: property)
    }
}
