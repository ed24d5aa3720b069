// What a transaction did to one object.

import CoreDataFoundation
import CoreDataValues
import Foundation

public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// One object that a transaction inserted, updated or deleted. Immutable; may be passed between threads.
open class NSPersistentHistoryChange: NSObject, NSCopying, KeyValueCoding, @unchecked Sendable {
    final let origin: HistoryOrigin
    final let record: HistoryChange

    init(_ origin: HistoryOrigin, _ record: HistoryChange) {
        self.origin = origin
        self.record = record
        super.init()
    }

    private var info: EntityInfo { origin.runtime.infos[record.key.entity.value] }

    /// Unique in the history of one store.
    open var changeID: Int64 { record.number }

    /// The object; made on each call.
    open var changedObjectID: NSManagedObjectID {
        NSManagedObjectID(
            key: ObjectKey(number: record.key.number, entity: record.key.entity, store: origin.store),
            identity: origin.identities, info: info)
    }

    open var changeType: NSPersistentHistoryChangeType {
        switch record.kind {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
    }

    /// The values that a deleted object leaves behind, of attributes that are preserved after deletion; nil for other changes, and where
    /// there are none. A value that lay in a file of its own has gone with that, and is not there either.
    open var tombstone: [AnyHashable: Any]? {
        guard record.kind == .delete, !record.tombstone.isEmpty else { return nil }
        var values: [AnyHashable: Any] = [:]
        for (slot, value) in record.tombstone {
            if let object = object(value, info, slot) { values[info.entity.slots[slot].name] = object }
        }
        return values.isEmpty ? nil : values
    }

    /// nil for a transformable value that its transformer refuses.
    private func object(_ value: Value, _ info: EntityInfo, _ slot: Int) -> Any? {
        guard info.entity.slots[slot].kind == .transformable, case .data(let data) = value else { return value.object }
        return try? Transformation(info, slot)?.value(of: data)
    }

    /// The properties that an update changed, relationships of both kinds among them; nil for other changes.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard record.kind == .update else { return nil }
        let properties = info.description.propertiesByName
        // An element of a composite is a change of the whole.
        let names =
            record.slots.map { info.entity.slots[$0].name.prefix { $0 != "." } }
            + record.relationships.map { origin.runtime.schema[$0].name[...] }
        return Set(names.compactMap { properties[String($0)] })
    }

    /// Its properties by name, as predicates over changes that were read ask for them, the type as a number; nil for another key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "changeID": changeID
        case "changedObjectID": changedObjectID
        case "changeType": changeType.rawValue
        case "tombstone": tombstone
        case "updatedProperties": updatedProperties
        case "transaction": transaction
        default: nil
        }
    }

    open func setValue(_ value: Any?, forKey key: String) {
        misuse("The \(key) of a change was set; a history is only read.")
    }

    /// The transaction that it is part of.
    open var transaction: NSPersistentHistoryTransaction? {
        origin.transaction ?? NSPersistentHistoryTransaction(origin, nil)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return changeID == other.changeID && origin.storeID == other.origin.storeID
    }

    open override var hash: Int { changeID.hashValue }

    open override var description: String {
        let names = (updatedProperties ?? []).map(\.name).sorted().joined(separator: ", ")
        return
            "<NSPersistentHistoryChange: \(changeID) \(record.kind) \(changedObjectID)\(names.isEmpty ? "" : " (\(names))")>"
    }
}
