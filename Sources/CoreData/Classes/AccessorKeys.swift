// The slots that a class's accessors assume, from `_managedKeys` or from generated code.

import CoreDataValues
import Foundation

/// The slots that a class's accessors assume, from `_managedKeys` or from generated code.
struct AccessorKeys {
    /// One entry for each slot; without an accessor if the class gives only the name.
    private var slots: [(name: String, accessor: String?)] = []
    private(set) var toManys: [String] = []

    /// nil for a class whose accessors use keys.
    init?(of type: NSManagedObject.Type) {
        // A subclass's list begins with its parent's, so the longer list is that of the nearer class.
        let (said, made) = (type._managedKeys, GeneratedClasses.keys(of: type))
        guard let keys = (said?.count ?? -1) >= (made?.count ?? -1) ? said : made else { return nil }
        self.init(keys)
    }

    init(_ keys: [String]) {
        for key in keys {
            let parts = key.split(separator: ":", maxSplits: 1).map(String.init)
            if parts.count == 2, parts[1] == "toMany" {
                toManys.append(parts[0])
            } else {
                slots.append((parts.first ?? "", parts.count == 2 ? parts[1] : nil))
            }
        }
    }

    /// Whether the entity has all slots and to-manys at the class's places.
    func fit(_ entity: Entity) -> Bool {
        slots.count <= entity.slots.count
            && zip(slots, entity.slots).allSatisfy { $0.name == $1.name && fits($0.accessor, $1) }
            && toManyPlaces(of: entity) == Array(toManys.indices)
    }

    /// Whether the entity has these slots and to-manys and no others.
    func describe(_ entity: Entity) -> Bool {
        slots.count == entity.slots.count && toManys.count == entity.toMany.count && fit(entity)
    }

    func slots(of entity: Entity) -> [Int] {
        slots.map { key in entity.slots.firstIndex { $0.name == key.name && fits(key.accessor, $0) } ?? -1 }
    }

    func toManyPlaces(of entity: Entity) -> [Int] {
        toManys.map { name in
            if case .toMany(let index)? = entity.places[name] { index } else { -1 }
        }
    }

    private func fits(_ accessor: String?, _ slot: Slot) -> Bool { accessor.map { $0 == slot.kind.accessor } ?? true }
}
