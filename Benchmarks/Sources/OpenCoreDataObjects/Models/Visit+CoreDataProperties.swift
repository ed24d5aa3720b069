// Made from the model Wards: Visit. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Visit {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Visit> {
        NSFetchRequest<Visit>(entityName: "Visit")
    }

    var age: Int64 {
        get { _int(0) }
        set { _setInt(0, newValue) }
    }

    var name: String {
        get { _text(1) ?? "" }
        set { _setText(1, newValue) }
    }

    var ward: Ward? {
        get { _target(2) }
        set { _setToOne(2, newValue) }
    }
}
