// Made from the model Clinic: its classes. Made again when the model changes; do not edit.

import CoreData

nonisolated enum _ClinicClasses {
    nonisolated final class _CoreDataGenerated: _GeneratedClasses {
        override class var classes: [_GeneratedClass] {
            [
                _GeneratedClass(Injury.self, named: "Injury") {
                    [
                        "name:text",
                        "patients:toMany",
                    ]
                },
                _GeneratedClass(Patient.self, named: "Patient") {
                    [
                        "admitted:double",
                        "age:int",
                        "injury:toOne",
                        "name:text",
                        "note:text",
                        "photo:data",
                        "weight:double",
                    ]
                },
            ]
        }
    }
}
