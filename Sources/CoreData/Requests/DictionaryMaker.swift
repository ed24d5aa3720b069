// The dictionaries that a fetch answers.

import CoreDataValues
import Foundation

/// Makes dictionaries of rows of values. They are plain ones, since Foundation copies a dictionary into a Swift one without asking a subclass.
struct DictionaryMaker {
    private let form: DictionaryForm
    private let names: [NSString]
    private let entries: [DictionaryForm.Entry]
    private let identities: StoreIdentities?
    private let runtime: ModelRuntime
    /// Whose rows keys name.
    private let store: UInt16

    init(_ form: DictionaryForm, _ context: NSManagedObjectContext, store: UInt16) {
        self.form = form
        self.store = store
        names = form.names.map { NSString(string: $0) }
        entries = form.names.compactMap { form.entries[$0] }
        identities = context.identities
        runtime = context.runtime
    }

    /// What the store has no value for has no entry.
    func dictionary(_ rows: ValueRows, row: Int) throws -> NSDictionary {
        var keys: [NSObject] = []
        var values: [Any] = []
        keys.reserveCapacity(names.count)
        values.reserveCapacity(names.count)
        for (name, entry) in zip(names, entries) {
            guard let value = try value(entry, rows, row) else { continue }
            keys.append(name)
            values.append(value)
        }
        return NSDictionary(objects: values, forKeys: keys)
    }

    private func value(_ entry: DictionaryForm.Entry, _ rows: ValueRows, _ row: Int) throws -> Any? {
        switch entry {
        case .column(let column, let type): return object(type.converted(rows.value(row: row, column: column)))
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
