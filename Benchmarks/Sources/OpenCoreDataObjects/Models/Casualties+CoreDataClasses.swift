// Made from the model Casualties: its classes. Made again when the model changes; do not edit.

import CoreData

nonisolated enum _CasualtiesClasses {
    nonisolated final class _CoreDataGenerated: _GeneratedClasses {
        override class var classes: [_GeneratedClass] {
            [
                _GeneratedClass(Burn.self, named: "Burn") {
                    [
                        "name:text",
                        "casualties:toMany",
                    ]
                },
                _GeneratedClass(Casualty.self, named: "Casualty") {
                    [
                        "name:text",
                        "station:toOne",
                        "injuries:toMany",
                    ]
                },
                _GeneratedClass(Station.self, named: "Station") {
                    [
                        "name:text",
                        "casualties:toMany",
                    ]
                },
            ]
        }
    }
}
