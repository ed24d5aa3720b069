// Made from the model Casualties: Station. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Station {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Station> {
        NSFetchRequest<Station>(entityName: "Station")
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
nonisolated extension Station {
    func addToCasualties(_ value: Casualty) { _add([value], toMany: 0) }
    func removeFromCasualties(_ value: Casualty) { _remove([value], toMany: 0) }
    func addToCasualties(_ values: some Sequence<Casualty>) { _add(values, toMany: 0) }
    func removeFromCasualties(_ values: some Sequence<Casualty>) { _remove(values, toMany: 0) }
}
