// The condition of a partial index as SQL.

import CoreDataValues
import Foundation

/// Compiles comparisons of the entity's own columns with constants, as Core Data's files spell them. Which rows an index
/// holds never shows in a result: SQLite reads it only where a fetch asks for no others.
struct IndexCondition {
    let index: FetchIndex
    let entity: Entity
    let table: TableMap

    /// - Throws: `StoreError` for what SQLite allows in no index: other objects, functions, patterns.
    func compile(_ predicate: CoreDataValues.Predicate) throws -> String {
        switch predicate {
        case .constant(let flag): flag ? "1" : "0"
        case .and: try joined(predicate.conjuncts, " AND ")
        case .or: try joined(predicate.disjuncts, " OR ")
        case .not(let part): "NOT (\(try compile(part)))"
        case .comparison(let comparison): try compile(comparison)
        }
    }

    private func joined(_ parts: [CoreDataValues.Predicate], _ word: String) throws -> String {
        guard parts.count <= 100 else { throw refusal("more than 100 parts") }
        return "(" + (try parts.map(compile)).joined(separator: word) + ")"
    }

    private func compile(_ comparison: Comparison) throws -> String {
        guard comparison.modifier == .direct, comparison.options.isEmpty else { throw refusal("ANY, ALL or options") }
        guard case .keyPath(let path) = comparison.left else { throw refusal("something else than a property on its left") }
        let name = path.joined(separator: ".")
        let column = try table.columnName(name, of: entity, use: "the condition of the fetch index \(index.name)")
        switch comparison.op {
        case .equal: return try compared(column, "=", "IS NULL", comparison.right)
        case .notEqual: return try compared(column, "<>", "IS NOT NULL", comparison.right)
        case .less: return try compared(column, "<", nil, comparison.right)
        case .lessOrEqual: return try compared(column, "<=", nil, comparison.right)
        case .greater: return try compared(column, ">", nil, comparison.right)
        case .greaterOrEqual: return try compared(column, ">=", nil, comparison.right)
        case .between:
            let bounds = try values(comparison.right)
            guard bounds.count == 2 else { throw refusal("BETWEEN without two bounds") }
            return "\(column) BETWEEN \(bounds[0]) AND \(bounds[1])"
        case .in: return "\(column) IN (\(try values(comparison.right).joined(separator: ", ")))"
        case .contains, .beginsWith, .endsWith, .like, .matches:
            throw refusal("a comparison of text other than for equality")
        }
    }

    private func compared(_ column: String, _ word: String, _ null: String?, _ right: CoreDataValues.Expression) throws -> String {
        guard case .constant(let value) = right else { throw refusal("something else than a constant on its right") }
        guard value.isNull else { return "\(column) \(word) \(try literal(value))" }
        guard let null else { throw refusal("an order of nil") }
        return "\(column) \(null)"
    }

    private func values(_ right: CoreDataValues.Expression) throws -> [String] {
        guard case .list(let parts) = right else { throw refusal("something else than a list") }
        return try parts.map { part in
            guard case .constant(let value) = part, !value.isNull else { throw refusal("a list of other than constants") }
            return try literal(value)
        }
    }

    private func literal(_ value: Value) throws -> String {
        switch value {
        case .bool(let flag): return flag ? "1" : "0"
        case .int(let number): return String(number)
        case .double(let number), .date(let number):
            guard number.isFinite else { throw refusal("a number that is not finite") }
            return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
        case .decimal(let number): return number.description
        case .text(let text), .uri(let text):
            if text.utf8.contains(0) { throw refusal("a text with NUL") }
            return "'" + text.replacing("'", with: "''") + "'"
        case .null, .data, .uuid, .key: throw refusal("a value that is no number and no text")
        }
    }

    private func refusal(_ what: String) -> StoreError { unsupported(index, entity, "a condition with \(what)") }
}
