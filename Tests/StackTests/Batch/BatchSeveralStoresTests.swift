// Batch requests over two stores: what a limit and an offset count.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct BatchSeveralStoresTests {
    /// Doctors a0 … a3 in one store and b0 … b3 in another.
    private func rig(_ types: [String]) throws -> Rig {
        let rig = Rig()
        let stores = [try rig.add(types[0], "a"), try rig.add(types[1], "b")]
        let context = rig.context()
        for (letter, store) in zip(["a", "b"], stores) {
            for number in 0..<4 { context.assign(context.make("Doctor", ["name": "\(letter)\(number)"]), to: store) }
        }
        try context.save()
        return rig
    }

    private func names(_ rig: Rig) throws -> Set<String> {
        Set(try rig.context().all("Doctor").compactMap { $0.value(forKey: "name") as? String })
    }

    @Test(
        "9.2 A limit and an offset of a batch deletion count over all stores, in the order of a fetch",
        arguments: [
            [NSSQLiteStoreType, NSSQLiteStoreType], [NSInMemoryStoreType, NSSQLiteStoreType],
            [NSInMemoryStoreType, NSBinaryStoreType],
        ])
    func window(_ types: [String]) throws {
        for (ascending, limit, offset) in [
            (true, 2, 0), (false, 3, 0), (true, 3, 3), (true, 0, 6), (false, 10, 5), (true, 2, 9),
        ] {
            let rig = try rig(types)
            let fetch = NSFetchRequest<any NSFetchRequestResult>("Doctor", "name != 'a1'")
            fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: ascending)]
            fetch.fetchLimit = limit
            fetch.fetchOffset = offset
            let doomed = try rig.context().fetch(fetch).compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            let before = try names(rig)
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeCount
            let context = rig.context()
            _ = context.make("Doctor", ["name": "a"])
            let result = try #require(try context.execute(request) as? NSBatchDeleteResult)
            #expect(result.result as? Int == doomed.count)
            #expect(try names(rig) == before.subtracting(doomed), "\(ascending) \(limit) \(offset)")
        }
    }

    @Test("9.2 Without an order the rows of the first store come first, and a child's request counts so too")
    func unordered() throws {
        let rig = try rig([NSSQLiteStoreType, NSSQLiteStoreType])
        let child = rig.context().child()
        let count = try child.performAndWait {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Doctor")
            fetch.fetchLimit = 5
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeObjectIDs
            return ((try child.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])?.count
        }
        #expect(count == 5)
        let left = try names(rig)
        #expect(left.count == 3 && left.allSatisfy { $0.hasPrefix("b") })
    }

    @Test(
        "9.2 The limit of a batch deletion counts over the stores that it is for",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func affected(_ type: String) throws {
        let rig = Rig()
        let stores = try ["a", "b", "c"].map { try rig.add(type, $0) }
        let context = rig.context()
        for (letter, store) in zip(["a", "b", "c"], stores) {
            for number in 0..<3 { context.assign(context.make("Doctor", ["name": "\(letter)\(number)"]), to: store) }
        }
        try context.save()
        let fetch = NSFetchRequest<any NSFetchRequestResult>("Doctor", by: "name")
        fetch.fetchLimit = 4
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        request.affectedStores = Array(stores.dropFirst())
        let result = try rig.context().execute(request) as? NSBatchDeleteResult
        #expect(result?.result as? Int == 4)
        #expect(try names(rig) == ["a0", "a1", "a2", "c1", "c2"])
    }

    @Test(
        "A batch insertion goes to the first of its affected stores that may be written to, and is refused without one")
    func readOnly() throws {
        let rig = try rig([NSSQLiteStoreType, NSSQLiteStoreType])
        let context = rig.context()
        let stores = rig.coordinator.persistentStores
        let request = NSBatchInsertRequest(entityName: "Doctor", objects: [["name": "new"]])
        request.affectedStores = stores
        stores[0].isReadOnly = true
        _ = try context.execute(request)
        let new = try #require(try rig.context().all("Doctor").first { $0.value(forKey: "name") as? String == "new" })
        #expect(new.objectID.persistentStore === stores[1])
        request.affectedStores = [stores[0]]
        let error = #expect(throws: CocoaError.self) { try context.execute(request) }
        #expect(error?.code.rawValue == 134070)
    }
}
