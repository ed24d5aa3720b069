// One event each, and what a delegate is told of it.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// An edit of the list `A: a10 a20 a30 · B: b10 b20 · C: c10`, beside which `h25` is hidden on shelf A.
///
/// `+a15` puts a new thing on a shelf, `-a10` deletes one, `a10=b15` moves one, `a10!` changes its note, `a10#` hides it, `h25^` shows
/// it, `a10?` refreshes it.
struct FetchedEdit: CustomTestStringConvertible {
    let edit: String
    let told: String
    init(_ edit: String, _ told: String) { (self.edit, self.told) = (edit, told) }
    var testDescription: String { edit }

    static let table = [
        // Insertions.
        FetchedEdit("+a05", "+0.0"), FetchedEdit("+a15", "+0.1"), FetchedEdit("+a40", "+0.3"),
        FetchedEdit("+b15", "+1.1"),
        FetchedEdit("+c05", "+2.0"), FetchedEdit("+c20", "+2.1"), FetchedEdit("+d10", "S+3 +3.0"),
        FetchedEdit("+010", "S+0 +0.0"),
        FetchedEdit("+a05 +a06", "+0.0 +0.1"), FetchedEdit("+a06 +a05", "+0.0 +0.1"),
        FetchedEdit("+a05 +b05", "+0.0 +1.0"),
        FetchedEdit("+d10 +d20", "S+3 +3.0 +3.1"), FetchedEdit("+d10 +e10", "S+3 S+4 +3.0 +4.0"),
        FetchedEdit("+010 +d10", "S+0 S+4 +0.0 +4.0"), FetchedEdit("h25^", "+0.2"),
        // Deletions.
        FetchedEdit("-a10", "-0.0"), FetchedEdit("-a20", "-0.1"), FetchedEdit("-a30", "-0.2"),
        FetchedEdit("-c10", "S-2 -2.0"),
        FetchedEdit("-b10 -b20", "S-1 -1.1 -1.0"), FetchedEdit("-a10 -a20", "-0.1 -0.0"),
        FetchedEdit("-a10 -b10", "-1.0 -0.0"),
        FetchedEdit("-a10 -a20 -a30", "S-0 -0.2 -0.1 -0.0"), FetchedEdit("a20#", "-0.1"),
        FetchedEdit("c10#", "S-2 -2.0"),
        FetchedEdit("-a10 -a20 -a30 -b10 -b20 -c10", "S-2 S-1 S-0 -2.0 -1.1 -1.0 -0.2 -0.1 -0.0"),
        // Updates.
        FetchedEdit("a10!", "~0.0"), FetchedEdit("a20!", "~0.1"), FetchedEdit("c10!", "~2.0"),
        FetchedEdit("a10! b20!", "~0.0 ~1.1"),
        FetchedEdit("a10?", "~0.0"), FetchedEdit("a20=a25", "~0.1"), FetchedEdit("a10! a10!", "~0.0"),
        // Moves within a section.
        FetchedEdit("a10=a25", "0.0>0.1"), FetchedEdit("a10=a40", "0.0>0.2"), FetchedEdit("a30=a05", "0.2>0.0"),
        FetchedEdit("a10=a25 a20=a05", "0.1>0.0 ~0.1"), FetchedEdit("a10=a40 a20=a50", "0.0>0.1 0.1>0.2"),
        FetchedEdit("a10=a30 a30=a10", "0.2>0.0 0.0>0.2"), FetchedEdit("b10=b20 b20=b10", "1.1>1.0 ~1.1"),
        // Moves into, out of and across sections.
        FetchedEdit("a10=b05", "0.0>1.0"), FetchedEdit("a10=b15", "0.0>1.1"), FetchedEdit("a10=b30", "0.0>1.2"),
        FetchedEdit("b10=a15", "1.0>0.1"), FetchedEdit("c10=a05", "S-2 2.0>0.0"),
        FetchedEdit("c10=d10", "S-2 S+2 2.0>2.0"),
        FetchedEdit("a10=d10", "S+3 0.0>3.0"), FetchedEdit("a10=010", "S+0 0.0>0.0"),
        FetchedEdit("b10=c05 b20=c06", "S-1 1.0>1.0 1.1>1.1"), FetchedEdit("a10=b10 b10=a10", "1.0>0.0 0.0>1.0"),
        FetchedEdit("a10=d10 a20=d20 a30=d30", "S-0 S+2 0.0>2.0 0.1>2.1 0.2>2.2"),
        FetchedEdit("a10=010 b10=011 c10=012", "S-2 S+0 0.0>0.0 1.0>0.1 2.0>0.2"),
        // Nothing that shows.
        FetchedEdit("h25!", ""), FetchedEdit("h25=a05", ""), FetchedEdit("-h25", ""), FetchedEdit("+a15 -a15", ""),
        // Several at once.
        FetchedEdit("h25^ a30#", "-0.2 +0.2"), FetchedEdit("a10! -a10", "-0.0"), FetchedEdit("a10=a40 -a10", "-0.0"),
        FetchedEdit("+a05 a10!", "+0.0 ~0.1"), FetchedEdit("+a05 -a10", "-0.0 +0.0"),
        FetchedEdit("+a05 a10=a40", "+0.0 0.0>0.3"),
        FetchedEdit("-a10 a20=a40", "-0.0 0.1>0.1"), FetchedEdit("-a10 -a20 -a30 b10=a10", "-0.2 -0.1 -0.0 1.0>0.0"),
        FetchedEdit("-c10 +d10", "S-2 S+2 -2.0 +2.0"), FetchedEdit("a10# a20# +a15", "-0.1 -0.0 +0.0"),
        FetchedEdit("+a05 +b05 -c10 a30! b20=a15", "S-2 -2.0 +0.0 1.1>0.2 +1.0 ~0.4"), FetchedEdit("+a10", "+0.1"),
        FetchedEdit("h25^ h25#", ""), FetchedEdit("a10# a10^", "~0.0"), FetchedEdit("a10=b30 a10=a10", "~0.0"),
    ]
}

