// What a model says of one attribute.

/// Where in a model file something was declared.
package struct SourceLocation: Hashable, Sendable, Codable {
    package var path: String
    package var line: Int
    package var column: Int
    package init(path: String, line: Int, column: Int) {
        self.path = path
        self.line = line
        self.column = column
    }
}

/// Core Data's attribute types, with the numbers that enter version hashes.
package enum AttributeType: UInt32, Sendable, CaseIterable, Codable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100

    /// How the model file spells it.
    package var modelName: String {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binary: "Binary"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "ObjectID"
        case .composite: "Composite"
        }
    }
}

/// One attribute as declared; inherited attributes are not repeated in sub-entities.
package struct Attribute: Sendable, Codable, Equatable {
    package var name: String
    package var type: AttributeType
    /// Absent in a model file means `false`, here as there.
    package var isOptional = false
    package var isTransient = false
    package var isReadOnly = false
    package var defaultValue: Value = .null
    package var allowsExternalBinaryDataStorage = false
    package var preservesValueInHistoryOnDeletion = false
    package var allowsCloudEncryption = false
    package var isIndexedBySpotlight = false
    package var isStoredInExternalRecord = false
    /// Legacy `indexed="YES"`: a single-property fetch index.
    package var isIndexed = false
    package var valueTransformerName: String?
    package var customClassName: String?
    package var usesScalarValueType: Bool?
    /// The expression of a derived attribute, nil for a stored one.
    package var derivationExpression: String?
    /// The name of the composite when `type` is `.composite`.
    package var compositeName: String?
    /// Bounds of numbers and dates.
    package var minimum: Value?
    package var maximum: Value?
    /// Bounds of a string's length.
    package var minimumLength: Int?
    package var maximumLength: Int?
    /// A pattern that the whole string must match.
    package var pattern: String?
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: String] = [:]
    package var location: SourceLocation?

    package init(name: String, type: AttributeType) {
        self.name = name
        self.type = type
    }
}

/// A composite attribute type: a named list of attributes.
package struct Composite: Sendable, Codable, Equatable {
    package var name: String
    package var attributes: [Attribute]
    package var location: SourceLocation?
    package init(name: String, attributes: [Attribute], location: SourceLocation? = nil) {
        self.name = name
        self.attributes = attributes
        self.location = location
    }
}
