// What becomes of a history, its cursors and its former values in a mapped migration.

import CoreDataTestSupport
import Testing

@testable import CoreData

@Suite struct MappedHistoryTests {
    private let versions = Versions()
    private static var options: [String: Any] {
        [NSPersistentHistoryTrackingKey: true, NSPersistentStoreKeepsFormerValues: true]
    }

    private func open(_ model: NSManagedObjectModel, _ url: URL) throws -> (
        NSPersistentStoreCoordinator, NSManagedObjectContext
    ) {
        let coordinator = try NSPersistentStoreCoordinator(model, at: url, options: Self.options)
        return (coordinator, coordinator.context())
    }

    /// Three transactions with former values, and a cursor at the last one.
    private func fill(_ model: NSManagedObjectModel, _ url: URL) throws -> NSPersistentHistoryToken {
        let (coordinator, context) = try open(model, url)
        let note = context.make("Note")
        for text in ["one", "two", "three"] {
            note.setValue(text, forKey: "text")
            try context.save()
        }
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try coordinator.moveHistoryCursor("mail", to: token)
        try coordinator.close()
        return token
    }

    private func models() throws -> (NSManagedObjectModel, NSManagedObjectModel) {
        let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"
        return (
            try versions.model("A", "<entity name=\"Note\">\(text)</entity>"),
            try versions.model(
                "B",
                "<entity name=\"Note\">\(text)<attribute name=\"size\" optional=\"YES\" attributeType=\"Integer 16\"/></entity>"
            )
        )
    }

    private func transactions(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            ?? []
    }

    @Test(
        "Through a mapping of its own a store begins anew: no cursor and no former value of the former history is left")
    func mapped() throws {
        let (first, second) = try models()
        let url = versions.file("notes")
        let token = try fill(first, url)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        mapping.entityMappings?[0].attributeMappings?.first { $0.name == "size" }?.valueExpression = NSExpression(
            forConstantValue: 5)
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateInPlace(
            url, type: NSSQLiteStoreType, options: Self.options, with: mapping)
        let (coordinator, context) = try open(second, url)
        #expect(try coordinator.historyCursors().isEmpty && coordinator.historyToken(ofCursor: "mail") == nil)
        #expect(try transactions(context).isEmpty)
        #expect(
            coordinator.currentPersistentHistoryToken(fromStores: nil)?.transactions.keys != token.transactions.keys)
        let note = try context.all("Note", by: "text")[0]
        #expect(note.value(forKey: "size") as? Int == 5)
        for text in ["four", "five"] {
            note.setValue(text, forKey: "text")
            try context.save()
        }
        try context.revert(transactions(context)[1])
        #expect(note.value(forKey: "text") as? String == "four")
        context.rollback()
        try coordinator.close()
    }

    @Test("Where the mapping says what inference would, history, cursors, former values and UUID come along")
    func asInferred() throws {
        let (first, second) = try models()
        let url = versions.file("notes")
        let token = try fill(first, url)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateInPlace(
            url, type: NSSQLiteStoreType, options: Self.options, with: mapping)
        let (coordinator, context) = try open(second, url)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
        #expect(try coordinator.historyToken(ofCursor: "mail") == token)
        let all = try transactions(context)
        #expect(all.map(\.transactionNumber) == [1, 2, 3])
        try context.revert(all[2])
        #expect(try context.all("Note", by: "text")[0].value(forKey: "text") as? String == "two")
        context.rollback()
        try coordinator.close()
    }
}
