// Derived attributes of a store in memory, computed when a batch has been applied.

import Foundation

/// Finds the rows whose derived values a batch can change, and computes them: as many rows as a store with
/// triggers would touch.
struct MemoryDerivation: Sendable {
    /// Places of derived attributes, by their place in `attributes`.
    typealias Concerned = [Int: Set<Int64>]

    private let attributes: [DerivedAttribute]
    private let schema: Schema

    /// nil when there is nothing to derive.
    init?(_ attributes: [DerivedAttribute], schema: Schema) {
        if attributes.isEmpty { return nil }
        self.attributes = attributes
        self.schema = schema
    }

    /// A row about to be written, with its derived texts: they may be unique values.
    func withTexts(_ row: MemoryRow) -> MemoryRow {
        var row = row
        for attribute in attributes where isOwn(row.key, attribute) {
            guard case .text(let form, let slot) = attribute.derivation else { continue }
            row.values[attribute.slot] = text(form, row.values[slot])
        }
        return row
    }

    private func text(_ form: Derivation.TextForm, _ value: Value) -> Value {
        if case .text(let text) = value { .text(form.text(text)) } else { .null }
    }

    // MARK: Which rows

    /// The rows that depend on a row of the batch as the tables stand: asked before and after the batch is
    /// applied, because what left an owner concerns the old one, and what came the new one.
    func concerned(by changes: MemoryChanges, in tables: MemoryTables) -> Concerned {
        var result: Concerned = [:]
        let keys = (changes.written + changes.replaced + changes.removed).map(\.key)
        let links = changes.batch.links.flatMap { [$0.owner] + $0.added + $0.removed }
        let adopted = changes.batch.adoptions.flatMap { [$0.owner] + $0.added + $0.removed }
        for (place, attribute) in attributes.enumerated() {
            for key in keys + links + adopted {
                result[place, default: []].formUnion(dependents(of: key, on: attribute, in: tables))
            }
        }
        return result
    }

    private func dependents(of key: RowKey, on attribute: DerivedAttribute, in tables: MemoryTables) -> Set<Int64> {
        var all: Set<Int64> = isOwn(key, attribute) ? [key.number] : []
        switch attribute.derivation {
        case .now, .text: break
        case .copy(let hops, _):
            for (length, hop) in hops.enumerated() where isIn(key, schema[hop].destination) {
                var found: Set<Int64> = [key.number]
                for back in hops[...length].reversed() {
                    found = found.reduce(into: []) { $0.formUnion(tables.pointers[back]?[$1] ?? []) }
                }
                all.formUnion(found)
            }
        case .count(let index), .sum(let index, _):
            if isIn(key, schema[index].destination) { all.formUnion(owners(of: key, in: schema[index], tables)) }
        }
        return all
    }

    /// Whether a row has the attribute itself.
    private func isOwn(_ key: RowKey, _ attribute: DerivedAttribute) -> Bool {
        schema[key.entity].isKind(of: schema[attribute.entity])
    }

    private func isIn(_ key: RowKey, _ entity: EntityIndex) -> Bool { schema[key.entity].root == schema[entity].root }

    private func owners(
        of member: RowKey, in relationship: ResolvedRelationship, _ tables: MemoryTables
    ) -> Set<Int64> {
        guard let inverse = relationship.inverse else {
            return tables.owners[relationship.index]?[member.number].map { [$0] } ?? []
        }
        if schema[inverse].isToMany { return tables.links[inverse]?[member.number] ?? [] }
        guard let slot = schema[inverse].slot, let row = tables.row(member.number, in: schema[member.entity].root),
            row.values.indices.contains(slot), case .int(let owner) = row.values[slot]
        else { return [] }
        return [owner]
    }

    // MARK: Which values

    /// Computes the attributes of the rows concerned before or after the batch.
    ///
    /// - Returns: the rows that changed.
    func derive(concerned former: Concerned, changes: MemoryChanges, in tables: inout MemoryTables) -> [RowKey] {
        let now = Date().timeIntervalSinceReferenceDate
        let present = concerned(by: changes, in: tables)
        let written = Set(changes.written.map(\.key))
        var touched: Set<RowKey> = []
        for (place, attribute) in attributes.enumerated() {
            let root = schema[attribute.entity].root
            for number in (former[place] ?? []).union(present[place] ?? []) {
                guard var row = tables.row(number, in: root), isOwn(row.key, attribute) else { continue }
                if case .now = attribute.derivation, !written.contains(row.key) { continue }
                let value = convert(value(of: attribute, row, tables, now: now), to: attribute.kind)
                if row.values[attribute.slot] == value, !isText(attribute) { continue }
                row.values[attribute.slot] = value
                touched.insert(row.key)
                tables.trees[root]?.put(row)
            }
        }
        return Array(touched)
    }

    /// Computes attributes of all rows anew.
    func deriveAll(in tables: inout MemoryTables, where isMeant: (DerivedAttribute) -> Bool) {
        let now = Date().timeIntervalSinceReferenceDate
        for attribute in attributes where isMeant(attribute) {
            let root = schema[attribute.entity].root
            for var row in tables.trees[root]?.rows ?? [] where isOwn(row.key, attribute) {
                row.values[attribute.slot] = convert(value(of: attribute, row, tables, now: now), to: attribute.kind)
                tables.trees[root]?.put(row)
            }
        }
    }

    private func value(
        of attribute: DerivedAttribute, _ row: MemoryRow, _ tables: MemoryTables, now: Double
    ) -> Value {
        switch attribute.derivation {
        case .now: return .date(now)
        case .text(let form, let slot): return text(form, row.values[slot])
        case .copy(let hops, let slot):
            var place = row
            for hop in hops {
                guard let pointer = schema[hop].slot, place.values.indices.contains(pointer),
                    case .int(let number) = place.values[pointer],
                    let next = tables.row(number, in: schema[schema[hop].destination].root)
                else { return .null }
                place = next
            }
            return place.values.indices.contains(slot) ? place.values[slot] : .null
        case .count(let index):
            return .int(Int64(tables.members(of: schema[index], owner: row.key.number, in: schema).count))
        case .sum(let index, let slot):
            let numbers = tables.members(of: schema[index], owner: row.key.number, in: schema).compactMap {
                $0.values.indices.contains(slot) ? Number($0.values[slot]) : nil
            }
            return numbers.reduce(Number.int(0)) { Number.apply(.add, $0, $1) ?? $0 }.value
        }
    }

    /// Texts stand in the rows that were written already.
    private func isText(_ attribute: DerivedAttribute) -> Bool {
        if case .text = attribute.derivation { true } else { false }
    }

    /// The value as its column keeps it.
    private func convert(_ value: Value, to kind: SlotKind) -> Value {
        guard let number = Number(value) else { return value }
        switch kind {
        case .int: return .int(whole(number))
        case .bool: return .bool(whole(number) != 0)
        case .double: return .double(number.double)
        case .float: return .double(Double(Float(number.double)))
        case .decimal:
            if case .decimal = number { return number.value }
            return Decimal(string: "\(number.double)").map { .decimal($0) } ?? .null
        case .date, .text, .data, .externalData, .uuid, .uri, .transformable, .toOne, .entityTag: return value
        }
    }

    private func whole(_ number: Number) -> Int64 {
        if case .int(let whole) = number { return whole }
        return Int64(exactly: number.double.rounded(.towardZero)) ?? (number.double > 0 ? .max : .min)
    }
}
