// Tokens of query generations: shared, archived, told of by saves, and how many there may be.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct QueryGenerationTokenTests {
    private func pinned(_ ward: PinnedWard, _ token: NSQueryGenerationToken? = .current) throws
        -> NSManagedObjectContext
    {
        let context = ward.stack.another()
        try context.setQueryGenerationFrom(token)
        return context
    }

    @Test("12.1 Contexts that are pinned by one token see the same state, whoever reads first")
    func shared() throws {
        let ward = try PinnedWard()
        try ward.context.setQueryGenerationFrom(.current)
        let other = try pinned(ward, ward.context.queryGenerationToken)
        #expect(ward.context.queryGenerationToken == other.queryGenerationToken)
        #expect(try ward.names(other) == PinnedWard.before)
        try ward.changeAll()
        #expect(try ward.names() == PinnedWard.before && ward.names(other) == PinnedWard.before)
        // A token goes back, as long as somebody has the state.
        let token = try #require(other.queryGenerationToken)
        try ward.context.setQueryGenerationFrom(.current)
        other.reset()
        #expect(try ward.names() == PinnedWard.after && ward.names(other) == PinnedWard.after)
        #expect(other.queryGenerationToken != token && ward.context.queryGenerationToken != token)
        ward.context.reset()
        try ward.context.setQueryGenerationFrom(token)
        #expect(try ward.names() == PinnedWard.before)
        #expect(token.hash == ward.context.queryGenerationToken?.hash && (token.copy() as? NSObject) == token)
        #expect(NSQueryGenerationToken.current == .current && token != .current && token != NSObject())
    }

    @Test("A token of another coordinator is refused")
    func foreign() throws {
        let (one, other) = (try PinnedWard(), try PinnedWard())
        try other.context.setQueryGenerationFrom(.current)
        let error = #expect(throws: CocoaError.self) {
            try one.context.setQueryGenerationFrom(other.context.queryGenerationToken)
        }
        #expect(error?.code.rawValue == 134060 && one.context.queryGenerationToken == nil)
    }

    private func archived(_ token: NSQueryGenerationToken) throws -> NSQueryGenerationToken {
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
    }

    @Test("An archived token leads back to its state as long as something else has it")
    func archives() throws {
        let ward = try PinnedWard()
        #expect(try archived(.current) == .current)
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == PinnedWard.before)
        try ward.changeAll()
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: #require(ward.context.queryGenerationToken), requiringSecureCoding: true)
        func read() throws -> NSQueryGenerationToken {
            try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
        }
        #expect(try read() == ward.context.queryGenerationToken && archived(read()) == read())
        #expect(try ward.names(pinned(ward, read())) == PinnedWard.before)
        try ward.context.setQueryGenerationFrom(nil)
        let ended = try read()
        #expect(try ended == read() && archived(ended) == ended && ended.hash == read().hash)
        let error = #expect(throws: CocoaError.self) { try ward.context.setQueryGenerationFrom(ended) }
        #expect(error?.code.rawValue == 134060 && ward.context.queryGenerationToken == nil)
    }

    @Test(
        "10.1 A save into SQLite tells the state that it has led to, or a later one",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func told(_ type: String) throws {
        let ward = try PinnedWard(type)
        let writer = ward.stack.another()
        nonisolated(unsafe) var tokens: [NSQueryGenerationToken?] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
        ) { told in
            tokens.append(told.userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(
            NSManagedObjectContext.NotificationKey.queryGeneration.rawValue == NSManagedObjectContextQueryGenerationKey)
        try ward.changeAll(writer)
        #expect(tokens.count == 1)
        if type == NSInMemoryStoreType { return #expect(tokens[0] == nil) }
        #expect(try ward.names(pinned(ward, tokens[0])) == PinnedWard.after && tokens[0] != nil)
        // Whoever is pinned is pinned to what is told.
        try writer.setQueryGenerationFrom(.current)
        try ward.patient("q10", writer).setValue("r10", forKey: "name")
        try writer.save()
        #expect(writer.queryGenerationToken == tokens[1] && tokens[1] != tokens[0])
        #expect(try ward.names(writer) == ["r10", "p20", "p40"])
        #expect(try ward.names(pinned(ward, tokens[0])) == PinnedWard.after)
    }

    @Test(
        "Each pinned context takes a view of each store at its first read and gives it back; above the limit a read throws 134090"
    )
    func limit() throws {
        let ward = try PinnedWard(options: [SQLitePinnedViewLimitOption: 2, SQLiteConnectionTimeoutOption: 0.05])
        var views: Int { ward.stack.coordinator.counters.pinnedViews }
        let first = try pinned(ward)
        var contexts = try [first, pinned(ward, first.queryGenerationToken), pinned(ward), pinned(ward)]
        #expect(views == 0)
        for context in contexts.dropLast() { #expect(try ward.names(context) == PinnedWard.before) }
        #expect(views == 2, "two of the three share one")
        let id = try ward.patient("p10", ward.stack.context).objectID
        let error = #expect(throws: CocoaError.self) { try ward.names(contexts[3]) }
        #expect(error?.code.rawValue == 134090)
        // A getter cannot throw: the next call that can does.
        #expect(contexts[3].object(with: id).value(forKey: "name") == nil)
        #expect(throws: CocoaError.self) { try contexts[3].save() }
        #expect(try ward.names(ward.stack.context) == PinnedWard.before, "others read as ever")
        contexts.remove(at: 2)
        #expect(views == 1)
        #expect(try ward.names(contexts[2]) == PinnedWard.before && views == 2)
        try contexts[2].setQueryGenerationFrom(nil)
        #expect(views == 1)
        contexts[0].reset()
        #expect(views == 1, "the other context has it")
        contexts.removeAll()
        try first.setQueryGenerationFrom(nil)
        #expect(views == 0)
    }

    @Test("A pinned context neither takes rows of the row cache nor puts any there")
    func rowCache() throws {
        let ward = try PinnedWard()
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == PinnedWard.before)
        let id = try ward.patient("p10", ward.context).objectID
        try ward.changeAll()
        func name(_ context: NSManagedObjectContext) -> String? {
            context.object(with: id).value(forKey: "name") as? String
        }
        // The row cache has the writer's row now, and keeps it whatever the pinned context reads.
        #expect(name(ward.context) == "p10" && name(ward.stack.another()) == "q10")
        #expect(try ward.names() == PinnedWard.before && ward.members("north") == Set(PinnedWard.before))
        #expect(name(ward.stack.another()) == "q10" && name(ward.context) == "p10")
    }

    @Test("A store that is closed ends its states; the same file added again is pinned anew")
    func closed() throws {
        let ward = try PinnedWard()
        let coordinator = ward.stack.coordinator
        try ward.context.setQueryGenerationFrom(.current)
        #expect(try ward.names() == PinnedWard.before)
        let id = try ward.patient("p10", ward.context).objectID
        try ward.changeAll()
        let store = try #require(coordinator.persistentStores.first)
        let url = try #require(store.url)
        try coordinator.remove(store)
        #expect(try ward.names() == [])
        #expect(ward.context.object(with: id).value(forKey: "name") == nil)
        #expect(throws: CocoaError.self) { try ward.context.save() }
        ward.context.reset()
        try ward.context.setQueryGenerationFrom(ward.context.queryGenerationToken)
        _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        #expect(try ward.names() == PinnedWard.after)
        let writer = ward.stack.another()
        try ward.patient("q10", writer).setValue("r10", forKey: "name")
        try writer.save()
        #expect(try ward.names() == PinnedWard.after && ward.names(ward.stack.context) == ["r10", "p20", "p40"])
    }

    @Test("A context that is pinned before there is a store stays pinned when one comes")
    func early() throws {
        let folder = Folder()
        let container = NSPersistentContainer(name: "clinic", managedObjectModel: Clinic.model())
        try container.viewContext.setQueryGenerationFrom(.current)
        _ = try container.persistentStoreCoordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        #expect(try container.viewContext.count(for: request) == 0)
        let writer = container.newBackgroundContext()
        _ = writer.make("Patient", ["name": "a"])
        try writer.save()
        #expect(try container.viewContext.count(for: request) == 0)
        container.viewContext.reset()
        #expect(try container.viewContext.count(for: request) == 1)
    }
}
