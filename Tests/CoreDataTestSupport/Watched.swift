// A managed object class that writes down what it is called for.

import Foundation

import CoreData

package final class Watched: NSManagedObject {
    package var calls: [String] = []
    /// Run once by the next `willSave`.
    package var atWillSave: ((Watched) -> Void)?

    package override func awakeFromInsert() {
        super.awakeFromInsert()
        calls.append("awakeFromInsert")
    }

    package override func awakeFromFetch() {
        super.awakeFromFetch()
        calls.append("awakeFromFetch")
    }

    package override func prepareForDeletion() {
        super.prepareForDeletion()
        calls.append("prepareForDeletion")
    }

    package override func willSave() {
        super.willSave()
        calls.append("willSave")
        let body = atWillSave
        atWillSave = nil
        body?(self)
    }

    package override func didSave() {
        super.didSave()
        calls.append("didSave")
    }

    package override func validateForInsert() throws {
        calls.append("validateForInsert")
        try super.validateForInsert()
    }

    package override func validateForUpdate() throws {
        calls.append("validateForUpdate")
        try super.validateForUpdate()
    }

    package override func validateForDelete() throws {
        calls.append("validateForDelete")
        try super.validateForDelete()
    }

    /// The clinic with this class for patients, under the name given.
    package static func model(_ name: String = "CoreDataTestSupport.Watched") -> NSManagedObjectModel {
        var draft = Clinic.draft()
        draft.entities[0].className = name
        return NSManagedObjectModel(draft: draft)
    }
}