/// The list of the table in a context.
final class Shelves {
    let stack: Stack
    let controller: NSFetchedResultsController<NSManagedObject>
    let copy = Copy()

    init(_ type: String, sort: [String] = ["shelf", "rank"], section: String? = "shelf") throws {
        stack = try Stack(type, model: Shelf.model())
        for name in ["a10", "a20", "a30", "b10", "b20", "c10", "h25"] { Shelves.add(name, stack.context) }
        try stack.context.save()
        controller = NSFetchedResultsController(
            fetchRequest: Shelf.request(sort), managedObjectContext: stack.context, sectionNameKeyPath: section,
            cacheName: nil)
        try controller.performFetch()
        copy.start(controller)
    }

    static func add(_ name: String, _ context: NSManagedObjectContext) {
        let thing = context.make("Thing", ["name": name, "shown": name.first != "h"])
        put(thing, name.first == "h" ? "a" + name.dropFirst() : name)
    }

    /// `b15`: rank 15 on shelf B.
    private static func put(_ thing: NSManagedObject, _ place: String) {
        thing.setValue(place.prefix(1).uppercased(), forKey: "shelf")
        thing.setValue(Int64(place.dropFirst()) ?? 0, forKey: "rank")
    }

    private func thing(_ name: some StringProtocol) throws -> NSManagedObject {
        let request = Shelf.request(shown: false)
        request.predicate = NSPredicate(format: "name == %@", String(name))
        return try #require(try stack.context.fetch(request).last)
    }

    /// One event; holds nothing.
    func edit(_ edit: String) throws {
        let context = stack.context
        for part in edit.split(separator: " ") {
            if part.hasPrefix("+") {
                Shelves.add(String(part.dropFirst()), context)
            } else if part.hasPrefix("-") {
                let name = part.dropFirst()
                let inserted = context.insertedObjects.first { $0.value(forKey: "name") as? String == String(name) }
                context.delete(try inserted ?? held[String(name)] ?? thing(name))
            } else {
                let name = String(part.prefix(3))
                let thing = try #require(held[name])
                switch part.dropFirst(3).first {
                case "!": thing.setValue((thing.value(forKey: "note") as? Int64 ?? 0) + 1, forKey: "note")
                case "#": thing.setValue(false, forKey: "shown")
                case "^": thing.setValue(true, forKey: "shown")
                case "?": context.refresh(thing, mergeChanges: true)
                default: Shelves.put(thing, String(part.dropFirst(4)))
                }
            }
        }
        context.processPendingChanges()
    }

    /// The things by name, looked up before an edit: a fetch would end the event.
    var held: [String: NSManagedObject] = [:]
    func lookUp() throws {
        for thing in try stack.context.fetch(Shelf.request(shown: false)) {
            held[thing.value(forKey: "name") as? String ?? ""] = thing
        }
    }
}

@Suite struct FetchedEditTests {
    @Test(
        "Each edit is told as documented, and applied to the old list it makes the new one",
        arguments: FetchedEdit.table)
    func edits(_ edit: FetchedEdit) throws {
        for type in [NSSQLiteStoreType, NSInMemoryStoreType] {
            let shelves = try Shelves(type)
            try shelves.lookUp()
            try shelves.edit(edit.edit)
            #expect(shelves.copy.told.joined(separator: " ") == edit.told)
            #expect(shelves.copy.names == shelves.controller.names)
            #expect(shelves.copy.eventCount == (edit.told.isEmpty ? 0 : 1))
            try shelves.stack.context.save()
            let fetched = try shelves.stack.context.fetch(Shelf.request(["shelf", "rank"]))
            #expect(shelves.controller.fetchedObjects == fetched, "The results are what a fetch finds after the save.")
        }
    }

    @Test("The table has 60 edits and more")
    func size() { #expect(Set(FetchedEdit.table.map(\.edit)).count >= 60) }
}
