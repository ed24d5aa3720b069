// The columns that a fetch of dictionaries asks a store for, and the entries made of them.

import CoreDataFoundation
import CoreDataValues
import enum CoreDataValues.Expression
import Foundation

/// The columns of a fetch of dictionaries and the entries made of them. All dictionaries of a result share one.
final class DictionaryForm: Sendable {
    /// The source of one entry.
    enum Entry: Sendable {
        /// A column index and the type of the entry's values; undefined for the column's own type.
        case column(Int, NSAttributeType)
        case transformable(Int, Attribute)
        /// A composite attribute and the index of its first column; the columns follow the order of its slots.
        case composite(CompositePlace, Int)
    }
    let entity: Entity
    let columns: [ValueProjection.Column]
    let entries: [String: Entry]
    /// The names of the entries, in the order in which they were asked for.
    let names: [String]

    /// - Parameter properties: texts, property descriptions and Swift key paths; nil for all stored attributes.
    /// - Throws: 134060 for a value that names no property.
    init(_ properties: [Any]?, _ info: EntityInfo, _ context: NSManagedObjectContext) throws {
        var maker = DictionaryFormMaker(info, context)
        for property in properties ?? info.entity.storedAttributes { try maker.add(property) }
        entity = info.entity
        columns = maker.columns
        entries = maker.entries
        names = maker.names
    }
}

extension Entity {
    /// The names of the stored attributes, composites as one, ancestors' first.
    fileprivate var storedAttributes: [String] {
        var names: [String] = []
        var known: Set<String> = []
        for slot in slots {
            guard let attribute = slot.attribute, !attribute.isTransient else { continue }
            let name = slot.name.prefix { $0 != "." }
            if known.insert(String(name)).inserted { names.append(String(name)) }
        }
        return names
    }
}

/// Makes entries one by one: *name · expression · type*.
private struct DictionaryFormMaker {
    private(set) var columns: [ValueProjection.Column] = []
    private(set) var entries: [String: DictionaryForm.Entry] = [:]
    private(set) var names: [String] = []
    /// The description that each name stands for, nil for a property.
    private var meanings: [String: NSExpressionDescription?] = [:]
    private let info: EntityInfo
    private let context: NSManagedObjectContext

    init(_ info: EntityInfo, _ context: NSManagedObjectContext) {
        self.info = info
        self.context = context
    }

    mutating func add(_ property: Any) throws {
        switch property {
        case let name as String: try add(keyPath: name)
        case let computed as NSExpressionDescription:
            try note(computed.name, computed)
            try add(computed)
        case let description as NSPropertyDescription: try add(keyPath: description.name)
        case let keyPath as AnyKeyPath: try add(keyPath: names(of: keyPath).joined(separator: "."))
        default:
            throw CocoaError.coreData(
                134060,
                "A fetch of \(info.entity.name) names a property by \(type(of: property)). Name properties by text, by key path or by "
                    + "their descriptions.")
        }
    }

    private func names(of keyPath: AnyKeyPath) throws -> [String] {
        do {
            return try KeyPathNames.keys(of: keyPath, in: info, context.runtime)
        } catch {
            throw CocoaError.coreData(134060, "A fetch of \(info.entity.name) names a property by a key path: \(error)")
        }
    }

    /// - Throws: 134060 for a name that already stands for something else.
    private mutating func note(_ name: String, _ meaning: NSExpressionDescription?) throws {
        guard let known = meanings.updateValue(meaning, forKey: name), known !== meaning else { return }
        throw CocoaError.coreData(
            134060,
            "A fetch of \(info.entity.name) has two entries of the name “\(name)” for a dictionary, which can hold one. Name the computed one otherwise."
        )
    }

    private mutating func add(keyPath name: String) throws {
        try note(name, nil)
        if let composite = info.entity.composites[name] {
            let first = columns.count
            guard add(name, .composite(composite, first)) else { return }
            return columns += composite.slots.map {
                .init(info.entity.slots[$0].name, .keyPath(info.entity.slots[$0].name.parts))
            }
        }
        if add(name, entry(name.parts, .undefinedAttributeType)) { columns.append(.init(name, .keyPath(name.parts))) }
    }

    /// The entry of a property, or of one behind to-ones.
    private func entry(_ path: [String], _ type: NSAttributeType) -> DictionaryForm.Entry {
        let schema = context.runtime.schema
        var (entity, rest) = (info.entity, path[...])
        while case .slot(let slot)? = rest.first.flatMap({ entity.places[$0] }),
            let relationship = entity.slots[slot].relationship
        {
            entity = schema[schema[relationship].destination]
            rest = rest.dropFirst()
        }
        guard type == .undefinedAttributeType || type == .transformableAttributeType,
            case .slot(let slot)? = entity.places[rest.joined(separator: ".")],
            let attribute = entity.slots[slot].attribute, attribute.type == .transformable
        else { return .column(columns.count, type) }
        return .transformable(columns.count, attribute)
    }

    private mutating func add(_ computed: NSExpressionDescription) throws {
        guard let expression = computed.expression, !computed.name.isEmpty else {
            throw CocoaError.coreData(
                134060,
                "A fetch of \(info.entity.name) computes a property “\(computed.name)” that lacks a name or an expression; set both."
            )
        }
        let tree = try context.bridge(expression)
        let type = computed.expressionResultType
        let entry =
            if case .keyPath(let path) = tree { entry(path, type) } else {
                DictionaryForm.Entry.column(columns.count, type)
            }
        if add(computed.name, entry) { columns.append(.init(computed.name, tree)) }
    }

    /// Adds an entry unless one of that name exists; then returns false, as asking twice is no error.
    private mutating func add(_ name: String, _ entry: DictionaryForm.Entry) -> Bool {
        guard entries[name] == nil else { return false }
        entries[name] = entry
        names.append(name)
        return true
    }
}

extension String {
    /// The keys of a key path.
    var parts: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

// MARK: Types

extension NSAttributeType {
    /// Whether values of a column can be converted to this type.
    func holds(_ type: ValueType) -> Bool {
        switch self {
        case .undefinedAttributeType: true
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType, .dateAttributeType:
            type.family == .number
        case .stringAttributeType, .URIAttributeType: type.family == .text
        case .binaryDataAttributeType: type.family == .bytes
        case .UUIDAttributeType: type.family == .identifier
        case .objectIDAttributeType: type.family == .object
        case .transformableAttributeType, .compositeAttributeType: false
        }
    }

    /// Converts a column's value to this type, which `holds` it; nil for a number that 64 bits do not hold.
    func converted(_ value: Value) -> Value? {
        guard value != .null else { return value }
        switch self {
        case .undefinedAttributeType, .binaryDataAttributeType, .UUIDAttributeType, .objectIDAttributeType,
            .transformableAttributeType,
            .compositeAttributeType:
            return value
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            guard let number = AnyNumber(value) else { return value }
            return number.truncated.map { .int($0) }
        case .doubleAttributeType: return AnyNumber(value).map { .double($0.double) } ?? value
        case .floatAttributeType: return AnyNumber(value).map { .double(Double(Float($0.double))) } ?? value
        case .decimalAttributeType: return AnyNumber(value).map { .decimal($0.decimal) } ?? value
        case .booleanAttributeType: return AnyNumber(value).map { .bool($0.double != 0) } ?? value
        case .dateAttributeType: return AnyNumber(value).map { .date($0.double) } ?? value
        case .stringAttributeType: if case .uri(let text) = value { return .text(text) } else { return value }
        case .URIAttributeType: if case .text(let text) = value { return .uri(text) } else { return value }
        }
    }
}
