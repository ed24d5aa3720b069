// Made from the model Wards: Hospital. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Hospital {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Hospital> {
        NSFetchRequest<Hospital>(entityName: "Hospital")
    }

    var city: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }

    var wards: Set<Ward> {
        get { _members(0) }
        set { _setToMany(0, newValue) }
    }
}

// MARK: Generated accessors for wards
nonisolated extension Hospital {
    func addToWards(_ value: Ward) { _add([value], toMany: 0) }
    func removeFromWards(_ value: Ward) { _remove([value], toMany: 0) }
    func addToWards(_ values: some Sequence<Ward>) { _add(values, toMany: 0) }
    func removeFromWards(_ values: some Sequence<Ward>) { _remove(values, toMany: 0) }
}
