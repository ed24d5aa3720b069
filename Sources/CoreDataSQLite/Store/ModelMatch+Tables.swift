// What the tables of a file show of the model that they were made for.

import CoreDataSQL
import CoreDataValues

/// Compares tables, join tables, unique indexes and entities of a file with those that a model asks for.
///
/// Numbers of entities in names are read as the file's `Z_PRIMARYKEY` has them, so that an entity that was added or
/// removed makes no other differ.
struct TableDifference {
    let map: StoreMap
    let connection: Connection

    struct Answer {
        /// What differs, by entity.
        var sentences: [String: [String]] = [:]
        /// What the file has and the model has not; the root is nil where it may belong to any entity.
        var leftovers: [(root: EntityIndex?, sentence: String)] = []
        /// The same for the search by hashes.
        var evidence: [String: HashSearch.Evidence] = [:]

        /// Of an entity without a table nothing else is known.
        mutating func keepParent(of entity: String) {
            guard let known = evidence[entity] else { return }
            evidence[entity] = HashSearch.Evidence()
            evidence[entity]?.parent = known.parent
        }

        mutating func say(_ sentence: String, of entity: String) { sentences[entity, default: []].append(sentence) }
    }

    /// Runs one statement a table.
    func read() throws -> Answer {
        var answer = Answer()
        let entities = try storedEntities()
        for entity in map.entities where entities.contains(where: { $0.name == entity.name }) {
            answer.evidence[entity.name] = HashSearch.Evidence()
        }
        compareParents(entities, &answer)
        let numbers = Numbers(entities, in: map.schema)
        for table in map.tables { try compare(table, numbers, &answer) }
        try compareJoins(numbers, &answer)
        try compareConstraints(&answer)
        return answer
    }

    private typealias StoredEntity = (number: Int64, name: String, parent: Int64)

    private func storedEntities() throws -> [StoredEntity] {
        let statement = try Statement("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY", on: connection)
        defer { statement.finish() }
        var result: [StoredEntity] = []
        while try statement.step() {
            guard let name = statement.text(1) else { continue }
            result.append((statement.int(0), name, statement.int(2)))
        }
        return result
    }

    private func compareParents(_ entities: [StoredEntity], _ answer: inout Answer) {
        for (_, name, parent) in entities {
            guard let entity = map.schema.entity(named: name) else { continue }
            let theirs = entities.first { $0.number == parent }?.name
            let ours = entity.parent.map { map.schema[$0].name }
            answer.evidence[name]?.parent = .some(theirs)
            if theirs == ours { continue }
            func spelled(_ parent: String?) -> String { parent.map { "the parent \($0)" } ?? "no parent" }
            answer.say("\(name) has \(spelled(ours)) in the model and \(spelled(theirs)) in the store", of: name)
        }
    }

    /// Turns numbers of entities in the file's names into the model's.
    private struct Numbers {
        private var ours: [Int: Int] = [:]

        init(_ entities: [StoredEntity], in schema: Schema) {
            for entity in entities {
                guard let known = schema.entity(named: entity.name) else { continue }
                ours[Int(entity.number)] = known.index.number
            }
        }

        /// `Z_2INJURIES`, `Z4_STATION`, `Z4VISITS`, `Z_FOK_2INJURIES` with the model's number.
        func translated(_ name: String) -> String {
            for prefix in ["Z_FOK_", "Z_", "Z"] where name.hasPrefix(prefix) {
                let rest = name.dropFirst(prefix.count)
                let digits = rest.prefix { ("0"..."9").contains($0) }
                guard let number = Int(digits), let known = ours[number] else { continue }
                return prefix + String(known) + rest.dropFirst(digits.count)
            }
            return name
        }

        /// The name without prefix and number.
        func bare(_ name: String) -> String {
            String(name.dropFirst(2).drop { ("0"..."9").contains($0) })
        }
    }
}

// MARK: - Tables of entities

extension TableDifference {
    private func compare(_ table: TableMap, _ numbers: Numbers, _ answer: inout Answer) throws {
        let root = map.schema[table.root]
        let stored = try columns(of: table.name)
        if stored.isEmpty {
            answer.say("the store has no table \(table.name) for \(root.name)", of: root.name)
            for entity in tree(table) { answer.keepParent(of: entity.name) }
            return
        }
        let expected = Set(table.columns.map(\.name))
        var found: [String: String] = [:]
        for (name, type) in stored {
            let translated = numbers.translated(name)
            found[expected.contains(translated) ? translated : name] = type
        }
        for column in table.columns { compare(column, found[column.name], table, &answer) }
        let known = expected.union(["Z_PK", "Z_ENT", "Z_OPT"])
        for name in found.keys.sorted() where !known.contains(name) {
            leave(name, type: found[name] ?? "", table, &answer)
        }
    }

