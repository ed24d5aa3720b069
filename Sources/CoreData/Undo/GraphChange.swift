// What an undo has to know of each write.

import CoreDataValues
import Foundation

/// One write, with what was there before. It holds its objects until the undo stack drops it.
enum GraphChange {
    /// The object was inserted (true) or deleted (false).
    case existence(NSManagedObject, appeared: Bool)
    /// A deletion was taken back.
    case revival(NSManagedObject)
    case attribute(NSManagedObject, slot: Int32, old: FormerValue)
    case target(NSManagedObject, slot: Int32, old: NSManagedObject?)
    /// A pair was made (true) or ended in a to-many whose inverse is not a to-one.
    case link(NSManagedObject, toMany: Int32, member: NSManagedObject, added: Bool)
    /// A member left its place in an ordered to-many, or is about to.
    case position(NSManagedObject, toMany: Int32, member: NSManagedObject, index: Int)
    /// The order of all members before they were rearranged.
    case order(NSManagedObject, toMany: Int32, old: ContiguousArray<NSManagedObject>)

    /// The object that was written.
    var subject: NSManagedObject {
        switch self {
        case .existence(let object, _), .revival(let object), .attribute(let object, _, _), .target(let object, _, _),
            .link(let object, _, _, _), .position(let object, _, _, _), .order(let object, _, _):
            object
        }
    }

    func isDeletion(of object: NSManagedObject) -> Bool {
        if case .existence(let gone, appeared: false) = self { gone === object } else { false }
    }
}
