// Compares what a context shows with what was committed.

import CoreData

struct Comparison {
    private let expected: [ItemName: ItemState]
    private let ledger: Ledger
    private(set) var complaints: [String] = []

    init(_ ledger: Ledger) {
        self.ledger = ledger
        expected = ledger.remaining
        for name in ledger.deletedTwice { complaints.append("two commits deleted the item \(name)") }
    }

    /// On the context's queue. Reads all that there is.
    mutating func check(_ context: NSManagedObjectContext, _ place: String) throws {
        var seen: Set<ItemName> = []
        for item in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) {
            let name = item.itemName
            if !seen.insert(name).inserted { complain(place, "has the item \(name) twice") }
            guard let state = expected[name] else {
                complain(place, "has the item \(name), which was deleted or never committed")
                continue
            }
            if item.itemState != state { complain(place, "has the item \(name) as \(item.itemState), not \(state)") }
        }
        for name in expected.keys where !seen.contains(name) { complain(place, "lacks the item \(name)") }
        try checkShared(context, place)
    }

    /// The other ends: counters and tags, each with its members.
    private mutating func checkShared(_ context: NSManagedObjectContext, _ place: String) throws {
        var ofCounters: [Int: Set<ItemName>] = [:]
        var ofTags: [Int: Set<ItemName>] = [:]
        for (name, state) in expected {
            if let counter = state.counter { ofCounters[counter, default: []].insert(name) }
            for tag in state.tags { ofTags[tag, default: []].insert(name) }
        }
        for counter in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter")) {
            let number = counter.number("number")
            let value = counter.number("value")
            let sum = ledger.values[number] ?? 0
            if value != sum { complain(place, "has the counter \(number) at \(value), not \(sum)") }
            if counter.memberNames != ofCounters[number] ?? [] {
                complain(place, "has other items of the counter \(number) than were committed")
            }
        }
        for tag in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")) {
            let number = tag.number("number")
            if tag.memberNames != ofTags[number] ?? [] {
                complain(place, "has other items of the tag \(number) than were committed")
            }
        }
    }

    private mutating func complain(_ place: String, _ sentence: String) {
        complaints.append("\(place) \(sentence)")
    }
}

extension NSManagedObject {
    func number(_ key: String) -> Int {
        (value(forKey: key) as? NSNumber)?.intValue ?? value(forKey: key) as? Int ?? -1
    }

    func related(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }

    var itemName: ItemName { ItemName(owner: number("owner"), serial: number("serial")) }

    var memberNames: Set<ItemName> { Set(related("items").map(\.itemName)) }

    var itemState: ItemState {
        ItemState(
            amount: number("amount"), note: value(forKey: "note") as? String ?? "",
            counter: (value(forKey: "counter") as? NSManagedObject)?.number("number"),
            tags: Set(related("tags").map { $0.number("number") }))
    }
}
