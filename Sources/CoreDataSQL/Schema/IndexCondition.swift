// The condition of a partial index as SQL.

import CoreDataValues
import Foundation

/// Compiles comparisons of the entity's own columns with constants, as Core Data's files spell them. Which rows an index
/// holds never shows in a result: a database reads it only where a fetch asks for no others.
struct IndexCondition {
    let index: FetchIndex
    let entity: Entity
    let table: TableMap
    let dialect: any SQLDialect

    /// - Throws: `StoreError` for what is allowed in no index: other objects, functions, patterns.
    func compile(_ condition: BoundCondition) throws -> String {
        switch condition {
        case .constant(let flag): return dialect.condition(flag)
        case .and(let parts): return try joined(parts, " AND ")
        case .or(let parts): return try joined(parts, " OR ")
        case .not(.isNull(let operand)): return "\(try column(operand)) IS NOT NULL"
        case .not(let part): return "NOT (\(try compile(part)))"
        case .isNull(let operand): return "\(try column(operand)) IS NULL"
        case .compare(let comparison): return try compile(comparison)
        case .between(let operand, let low, let high, let options):
            try checkOptions(options)
            return "\(try column(operand)) BETWEEN \(try constant(low)) AND \(try constant(high))"
        case .among(let operand, let values, let options):
            try checkOptions(options)
            return "\(try column(operand)) IN (\(try values.map(literal).joined(separator: ", ")))"
        case .exists: throw refusal("ANY or ALL members of a to-many")
        }
    }

    private func joined(_ parts: [BoundCondition], _ word: String) throws -> String {
        guard parts.count <= 100 else { throw refusal("more than 100 parts") }
        return "(" + (try parts.map(compile)).joined(separator: word) + ")"
    }

    private func compile(_ comparison: BoundComparison) throws -> String {
        try checkOptions(comparison.options)
        let word: String
        switch comparison.op {
        case .equal: word = "="
        case .notEqual: word = "<>"
        case .less: word = "<"
        case .lessOrEqual: word = "<="
        case .greater: word = ">"
        case .greaterOrEqual: word = ">="
        case .between, .in, .contains, .beginsWith, .endsWith, .like, .matches:
            throw refusal("a comparison of text other than for equality")
        }
        return "\(try column(comparison.left)) \(word) \(try constant(comparison.right))"
    }

    private func checkOptions(_ options: Comparison.Options) throws {
        if !options.isEmpty { throw refusal("the options of a comparison of texts") }
    }

    private func column(_ operand: BoundOperand) throws -> String {
        guard case .path(let path) = operand else { throw refusal("something else than a property on its left") }
        if operand.isExternal { throw refusal(ExternalReference.refusal(path.slot?.name ?? "")) }
        let use = "the condition of the fetch index \(index.name)"
        if let hop = path.hops.first {
            throw table.noColumn("\(hop.name).\(path.slot?.name ?? "")", of: entity, use: use)
        }
        let slot: Int?
        switch path.end {
        case .attribute(let attribute): slot = attribute
        case .target(let relationship): slot = relationship.slot
        case .object, .entity: slot = nil
        }
        guard let slot else { throw refusal("the object itself") }
        return dialect.defined(try table.column(slot, of: entity, use: use).name)
    }

    private func constant(_ operand: BoundOperand) throws -> String {
        guard case .value(.constant(let value)) = operand else {
            throw refusal("something else than a constant on its right")
        }
        return try literal(value)
    }

    private func literal(_ value: Value) throws -> String {
        switch value {
        case .bool(let flag): return dialect.literal(flag)
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