    private func tree(_ table: TableMap) -> [Entity] { map.schema.entities.filter { $0.root == table.root } }

    private func compare(_ column: Column, _ found: String?, _ table: TableMap, _ answer: inout Answer) {
        let entity = map.schema[column.entity]
        switch column.role {
        case .order(let index): return compareOrder(map.schema[index], isStored: found != nil, &answer)
        case .owner(let index):
            let relationship = map.schema[index]
            let owner = map.schema[relationship.owner].name
            guard found == nil else { return }
            answer.say(absent(relationship.name, of: owner, column, table), of: owner)
            answer.evidence[owner]?.absent.insert(relationship.name)
        case .slot(let slot):
            let title = "\(entity.name).\(column.property)"
            guard let found else {
                answer.say(absent(column.property, of: entity.name, column, table), of: entity.name)
                if entity.slots[slot].kind != .entityTag {
                    answer.evidence[entity.name]?.absent.insert(column.property)
                }
                return
            }
            if entity.slots[slot].attribute != nil {
                answer.evidence[entity.name]?.types[column.property] = AttributeType.kept(in: found)
            }
            if found.uppercased() != column.type {
                answer.say("\(title) is \(column.type) in the model and \(found) in the store", of: entity.name)
            }
        }
    }

    private func absent(_ property: String, of entity: String, _ column: Column, _ table: TableMap) -> String {
        "\(entity).\(property) is not in the store (no column \(column.name) in \(table.name))"
    }

    private func compareOrder(_ relationship: ResolvedRelationship, isStored: Bool, _ answer: inout Answer) {
        guard relationship.isToMany else { return }
        let owner = map.schema[relationship.owner].name
        answer.evidence[owner]?.isOrdered[relationship.name] = isStored
        if isStored == relationship.isOrdered { return }
        let title = "\(owner).\(relationship.name)"
        answer.say(
            isStored
                ? "\(title) is ordered in the store and not in the model"
                : "\(title) is ordered in the model and not in the store", of: owner)
    }

    /// A column that belongs to no property of the model.
    private func leave(_ name: String, type: String, _ table: TableMap, _ answer: inout Answer) {
        let entities = tree(table)
        if name.hasPrefix("Z_FOK_") {
            let ordered = entities.flatMap(\.relationships).map { map.schema[$0] }
                .first { "Z_FOK_" + $0.name.uppercased() == name }?.inverse
            if let ordered { return compareOrder(map.schema[ordered], isStored: true, &answer) }
        }
        answer.leftovers.append(
            (table.root, "the store's column \(table.name).\(name) belongs to no property of the model"))
        for entity in entities {
            answer.evidence[entity.name]?.leftovers.append(
                (String(name.dropFirst()), AttributeType.kept(in: type)))
        }
    }

    private func columns(of table: String) throws -> [String: String] {
        let statement = try Statement("SELECT name, type FROM pragma_table_info(?)", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(table))
        var result: [String: String] = [:]
        while try statement.step() {
            if let name = statement.text(0) { result[name] = statement.text(1) ?? "" }
        }
        return result
    }
}

extension AttributeType {
    /// The types whose values stand in a column of this declared type.
    fileprivate static func kept(in column: String) -> [AttributeType] {
        switch column.uppercased() {
        case "INTEGER": [.integer64, .integer32, .integer16, .boolean]
        case "FLOAT": [.double, .float]
        case "TIMESTAMP": [.date]
        case "DECIMAL": [.decimal]
        case "VARCHAR": [.string, .uri]
        case "BLOB": [.binary, .transformable, .uuid]
        default: []
        }
    }
}

// MARK: - Join tables and constraints

