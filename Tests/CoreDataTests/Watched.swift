// A managed object class that writes down what it is called for.

import Foundation

@testable import CoreData

final class Watched: NSManagedObject {
    var calls: [String] = []
    /// Run once by the next `willSave`.
    var atWillSave: ((Watched) -> Void)?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        calls.append("awakeFromInsert")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        calls.append("awakeFromFetch")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        calls.append("prepareForDeletion")
    }

    override func willSave() {
        super.willSave()
        calls.append("willSave")
        let body = atWillSave
        atWillSave = nil
        body?(self)
    }

    override func didSave() {
        super.didSave()
        calls.append("didSave")
    }

    override func validateForInsert() throws {
        calls.append("validateForInsert")
        try super.validateForInsert()
    }

    override func validateForUpdate() throws {
        calls.append("validateForUpdate")
        try super.validateForUpdate()
    }

    override func validateForDelete() throws {
        calls.append("validateForDelete")
        try super.validateForDelete()
    }

    /// The clinic with this class for patients, under the name given.
    static func model(_ name: String = "CoreDataTests.Watched") -> NSManagedObjectModel {
        var draft = Clinic.draft()
        draft.entities[0].className = name
        return NSManagedObjectModel(draft: draft)
    }
}
