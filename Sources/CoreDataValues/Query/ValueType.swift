// The types of computed values, as the schema gives them.

/// The type of a column of values.
package enum ValueType: Sendable, Hashable {
    case int, bool, double, float, decimal, date, text, uri, uuid, data
    /// Objects of an entity or of one below it.
    case key(EntityIndex)
}

extension ValueType {
    /// nil for what no column shows by itself.
    init?(_ kind: SlotKind) {
        switch kind {
        case .int: self = .int
        case .bool: self = .bool
        case .double: self = .double
        case .float: self = .float
        case .date: self = .date
        case .decimal: self = .decimal
        case .text: self = .text
        case .uri: self = .uri
        case .uuid: self = .uuid
        case .data, .transformable: self = .data
        case .externalData, .toOne, .entityTag: return nil
        }
    }

    private init?(_ value: Value) {
        switch value {
        case .null: return nil
        case .bool: self = .bool
        case .int: self = .int
        case .double: self = .double
        case .decimal: self = .decimal
        case .text: self = .text
        case .date: self = .date
        case .data: self = .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .key(let key): self = .key(key.entity)
        }
    }

    /// nil for what has no one type: null, and functions of values that do not go together.
    package init?(of operand: BoundOperand, in schema: Schema) {
        switch operand {
        case .value(.constant(let value)): self.init(value)
        case .value(.parameter): return nil
        case .path(let path):
            if let target = path.target(in: schema) {
                self = .key(target.index)
            } else if case .entity = path.end {
                self = .text
            } else if operand.isExternal {
                self = .data
            } else {
                guard let slot = path.slot, let type = ValueType(slot.kind) else { return nil }
                self = type
            }
        case .aggregate(let aggregate): self.init(of: aggregate, in: schema)
        case .conditional(_, let first, let second):
            let known = [first, second].compactMap { ValueType(of: $0, in: schema) }
            guard known.count == 2 || first.isNull || second.isNull else { return nil }
            self.init(commonTo: known)
        case .grouped(let value): self = value.type
        case .call(let name, let arguments):
            self.init(ofCall: name, arguments, arguments.map { ValueType(of: $0, in: schema) })
        }
    }

    private init?(of aggregate: BoundAggregate, in schema: Schema) {
        guard let operand = aggregate.operand, let type = ValueType(of: operand, in: schema) else {
            guard aggregate.function == .count else { return nil }
            self = .int
            return
        }
        switch aggregate.function {
        case .count: self = .int
        case .sum: self = type.sum
        case .average: self = .double
        case .minimum, .maximum, .item, .last: self = type
        }
    }

    /// The sum of whole numbers is one, that of decimals a decimal.
    var sum: ValueType {
        switch self {
        case .int, .bool: .int
        case .decimal: .decimal
        case .double, .float, .date, .text, .uri, .uuid, .data, .key: .double
        }
    }

    /// The average of decimals is a decimal and that of dates a date.
    var average: ValueType {
        switch self {
        case .decimal, .date: self
        case .int, .bool, .double, .float, .text, .uri, .uuid, .data, .key: .double
        }
    }

    /// What the values are, as part of a sentence.
    package var words: String {
        switch self {
        case .int: "whole numbers"
        case .bool: "booleans"
        case .double, .float: "numbers"
        case .decimal: "decimals"
        case .date: "dates"
        case .text: "texts"
        case .uri: "URIs"
        case .uuid: "UUIDs"
        case .data: "data"
        case .key: "objects"
        }
    }

    package var family: ValueFamily {
        switch self {
        case .int, .bool, .double, .float, .decimal, .date: .number
        case .text, .uri: .text
        case .uuid: .identifier
        case .data: .bytes
        case .key: .object
        }
    }

    private var isWhole: Bool { self == .int || self == .bool }
}

// MARK: Functions

extension ValueType {
    private init?(ofCall name: String, _ arguments: [BoundOperand], _ types: [ValueType?]) {
        let known = types.compactMap { $0 }
        let areNumbers = known.count == types.count && known.allSatisfy { $0.family == .number }
        let areWhole = areNumbers && known.allSatisfy(\.isWhole)
        switch name {
        case "add:to:", "from:subtract:":
            guard areNumbers else { return nil }
            self = areWhole ? .int : known[0] == .date && known[1] != .date ? .date : .double
        case "multiply:by:", "divide:by:", "modulus:by:", "sum:":
            guard areNumbers else { return nil }
            self = areWhole ? .int : .double
        case "abs:":
            guard areNumbers else { return nil }
            self = areWhole ? .int : known[0] == .decimal ? .decimal : .double
        case "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
            "onesComplement:",
            "length:", "count:", TransformedEquality.function:
            self = .int
        case "uppercase:", "lowercase:", "canonical:", "capitalized:": self = .text
        case "now": self = .date
        case "min:", "max:":
            guard known.count == types.count else { return nil }
            self.init(commonTo: known)
        case "castObject:toType:": self.init(castBy: arguments, known)
        default:
            guard ValueFamily(ofFunction: name) == .number else { return nil }
            self = .double
        }
    }

    private init?(commonTo types: [ValueType]) {
        guard let first = types.first else { return nil }
        if types.allSatisfy({ $0 == first }) {
            self = first
        } else if types.allSatisfy({ $0.family == .number }) {
            self = .double
        } else if types.allSatisfy({ $0.family == .text }) {
            self = .text
        } else {
            return nil
        }
    }

    private init?(castBy arguments: [BoundOperand], _ types: [ValueType]) {
        guard arguments.count == 2, case .value(.constant(.text(let name))) = arguments[1] else { return nil }
        switch name {
        case "NSDate", "Date": self = .date
        case "NSNumber": self = types[0].isWhole ? .int : .double
        case "NSDecimalNumber": self = .decimal
        case "NSString": self = .text
        case "NSUUID": self = .uuid
        case "NSURL": self = .uri
        case "NSData": self = .data
        default: return nil
        }
    }
}

extension BoundOperand {
    /// An argument as every side calculates with it: decimals as the doubles that stores keep, and dates as no whole numbers.
    func calculating(in function: String, _ schema: Schema) -> BoundOperand {
        switch function {
        case "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "sum:", "castObject:toType:":
            break
        default: return self
        }
        if case .conditional(let condition, let first, let second) = self {
            return .conditional(
                condition, first.calculating(in: function, schema), second.calculating(in: function, schema))
        }
        let isCast = function == "castObject:toType:"
        if case .value(.constant(.decimal(let number))) = self, !isCast {
            return .value(.constant(.double(Number.decimal(number).double)))
        }
        switch ValueType(of: self, in: schema) {
        case .decimal? where !isCast && !isBoundValue: break
        case .date? where (isCast || function == "divide:by:") && !isBoundValue: break
        case .decimal, .date, .int, .bool, .double, .float, .text, .uri, .uuid, .data, .key, nil: return self
        }
        return .call("multiply:by:", [self, .value(.constant(.double(1)))])
    }

    private var isBoundValue: Bool { if case .value = self { true } else { false } }
}
