// Made from the model Wards: its classes. Made again when the model changes; do not edit.

import CoreData

nonisolated enum _WardsClasses {
    nonisolated final class _CoreDataGenerated: _GeneratedClasses {
        override class var classes: [_GeneratedClass] {
            [
                _GeneratedClass(Hospital.self, named: "Hospital") {
                    [
                        "city:text",
                        "wards:toMany",
                    ]
                },
                _GeneratedClass(Visit.self, named: "Visit") {
                    [
                        "age:int",
                        "name:text",
                        "ward:toOne",
                    ]
                },
                _GeneratedClass(Ward.self, named: "Ward") {
                    [
                        "floor:int",
                        "hospital:toOne",
                        "visits:toMany",
                    ]
                },
            ]
        }
    }
}
