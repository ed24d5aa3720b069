// Made from the model Clinic: Injury. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Injury {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Injury> {
        NSFetchRequest<Injury>(entityName: "Injury")
    }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }

    var patients: Set<Patient> {
        get { _members(0) }
        set { _setToMany(0, newValue) }
    }
}

// MARK: Generated accessors for patients
nonisolated extension Injury {
    func addToPatients(_ value: Patient) { _add([value], toMany: 0) }
    func removeFromPatients(_ value: Patient) { _remove([value], toMany: 0) }
    func addToPatients(_ values: some Sequence<Patient>) { _add(values, toMany: 0) }
    func removeFromPatients(_ values: some Sequence<Patient>) { _remove(values, toMany: 0) }
}
