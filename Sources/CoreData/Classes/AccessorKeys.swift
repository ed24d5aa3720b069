// What a class says of its accessors, by `_managedKeys` or in the code that was generated with it.

import CoreDataValues
import Foundation

/// What a class says of its accessors, by `_managedKeys` or in the code that was generated with it.
struct AccessorKeys {
    /// One a slot; no accessor where the class says the name alone.
    private var slots: [(name: String, accessor: String?)] = []
    private(set) var toManys: [String] = []

    /// nil for a class whose accessors use keys.
    init?(of type: NSManagedObject.Type) {
        // A subclass's accessors begin with its parent's: whoever says more says it of a class that is nearer.
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

    /// Whether everything is where the class looks for it.
    func fit(_ entity: Entity) -> Bool {
        slots.count <= entity.slots.count
            && zip(slots, entity.slots).allSatisfy { $0.name == $1.name && fits($0.accessor, $1) }
            && toManyPlaces(of: entity) == Array(toManys.indices)
    }

    /// Whether they are an entity's, all of them and no others.
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
