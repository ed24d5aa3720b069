// What a writer does in a round.

import CoreData

extension Writer {
    func work() throws {
        let dice = random.below(100)
        switch dice {
        case ..<30: try alive.count > 40 ? deleteOwn() : insert()
        case ..<50: try link()
        case ..<65: try rename()
        case ..<85: try isRetrying ? add() : link()
        case ..<91: try isRetrying ? deleteOthers() : rename()
        default: try fault()
        }
    }

    // MARK: Rounds

    private func insert() throws {
        count("insert")
        for name in newNames(3) {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            var state = ItemState(amount: random.below(1000), note: "made by \(number)", counter: nil, tags: [])
            item.setValue(name.owner, forKey: "owner")
            item.setValue(name.serial, forKey: "serial")
            item.setValue(state.amount, forKey: "amount")
            item.setValue(state.note, forKey: "note")
            try link(item, &state)
            pending.items[name] = state
        }
    }

    /// Other counters and tags for own items.
    private func link() throws {
        count("link")
        for (name, item) in try ownItems(2) {
            guard var state = committed.items[name] else { continue }
            try link(item, &state)
            pending.items[name] = state
        }
    }

    private func link(_ item: NSManagedObject, _ state: inout ItemState) throws {
        let counter = random.below(8) == 0 ? nil : random.below(StressModel.shared)
        item.setValue(try counter.map { try shared("Counter", $0) }, forKey: "counter")
        state.counter = counter
        state.tags = Set((0..<random.below(3)).map { _ in random.below(StressModel.shared) })
        let tags = item.mutableSetValue(forKey: "tags")
        for tag in item.related("tags") where !state.tags.contains(tag.number("number")) { tags.remove(tag) }
        for tag in state.tags { tags.add(try shared("Tag", tag)) }
    }

    /// Another note for own items.
    private func rename() throws {
        count("rename")
        for (name, item) in try ownItems(3) {
            guard var state = committed.items[name] else { continue }
            state.note = "round \(saves) of \(number)"
            item.setValue(state.note, forKey: "note")
            pending.items[name] = state
        }
    }

    /// Adds to counters, and to items of any retrying writer.
    private func add() throws {
        count("add")
        for _ in 0..<2 {
            let (number, more) = (random.below(StressModel.shared), 1 + random.below(9))
            let counter = try shared("Counter", number)
            counter.setValue(counter.number("value") + more, forKey: "value")
            pending.values[number, default: 0] += more
        }
        for item in try items(of: random.below(Writer.retrying), 2) {
            let name = item.itemName
            guard name.owner >= 0 else { continue }
            let more = 1 + random.below(9)
            item.setValue(item.number("amount") + more, forKey: "amount")
            pending.amounts[name, default: 0] += more
        }
    }

    private func deleteOwn() throws {
        count("delete")
        for (name, item) in try ownItems(5) {
            context.delete(item)
            pending.deleted.insert(name)
        }
    }

    /// Deletes what another retrying writer has made.
    private func deleteOthers() throws {
        count("delete")
        let other = (number + 1 + random.below(Writer.retrying - 1)) % Writer.retrying
        for item in try items(of: other, 1) {
            let name = item.itemName
            guard name.owner >= 0 else { continue }
            context.delete(item)
            pending.deleted.insert(name)
        }
    }

    /// Lets objects go back to the store, and reads them again.
    private func fault() throws {
        count("fault")
        let kept = try ownItems(8)
        switch random.below(4) {
        case 0: context.refreshAllObjects()
        case 1: context.reset()
        default: for (_, item) in kept { context.refresh(item, mergeChanges: random.below(2) == 0) }
        }
        let counter = try shared("Counter", random.below(StressModel.shared))
        for item in counter.related("items") { _ = item.itemState }
        _ = try ownItems(8)
    }

    // MARK: Finding

    private func shared(_ entity: String, _ number: Int) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "number == %d", number)
        guard let object = try context.fetch(request).first else {
            throw CocoaError(.coderValueNotFound, userInfo: [NSLocalizedDescriptionKey: "no \(entity) \(number)"])
        }
        return object
    }

    /// Some items of a writer, sorted, from a random place.
    private func items(of owner: Int, _ limit: Int) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "owner == %d", owner)
        request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: random.below(2) == 0)]
        request.fetchOffset = random.below(8)
        request.fetchLimit = limit
        request.returnsObjectsAsFaults = random.below(2) == 0
        return try context.fetch(request)
    }

    /// Own items, which must be as their owner wrote them; those that somebody else has deleted are left out.
    private func ownItems(_ limit: Int) throws -> [(ItemName, NSManagedObject)] {
        guard !alive.isEmpty else { return [] }
        let serials = Set((0..<limit).map { _ in alive[random.below(alive.count)] })
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(
            format: "owner == %d AND serial IN %@", number, serials.map { NSNumber(value: $0) })
        let found = try context.fetch(request)
        let names = Set(found.map(\.itemName.serial))
        for serial in serials.subtracting(names) where !isRetrying { complain("no longer finds its item \(serial)") }
        if names.count < serials.count { alive.removeAll { serials.contains($0) && !names.contains($0) } }
        return try found.compactMap { item in
            let name = item.itemName
            return try isAsCommitted(item, name) ? (name, item) : nil
        }
    }

    /// Whether an own item is as it was committed last; if it is not, somebody must have deleted it meanwhile.
    private func isAsCommitted(_ item: NSManagedObject, _ name: ItemName) throws -> Bool {
        guard let known = committed.items[name] else { return false }
        var shown = item.itemState
        if isRetrying { shown.amount = known.amount }
        if shown == known { return true }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "owner == %d AND serial == %d", name.owner, name.serial)
        if try !isRetrying || context.count(for: request) > 0 {
            complain("reads its item \(name) as \(shown), not \(known)")
        }
        return false
    }
}
