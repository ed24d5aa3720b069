// Made from the model Wards: Ward. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Ward {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Ward> {
        NSFetchRequest<Ward>(entityName: "Ward")
    }

    var floor: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }

    var hospital: Hospital? {
        get { _target(1) }
        set { _setToOne(1, newValue) }
    }

    var visits: Set<Visit> {
        get { _members(0) }
        set { _setToMany(0, newValue) }
    }
}

// MARK: Generated accessors for visits
nonisolated extension Ward {
    func addToVisits(_ value: Visit) { _add([value], toMany: 0) }
    func removeFromVisits(_ value: Visit) { _remove([value], toMany: 0) }
    func addToVisits(_ values: some Sequence<Visit>) { _add(values, toMany: 0) }
    func removeFromVisits(_ values: some Sequence<Visit>) { _remove(values, toMany: 0) }
}
