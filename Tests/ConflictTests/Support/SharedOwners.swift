// Two writers who share owners: wards and doctors that both give patients to.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// The clinic with other rules for the patients of a ward.
func clinic(
    ordered: Bool = false, rule: DeleteRule = .nullify, min: Int = 0, max: Int = 0, oneWay: Bool = false
) -> SchemaDraft {
    var draft = ordered ? Clinic.orderedDraft() : Clinic.draft()
    for entity in draft.entities.indices where draft.entities[entity].name == "Ward" {
        draft.entities[entity].relationships[0].deleteRule = rule
        draft.entities[entity].relationships[0].minCount = min
        draft.entities[entity].relationships[0].maxCount = max
        if oneWay {
            draft.entities[entity].relationships.append(Clinic.toMany("stock", "Badge", inverse: nil))
        }
    }
    return draft
}

extension Rivalry {
    /// The library's own stores; programs' stores compare as Core Data does.
    static let touching = allCases.filter { $0 != .box && $0 != .shelf }
    static let foreign: [Rivalry] = [.box, .shelf]
}

extension NSManagedObjectContext {
    /// The object of a name, looked for anew.
    func named(_ name: String, _ entity: String = "Ward") throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", argumentArray: [name])
        return try #require(try fetch(request).first)
    }

    /// Saves a new patient of a ward.
    func admit(_ name: String, _ ward: String = "North") throws {
        _ = make("Patient", ["name": name, "ward": try named(ward)])
        try save()
    }
}

extension Rivals {
    /// Rivals with two wards and two doctors, which nobody holds.
    static func shared(_ rivalry: Rivalry, _ draft: SchemaDraft = clinic()) throws -> Rivals {
        let rivals = try Rivals(rivalry, draft: draft)
        for name in ["North", "South"] { _ = rivals.mine.make("Ward", ["name": name]) }
        for name in ["Ida", "Jo"] { _ = rivals.mine.make("Doctor", ["name": name]) }
        try rivals.mine.save()
        return rivals
    }
}
