// A managed object class and an entity: how objects of the class are made, and where its accessors find their values.

import CoreDataValues
import Foundation

/// A managed object class bound to an entity.
final class ClassBinding: @unchecked Sendable {
    let type: NSManagedObject.Type
    /// The class's slot numbers translated to the entity's, -1 where it has nothing that fits; nil when reads may go straight to a slot.
    let slots: [Int]?
    /// The same for the numbers of its to-manys; nil for a class that does not name them.
    let toManys: [Int]?
    /// Whether the class leaves `awakeFromFetch` as it is, so that calling it can be spared.
    let sleepsThroughFetch: Bool
    /// Whether the class checks single values by itself.
    let validatesByKey: Bool
    /// Whether the class checks changed objects by itself.
    let validatesUpdates: Bool
    /// Whether the class answers for keys as `NSManagedObject` does.
    let readsAsUsual: Bool
    /// Whether the class takes values by key as `NSManagedObject` does.
    let writesAsUsual: Bool
    /// How objects of a subclass are made; nil for `NSManagedObject` itself.
    let initializer: ClassInitializer?

    init(_ type: NSManagedObject.Type, for entity: Entity) {
        self.type = type
        initializer = type == NSManagedObject.self ? nil : ClassInitializer(type)
        sleepsThroughFetch = ManagedObjectClasses.inheritsAwakeFromFetch(type)
        validatesByKey = !ManagedObjectClasses.inheritsValidation(type)
        validatesUpdates = !ManagedObjectClasses.inheritsUpdateValidation(type)
        readsAsUsual = ManagedObjectClasses.inheritsReading(type)
        writesAsUsual = ManagedObjectClasses.inheritsWriting(type)
        guard let keys = AccessorKeys(of: type) else {
            slots = nil
            toManys = nil
            return
        }
        let isStale = !keys.fit(entity)
        if isStale { misplaced(type, entity.name) }
        // Defaults of transient attributes stand in no row, so reads may not go straight there.
        let goesAround = isStale || entity.hasTransientDefaults
        slots = goesAround ? keys.slots(of: entity) : nil
        toManys = goesAround && !keys.toManys.isEmpty ? keys.toManyPlaces(of: entity) : nil
    }

    /// The class, if its accessors may go straight to their slots.
    var straightClass: UnsafeRawPointer? { slots == nil ? unsafeBitCast(type, to: UnsafeRawPointer.self) : nil }

    @inline(__always)
    func make(_ description: NSEntityDescription) -> NSManagedObject {
        guard let initializer else { return NSManagedObject(entity: description, insertInto: nil) }
        return initializer.make(description)
    }
}

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

private func misplaced(_ type: NSManagedObject.Type, _ entity: String) {
    warn(
        "\(type) was made for other properties than the model's entity \(entity) has; "
            + "its accessors go by name, which is slower. Generate it again.")
}
