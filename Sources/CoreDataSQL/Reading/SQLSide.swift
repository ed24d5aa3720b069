// One side of a comparison, and which values it can be compared with.

import CoreDataValues

/// A column or computed number with what is known of its values.
struct SQLSide {
    /// Values that compare with one another.
    enum Family: String {
        case numbers = "numbers"
        case texts = "texts"
        case identifiers = "UUIDs"
        case blobs = "binary data"
        case tagged = "externally stored data"
        case keys = "objects"
        case members = "a to-many relationship"
    }
    private(set) var sql: String
    let family: Family
    private let entity: Entity?
    private let scope: SelectScope
    let name: String
    /// Whether it keeps Floats.
    let isFloat: Bool
    /// What texts on this side are folded by, the constants they meet included.
    private var options: Comparison.Options = []

    init(_ operand: SQLOperand, scope: SelectScope) {
        self.scope = scope
        if case .attribute(_, let slot) = operand { isFloat = slot.kind == .float } else { isFloat = false }
        switch operand {
        case .attribute(let text, let slot):
            (sql, family, entity, name) = (text, Self.family(of: slot.kind), nil, slot.name)
        case .key(let text, let target):
            (sql, family, entity, name) = (text, .keys, target, target.name)
        case .members(let text, let relationship, _):
            (sql, family, entity, name) = (text, .members, nil, relationship.name)
        case .number(let text):
            (sql, family, entity, name) = (text, .numbers, nil, "@count")
        }
    }

    var isKey: Bool { family == .keys }

    /// This side as the options `c` and `d` see it. They mean nothing for what is no text.
    func folded(_ options: Comparison.Options) -> SQLSide {
        if options.isEmpty || family != .texts { return self }
        var result = self
        result.sql = "\(TextFunction.fold)(\(sql), \(options.rawValue))"
        result.options = options
        return result
    }

    private static func family(of kind: SlotKind) -> Family {
        switch kind {
        case .int, .bool, .double, .float, .date, .decimal: .numbers
        case .text, .uri: .texts
        case .uuid: .identifiers
        case .data, .transformable: .blobs
        case .externalData: .tagged
        case .toOne, .entityTag: .keys
        }
    }

    /// The value as this side stores it; nil for one that can never be on this side, such as a text in a column of numbers:
    /// equality with it is false, as in memory.
    func coerced(_ value: Value) throws -> Value? {
        switch (family, value) {
        case (_, .null): return .null
        case (.numbers, .bool), (.numbers, .int), (.numbers, .double), (.numbers, .decimal),
            (.numbers, .date),
            (.identifiers, .uuid), (.blobs, .data):
            return value
        case (.texts, .text(let text)), (.texts, .uri(let text)):
            return .text(TextComparison.fold(text, options: options))
        case (.keys, .key(let key)):
            guard let entity, scope.schema.entities.indices.contains(key.entity.value) else { return nil }
            return scope.schema[key.entity].root == entity.root ? .int(key.number) : nil
        case (.numbers, _), (.texts, _), (.identifiers, _), (.blobs, _), (.keys, _): return nil
        case (.tagged, _): throw unsupportedPredicate(ExternalReference.refusal(name), scope.entity)
        case (.members, _):
            throw unsupportedPredicate("a comparison of \(name) (\(family.rawValue)) with a value", scope.entity)
        }
    }
}
