// Made from the model Casualties: Casualty. Made again when the model changes; do not edit.

import CoreData

nonisolated extension Casualty {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Casualty> {
        NSFetchRequest<Casualty>(entityName: "Casualty")
    }

    var name: String {
        get { _text(0) ?? "" }
        set { _setText(0, newValue) }
    }

    var injuries: Set<Burn> {
        get { _members(0) }
        set { _setToMany(0, newValue) }
    }

    var station: Station? {
        get { _target(1) }
        set { _setToOne(1, newValue) }
    }
}

// MARK: Generated accessors for injuries
nonisolated extension Casualty {
    func addToInjuries(_ value: Burn) { _add([value], toMany: 0) }
    func removeFromInjuries(_ value: Burn) { _remove([value], toMany: 0) }
    func addToInjuries(_ values: some Sequence<Burn>) { _add(values, toMany: 0) }
    func removeFromInjuries(_ values: some Sequence<Burn>) { _remove(values, toMany: 0) }
}
