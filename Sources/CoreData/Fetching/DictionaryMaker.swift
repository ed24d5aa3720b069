// Makes the dictionaries of a fetch.

import CoreDataValues
import Foundation

/// Makes dictionaries of rows of values: plain ones, which Foundation copies into Swift ones without asking a subclass.
struct DictionaryMaker {
    private let form: DictionaryForm
    private let names: [NSString]
    private let entries: [DictionaryForm.Entry]
    private let identities: StoreIdentities?
    private let runtime: ModelRuntime
    /// The store whose rows the keys name.
    private let store: UInt16
    /// Whether all values are numbers and texts.
    private let isPlain: Bool
    /// What Swift dictionaries are copies of, and the places in it of the entries' values, so that no name is hashed for a row.
    private let template: [String: Any]
    private let places: [Dictionary<String, Any>.Index]

    /// - Parameter columns: the columns of the rows.
    init(_ form: DictionaryForm, _ context: NSManagedObjectContext, store: UInt16, _ columns: [ValueColumn]) {
        self.form = form
        self.store = store
        names = form.names.map { NSString(string: $0) }
        let entries = form.names.compactMap { form.entries[$0] }
        self.entries = entries
        isPlain = entries.allSatisfy { entry in
            guard case .column(let column, let type) = entry else { return false }
            return type.isPlain && columns[column].type.isPlain
        }
        let template = [String: Any](form.names.map { ($0, 0) }) { first, _ in first }
        self.template = template
        places = form.names.compactMap { template.index(forKey: $0) }
        identities = context.identities
        runtime = context.runtime
    }

    /// Returns the dictionary of a row; null values have no entry.
    func dictionary(_ rows: ValueRows, row: Int) throws -> NSDictionary {
        if isPlain { return try plain(rows, row) }
        var keys: [NSObject] = []
        var values: [Any] = []
        keys.reserveCapacity(names.count)
        values.reserveCapacity(names.count)
        for (place, entry) in entries.enumerated() {
            guard let value = try value(entry, rows, row, place) else { continue }
            keys.append(names[place])
            values.append(value)
        }
        return NSDictionary(objects: values, forKeys: keys)
    }

    /// The same as a Swift dictionary.
    func values(_ rows: ValueRows, row: Int) throws -> [String: Any] {
        var values = template
        var nulls: [Int] = []
        for (place, entry) in entries.enumerated() {
            if let value = try value(entry, rows, row, place) {
                values.values[places[place]] = value
            } else {
                nulls.append(place)
            }
        }
        // Removing moves other entries to other places.
        for place in nulls { values[form.names[place]] = nil }
        return values
    }

    /// Makes a dictionary of numbers and texts without the casts by which Foundation makes objects of any value.
    private func plain(_ rows: ValueRows, _ row: Int) throws -> NSDictionary {
        try withUnsafeTemporaryAllocation(of: NSObject.self, capacity: 2 * entries.count) { objects in
            let values = UnsafeMutableBufferPointer(rebasing: objects[entries.count...])
            var count = 0
            defer {
                objects[..<count].deinitialize()
                values[..<count].deinitialize()
            }
            for (place, entry) in entries.enumerated() {
                guard case .column(let column, let type) = entry else { continue }
                let found = rows.value(row: row, column: column)
                guard let value = type.converted(found) else { throw tooLarge(found, type, place) }
                guard let object = DictionaryMaker.plain(value) else { continue }
                objects.initializeElement(at: count, to: names[place])
                values.initializeElement(at: count, to: object)
                count += 1
            }
            guard let keys = objects.baseAddress, let first = values.baseAddress else { return NSDictionary() }
            return first.withMemoryRebound(to: AnyObject.self, capacity: count) {
                NSDictionary(objects: $0, forKeys: keys, count: count)
            }
        }
    }

    /// The object of a number or text; nil for null.
    private static func plain(_ value: Value) -> NSObject? {
        switch value {
        case .bool(let flag): NSNumber(value: flag)
        case .int(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .text(let text): NSString(string: text)
        case .null, .date, .data, .uuid, .uri, .key: nil
        }
    }

    @inline(never)
    private func tooLarge(_ value: Value, _ type: NSAttributeType, _ place: Int) -> CocoaError {
        let found = value.object.map { "\($0)" } ?? "nil"
        return .coreData(
            134060,
            "The entry “\(form.names[place])” of a dictionary is declared as \(type.schemaType.modelName), and a value of it is \(found), "
                + "which 64 bits do not hold. Give its description the expressionResultType Double.")
    }

    private func value(_ entry: DictionaryForm.Entry, _ rows: ValueRows, _ row: Int, _ place: Int) throws -> Any? {
        switch entry {
        case .column(let column, let type):
            let found = rows.value(row: row, column: column)
            guard let value = type.converted(found) else { throw tooLarge(found, type, place) }
            return object(value)
        case .transformable(let column, let attribute):
            guard case .data(let data) = rows.value(row: row, column: column) else { return nil }
            return try Transformation(attribute, of: form.entity.name).value(of: data)
        case .composite(let composite, let first):
            return dictionary(composite) { slot in
                composite.slots.firstIndex(of: slot).flatMap { object(rows.value(row: row, column: first + $0)) }
            }
        }
    }

    private func object(_ value: Value) -> Any? {
        guard case .key(let key) = value else { return value.object }
        return NSManagedObjectID(
            key: ObjectKey(number: key.number, entity: key.entity, store: store), identity: identities,
            info: runtime.infos[key.entity.value])
    }

    private func dictionary(_ composite: CompositePlace, _ value: (Int) -> Any?) -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in composite.elements {
            switch element.content {
            case .slot(let slot): values[element.name] = value(slot)
            case .composite(let inner): values[element.name] = dictionary(inner, value)
            }
        }
        return values.isEmpty ? nil : values
    }
}

extension ValueType {
    fileprivate var isPlain: Bool {
        switch self {
        case .int, .bool, .double, .float, .decimal, .text: true
        case .date, .uri, .data, .uuid, .key: false
        }
    }
}

extension NSAttributeType {
    /// Whether numbers and texts stay such when converted to the type.
    fileprivate var isPlain: Bool {
        switch self {
        case .dateAttributeType, .URIAttributeType: false
        case .undefinedAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .stringAttributeType, .booleanAttributeType,
            .binaryDataAttributeType,
            .UUIDAttributeType, .objectIDAttributeType, .transformableAttributeType, .compositeAttributeType:
            true
        }
    }
}
