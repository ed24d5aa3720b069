// Keys that the entity lacks: those that the class answers, and the message for all others.

import CoreDataFoundation
import CoreDataValues
import Foundation

extension NSManagedObject {
    /// The value of a key that the entity lacks: a property of every managed object, an additional key of the class, or
    /// a stored property.
    final func undefinedValue(_ key: String) -> Any? {
        switch key {
        case "objectID": return objectID
        case "entity": return entity
        case "managedObjectContext": return managedObjectContext
        case "isInserted", "inserted": return isInserted
        case "isUpdated", "updated": return isUpdated
        case "isDeleted", "deleted": return isDeleted
        case "isFault", "fault": return isFault
        case "hasChanges": return hasChanges
        case "faultingState": return faultingState
        case "self": return self
        case "description": return description
        default: break
        }
        if let keyPath = AdditionalKeys.of(type(of: self))[key] { return additionalValue(keyPath) }
        guard let found = KeyValue.storedProperty(of: self, key) else { return missingValue(key) }
        return found.value
    }

    /// An unknown key is nil for predicates, and for the reading that finds a key path's name; else it ends the
    /// process.
    private func missingValue(_ key: String) -> Any? {
        if _state.has(.predicated) { return nil }
        guard let reading = keyPathReading else { refuse(key) }
        reading.note(unknown: key)
        return nil
    }

    package final func valueIfKnown(forKey key: String) -> Any? {
        place(of: key) != nil || _state.has(.predicated) ? value(forKey: key) : valueOfOtherKey(key)
    }

    @inline(never)
    private func valueOfOtherKey(_ key: String) -> Any? {
        _state.set(.predicated)
        defer { _state.clear(.predicated) }
        return value(forKey: key)
    }

    /// Ends the process, since no property has this key.
    final func refuse(_ key: String) -> Never {
        let name = entity.name ?? ""
        let nearest = NSManagedObject.nearest(to: key, among: _state.info.entity.places.keys)
        misuse(
            "the entity \(name) is not key value coding-compliant for the key \"\(key)\". "
                + (nearest.map { "Did you mean \"\($0)\"?" } ?? "Its keys are in its model."))
    }

    /// The key with the most similar spelling; nil if none is similar.
    private static func nearest(to key: String, among keys: some Collection<String>) -> String? {
        let best = keys.map { (distance(key.lowercased(), $0.lowercased()), $0) }.min { $0 < $1 }
        guard let best, best.0 <= max(2, key.count / 3), best.0 < key.count else { return nil }
        return best.1
    }

    /// How many letters have to be inserted, removed or replaced.
    private static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        var row = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == other ? 0 : 1))
                diagonal = above
            }
        }
        return row[b.count]
    }
}
