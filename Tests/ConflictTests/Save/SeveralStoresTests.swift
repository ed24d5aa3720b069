// A save over two stores, of which one refuses.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite struct SeveralStoresTests {
    private func names(_ context: NSManagedObjectContext, _ entity: String) throws -> [String] {
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = context.persistentStoreCoordinator
        return try reader.all(entity).compactMap { $0.text("name") }.sorted()
    }

    @Test("What one store has taken is not written again when another refuses, whatever the policy")
    func refused() throws {
        for policy in [NSMergePolicy.error, .rollback, .mergeByPropertyObjectTrump] {
            let folder = Folder()
            let context = try NSPersistentStoreCoordinator.pair(in: folder).context()
            let old = context.make("First", ["name": "old"])
            let gone = context.make("First", ["name": "gone"])
            _ = context.make("Second", ["name": "taken"])
            try context.save()
            context.mergePolicy = policy
            let new = context.make("First", ["name": "new"])
            old.set("name", "older")
            context.delete(gone)
            let twin = context.make("Second", ["name": "taken"])
            let error = caught { try context.save() }
            #expect(try names(context, "First") == ["new", "older"])
            #expect(try names(context, "Second") == ["taken"])
            #expect(!new.objectID.isTemporaryID && !new.hasChanges && !old.hasChanges)
            if policy === NSMergePolicy.error {
                #expect(error?.code.rawValue == 133021)
                #expect(
                    context.insertedObjects == [twin] && context.updatedObjects.isEmpty
                        && context.deletedObjects.isEmpty)
                twin.set("name", "free")
                try context.save()
                #expect(try names(context, "Second") == ["free", "taken"])
            } else {
                #expect(error == nil)
            }
            #expect(try names(context, "First") == ["new", "older"])
            new.set("name", "newer")
            try context.save()
            #expect(try names(context, "First") == ["newer", "older"])
        }
    }
}
