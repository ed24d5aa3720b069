// Random reads, deletions and writes of two writers of the same few rows, of which the first mostly holds nothing between two steps.
// A log of the versions that it was shown tells which deletions must be refused.

import CoreDataSeeds
import CoreDataTestSupport
import CoreDataValues
import Foundation

@testable import CoreData

/// One run of a seed.
final class LastReadWalk {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let stack: Stack
    private let mine: NSManagedObjectContext
    private let theirs: NSManagedObjectContext
    private var random: SplitMix
    private var ids: [NSManagedObjectID] = []
    /// The versions in which the program has last seen rows.
    private var seen: [NSManagedObjectID: Int] = [:]
    private var held: [NSManagedObject] = []
    private var trace: [String] = []
    private(set) var saves = 0
    private(set) var refusals = 0

    init(_ type: String, seed: UInt64) throws {
        stack = try Stack(type, model: NSManagedObjectModel(draft: Hub.draft()), undo: false)
        mine = stack.another()
        theirs = stack.another()
        random = SplitMix(seed)
        for number in 0..<8 { _ = theirs.make("Hub", ["name": "\(number)"]) }
        try theirs.save()
        ids = try theirs.all("Hub").map(\.objectID)
    }

    func run(_ steps: Int) throws {
        for _ in 0..<steps {
            switch random.below(10) {
            case 0..<4: try read()
            case 4..<7: try write()
            case 7: renew()
            case 8: try change()
            default: try delete()
            }
        }
    }

    // MARK: Reads

    private func pick() -> NSManagedObjectID { ids[random.below(ids.count)] }
    private static let keys = ["staff", "ranks", "friends", "likes", "fans", "top", "tops", "mate", "matched", "boss"]

    private func read() throws {
        if random.below(3) == 0 { held = [] }
        guard let object = try get(pick()) else { return }
        switch random.below(3) {
        case 0: break
        case 1: _ = object.value(forKey: "name")
        default:
            let key = LastReadWalk.keys[random.below(LastReadWalk.keys.count)]
            for other in object.hubs(key) {
                if random.below(2) == 0 { _ = other.value(forKey: "name") }
                note(other)
                if random.below(3) == 0 { held.append(other) }
            }
            trace.append("read \(key) of \(number(object.objectID))")
        }
        note(object)
        if random.below(3) == 0 { held.append(object) }
    }

    private func get(_ id: NSManagedObjectID) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>("Hub", "SELF == %@", id)
        let way = random.below(4)
        trace.append("get \(number(id)) by \(way)")
        switch way {
        case 0: return mine.object(with: id)
        case 1: return try? mine.existingObject(with: id)
        case 2: return try mine.fetch(request).first
        default:
            request.includesPropertyValues = false
            return try mine.fetch(request).first
        }
    }

    /// Notes the version of the row that the program has of an object, if it was read for it.
    private func note(_ object: NSManagedObject) {
        guard object._state.pointee.row != nil, !object._state.has([.unseen, .deleted]) else { return }
        if object._state.has(.readIncidentally), object.isFault { return }
        seen[object.objectID] = object.heldVersion
    }

    private func number(_ id: NSManagedObjectID) -> Int { ids.firstIndex(of: id) ?? -1 }

    // MARK: Writes

    /// What the other writer does.
    private func write() throws {
        let others = try theirs.all("Hub")
        guard others.count > 1 else { return }
        let (a, b) = (others[random.below(others.count)], others[random.below(others.count)])
        let key = LastReadWalk.keys[random.below(LastReadWalk.keys.count)]
        trace.append(
            "they write \(random.below(2) == 0 ? "name" : key) of \(number(a.objectID)), \(number(b.objectID))")
        if trace.last?.contains("name") == true {
            a.setValue("theirs \(trace.count)", forKey: "name")
        } else if let way = Hub.ways.first(where: { $0.key == key && $0.writing == .change }) {
            a.write(way, b, isPair: !a.hubs(key).contains(b))
        } else {
            a.setValue(b, forKey: key)
        }
        try theirs.save()
    }

    private func renew() {
        switch random.below(3) {
        case 0:
            trace.append("refresh all")
            mine.refreshAllObjects()
            seen = [:]
        case 1:
            let id = pick()
            trace.append("refresh \(number(id))")
            mine.refresh(mine.object(with: id), mergeChanges: true)
            seen[id] = nil
        default:
            let id = pick()
            trace.append("merge \(number(id))")
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id.uriRepresentation()]], into: [mine])
            seen[id] = nil
        }
    }

    /// A write here, mostly of a row that nobody holds.
    private func change() throws {
        let id = pick()
        guard try stored()[id] != nil else { return }
        trace.append("set name of \(number(id))")
        mine.object(with: id).setValue("mine \(trace.count)", forKey: "name")
        try save([id])
    }

    private func delete() throws {
        let id = pick()
        guard let object = try get(id), try stored()[id] != nil else { return }
        note(object)
        trace.append("delete \(number(id))")
        mine.delete(object)
        try save([id])
    }

    private func stored() throws -> [NSManagedObjectID: Int] {
        let reader = stack.another()
        reader.stalenessInterval = 0
        return Dictionary(uniqueKeysWithValues: try reader.all("Hub").map { ($0.objectID, $0.heldVersion) })
    }

    /// Saves what names some rows, and compares the answer with what was seen of these.
    private func save(_ named: [NSManagedObjectID]) throws {
        let before = try stored()
        let isStale = named.contains { id in seen[id].map { $0 != before[id] } ?? false }
        do {
            try mine.save()
            saves += 1
            if isStale { throw failure("a change of \(named.map(number)) was lost: \(named.map { seen[$0] ?? 0 })") }
            // What was written here was seen so.
            let after = try stored()
            for (id, version) in after where before[id] != version { seen[id] = nil }
            for id in ids where after[id] == nil { seen[id] = nil }
        } catch let error as CocoaError where error.code.rawValue == 133020 {
            refusals += 1
            let refused = error.persistentStoreSaveConflicts?.map(\.sourceObject.objectID) ?? []
            mine.rollback()
            if !refused.contains(where: { id in seen[id].map { $0 != before[id] } ?? true }) {
                throw failure("refused for \(refused.map(number)), which nobody has changed")
            }
            trace.append("refused for \(refused.map(number))")
        }
        held.removeAll { $0.managedObjectContext == nil }
    }

    private func failure(_ text: String) -> Failure {
        Failure(description: text + "\n" + trace.suffix(40).joined(separator: "\n"))
    }
}