extension TableDifference {
    private func compareJoins(_ numbers: Numbers, _ answer: inout Answer) throws {
        var stored: [String: (name: String, columns: Set<String>)] = [:]
        for (name, columns) in try JoinReader(connection: connection).tables() {
            stored[numbers.translated(name)] = (name, Set(columns.map(numbers.translated)))
        }
        let found = StoredJoins(map.joins, schema: map.schema, tables: stored.mapValues { $0.columns.sorted() })
            .resolve(byEntities: false).found
        for (place, computed) in map.joins.enumerated() {
            let join = found[place] ?? computed
            guard let columns = stored.removeValue(forKey: join.name)?.columns,
                columns.isSuperset(of: [join.side.owner, join.side.member])
            else {
                sayMissing(join, &answer)
                continue
            }
            for index in join.isReflexive ? [join.relationship] : [join.relationship, join.inverse] {
                let order = join.isReflexive ? "FOK_REFLEXIVE" : "Z_FOK_" + join.side(of: index).member.dropFirst(2)
                let isStored = join.side(of: index).order.map(columns.contains) ?? columns.contains(order)
                compareOrder(map.schema[index], isStored: isStored, &answer)
            }
        }
        for (name, columns) in stored.values.sorted(by: { $0.name < $1.name }) {
            answer.leftovers.append((nil, "the store's join table \(name) belongs to no relationship of the model"))
            let names = Set(columns.filter { !$0.hasPrefix("Z_FOK_") && $0 != "REFLEXIVE" }.map(numbers.bare))
            for entity in map.entities {
                for name in names.sorted() { answer.evidence[entity.name]?.leftovers.append((name, [])) }
            }
        }
    }

    private func sayMissing(_ join: JoinTable, _ answer: inout Answer) {
        let sides = [join.relationship, join.inverse].map { map.schema[$0] }
        let titles = sides.map { "\(map.schema[$0.owner].name).\($0.name)" }
        let sentence =
            "the store has no join table \(join.name) for "
            + (join.isReflexive ? titles[0] : titles.joined(separator: " and "))
        for owner in Set(sides.map { map.schema[$0.owner].name }) { answer.say(sentence, of: owner) }
        for side in sides { answer.evidence[map.schema[side.owner].name]?.unjoined.insert(side.name) }
    }

    private func compareConstraints(_ answer: inout Answer) throws {
        var stored: [String: [[String]]] = [:]
        for (name, table) in try uniqueIndexes() {
            guard let table = map.tables.first(where: { $0.name == table }),
                let entity = tree(table).filter({ name.hasPrefix("Z_\($0.name)_UNIQUE_") })
                    .max(by: { $0.name.utf8.count < $1.name.utf8.count })
            else { continue }
            let words = name.dropFirst("Z_\(entity.name)_UNIQUE_".count)
            stored[entity.name, default: []].append(try attributes(of: name, words, table))
        }
        for table in map.tables {
            for entity in tree(table) where answer.evidence[entity.name] != nil {
                let (ours, theirs) = (entity.draft.uniquenessConstraints, stored[entity.name] ?? [])
                answer.evidence[entity.name]?.constraints = theirs
                for constraint in theirs where !ours.contains(constraint) {
                    answer.say(
                        "\(entity.name) has the uniqueness constraint (\(constraint.joined(separator: ", "))) in the "
                            + "store and not in the model", of: entity.name)
                }
                for constraint in ours where !theirs.contains(constraint) {
                    answer.say(
                        "\(entity.name) has the uniqueness constraint (\(constraint.joined(separator: ", "))) in the "
                            + "model and not in the store", of: entity.name)
                }
            }
        }
    }

    /// The properties of a unique index: by its columns, else by its name.
    private func attributes(of index: String, _ words: Substring, _ table: TableMap) throws -> [String] {
        let statement = try Statement("SELECT name FROM pragma_index_info(?) ORDER BY seqno", on: connection)
        defer { statement.finish() }
        try statement.bind(1, .text(index))
        var columns: [String] = []
        while try statement.step() { columns.append(statement.text(0) ?? "") }
        let named = columns.count == 1 ? [words] : words.split(separator: "_")
        return columns.enumerated().map { place, name in
            if let column = table.columns.first(where: { $0.name == name }) { return column.property }
            return named.count == columns.count ? String(named[place]) : String(name.dropFirst()).lowercased()
        }
    }

    private func uniqueIndexes() throws -> [(name: String, table: String)] {
        let statement = try Statement(
            "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE UNIQUE INDEX%' "
                + "ORDER BY name", on: connection)
        defer { statement.finish() }
        var result: [(String, String)] = []
        while try statement.step() {
            if let name = statement.text(0), let table = statement.text(1) { result.append((name, table)) }
        }
        return result
    }
}
