// Made from the model Clinic: Patient. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Patient {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Patient> {
        NSFetchRequest<Patient>(entityName: "Patient")
    }

    var admitted: Date {
        get { _date(0) ?? .distantPast }
        set { _setDate(0, newValue) }
    }

    var age: Int64 {
        get { _int(1) }
        set { _setInt(1, newValue) }
    }

    var name: String {
        get { _text(3) ?? "" }
        set { _setText(3, newValue) }
    }

    var note: String? {
        get { _text(4) }
        set { _setText(4, newValue) }
    }

    var photo: Data? {
        get { _data(5) }
        set { _setData(5, newValue) }
    }

    var weight: Double {
        get { _double(6) }
        set { _setDouble(6, newValue) }
    }

    var injury: Injury? {
        get { _target(2) }
        set { _setToOne(2, newValue) }
    }
}
