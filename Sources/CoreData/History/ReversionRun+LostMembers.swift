// Members of to-manys that no change of the transaction names.

import CoreDataValues
import Foundation

/// An owner that is not changed itself loses members all the same: without an inverse, to another owner or because they are deleted; their
/// places, where a batch request deletes or leads them elsewhere.
extension ReversionRun {
    mutating func returnLost() throws {
        for (key, lists) in lost.sorted(by: { ($0.key.entity, $0.key.number) < ($1.key.entity, $1.key.number) }) {
            for index in schema[key.entity].toMany {
                if let cells = lists[schema[index].name] { try returnLost(cells, to: key, schema[index]) }
            }
        }
    }

    private mutating func returnLost(
        _ cells: [FormerCell], to key: RowKey, _ relationship: ResolvedRelationship
    ) throws {
        // Its own change told all members.
        if changesByKey[key]?.contains(where: { $0.kind == .delete || $0.tells(relationship) }) == true { return }
        let since = later[key] ?? []
        guard let owner = try object(key) else {
            // Where there is an inverse, the members' own to-ones name what is gone.
            if relationship.inverse == nil { note(key, [], since.map(\.number)) }
            return
        }
        let guilty = since.filter { $0.change.tells(relationship) }
        if !guilty.isEmpty { return note(key, [relationship.name], guilty.map(\.number)) }
        var list = members(of: owner, relationship)
        let present = Set(list)
        var back: [(member: NSManagedObject, place: Int64?)] = []
        for cell in cells {
            guard let member = try target(cell.value, relationship) else {
                if relationship.inverse == nil { noteGone(key, relationship, cell.value) }
                continue
            }
            let isThere = present.contains(member)
            if relationship.inverse != nil {
                if isThere { back.append((member, cell.place)) }
            } else if !isThere, try !isTaken(member, from: key, relationship) {
                back.append((member, cell.place))
            }
        }
        if back.isEmpty { return }
        let moved = Set(back.map(\.member))
        list.removeAll { moved.contains($0) }
        for (member, place) in back {
            list.insert(member, at: place.map { min(max(0, Int(clamping: $0)), list.count) } ?? list.count)
        }
        owner.setValue(
            relationship.isOrdered ? NSOrderedSet(array: list) : NSSet(array: list), forKey: relationship.name)
    }

    func members(of object: NSManagedObject, _ relationship: ResolvedRelationship) -> [NSManagedObject] {
        let members =
            switch object.value(forKey: relationship.name) {
            case let list as NSOrderedSet: list.array
            case let set as NSSet: set.allObjects
            default: [Any]()
            }
        return members.compactMap { $0 as? NSManagedObject }
    }

    /// Whether somebody has made a member of a to-many without inverse its own since, or may have let go of it; notes that.
    mutating func isTaken(
        _ member: NSManagedObject, from key: RowKey, _ relationship: ResolvedRelationship
    ) throws -> Bool {
        if member._state.has(.inserted) { return false }
        let request = NSFetchRequest<NSManagedObject>(entityName: schema[relationship.owner].name)
        request.predicate = NSPredicate(format: "ANY %K == %@", relationship.name, member)
        if let taker = try context.fetch(request).first(where: { $0.savedKey != key })?.savedKey {
            let own = changesByKey[taker]?.first { mayTake($0, relationship) }
            if let own, since(own, relationship).isEmpty, conflicts[taker] == nil { return false }
            note(key, [relationship.name], because: taker) { $0.kind == .insert || $0.tells(relationship) }
            return true
        }
        // What the transaction gave it to was changed since, perhaps in letting it go.
        let guilty = takers(relationship).filter { $0.key != key }.flatMap { since($0, relationship) }
        if !guilty.isEmpty { note(key, [relationship.name], guilty) }
        return !guilty.isEmpty
    }

    /// Whether a change can have given an object members.
    func mayTake(_ change: HistoryChange, _ relationship: ResolvedRelationship) -> Bool {
        change.tells(relationship)
            || change.kind == .insert && schema[change.key.entity].toMany.contains(relationship.index)
    }

    /// The later transactions because of which such an object keeps its members.
    private func since(_ change: HistoryChange, _ relationship: ResolvedRelationship) -> [Int64] {
        (later[change.key] ?? []).filter { change.kind == .insert || $0.change.tells(relationship) }.map(\.number)
    }
}

extension HistoryChange {
    /// Whether it changed the members of a to-many.
    fileprivate func tells(_ relationship: ResolvedRelationship) -> Bool {
        kind == .update && relationships.contains(relationship.index)
    }
}
