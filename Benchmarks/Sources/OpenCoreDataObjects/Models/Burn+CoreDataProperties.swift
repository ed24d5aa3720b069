// Made from the model Casualties: Burn. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Burn {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Burn> {
        NSFetchRequest<Burn>(entityName: "Burn")
    }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }

    var casualties: Set<Casualty> {
        get { _members(0) }
        set { _setToMany(0, newValue) }
    }
}

// MARK: Generated accessors for casualties
nonisolated extension Burn {
    func addToCasualties(_ value: Casualty) { _add([value], toMany: 0) }
    func removeFromCasualties(_ value: Casualty) { _remove([value], toMany: 0) }
    func addToCasualties(_ values: some Sequence<Casualty>) { _add(values, toMany: 0) }
    func removeFromCasualties(_ values: some Sequence<Casualty>) { _remove(values, toMany: 0) }
}
