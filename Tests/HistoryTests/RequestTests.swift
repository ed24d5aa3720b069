// What history requests answer.

import CoreData
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@Suite("History requests") struct RequestTests {
    /// Four saves of three authors: two beds, a change of one, a patient with a visit, the deletion of a bed.
    private func filled(_ desk: Desk) throws -> [NSManagedObjectID] {
        let context = desk.context("desk", name: "front")
        let beds = [1, 2].map { context.make("Bed", ["number": $0]) }
        try context.save()
        context.transactionAuthor = "night"
        beds[0].setValue(11, forKey: "number")
        beds[0].setValue(7, forKey: "code")
        try context.save()
        context.transactionAuthor = nil
        let patient = context.make("Patient", ["name": "Eve"])
        context.make("Visit", ["note": "x"]).setValue(patient, forKey: "patient")
        try context.save()
        context.transactionAuthor = "desk"
        context.delete(beds[1])
        try context.save()
        return beds.map(\.objectID)
    }

    @Test("12.3 All of it, oldest first, with who, what and when")
    func everything() throws {
        let desk = try Desk()
        let before = Date()
        let beds = try filled(desk)
        let all = try desk.transactions()
        #expect(all.map(\.transactionNumber) == [1, 2, 3, 4])
        #expect(all.map(\.author) == ["desk", "night", nil, "desk"])
        #expect(all.allSatisfy { $0.contextName == "front" && $0.storeID == desk.store.identifier })
        #expect(all.allSatisfy { !$0.bundleID.isEmpty && $0.processID == ProcessInfo.processInfo.processName })
        #expect(all.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
        #expect(all.map { $0.changes?.count } == [2, 1, 2, 1])
        #expect(Set(try #require(all[0].changes).map(\.changedObjectID)) == Set(beds))
        let update = try #require(all[1].changes?.first)
        #expect(update.changeType == .update && update.changedObjectID == beds[0] && update.tombstone == nil)
        #expect(Set(try #require(update.updatedProperties).map(\.name)) == ["number", "code"])
        #expect(update.updatedProperties?.allSatisfy { $0.entity.name == "Bed" } == true)
        #expect(update.transaction === all[1] && update.transaction?.author == "night")
        let gone = try #require(all[3].changes?.first)
        #expect(gone.changeType == .delete && gone.changedObjectID == beds[1] && gone.updatedProperties == nil)
        // What was read answers predicates as the store does.
        func numbers(_ format: String) -> [Int64] {
            all.filter(NSPredicate(format: format).evaluate).map(\.transactionNumber)
        }
        #expect(numbers("author == 'desk'") == [1, 4] && numbers("author == nil") == [3])
        #expect(numbers("ANY changes.changeType == 2") == [4] && numbers("transactionNumber > 2") == [3, 4])
        let insert = try #require(all[2].changes?.first)
        #expect(insert.changeType == .insert && insert.updatedProperties == nil && insert.tombstone == nil)
        #expect(Set(all.flatMap { $0.changes ?? [] }.map(\.changeID)).count == 6)
        // In the words of the file.
        let rows = try SQLiteFile(desk.url).rows(
            "SELECT Z_PK, ZTRANSACTIONID, ZCHANGETYPE, ZENTITYPK FROM ACHANGE ORDER BY 1")
        #expect(
            all.flatMap { transaction in
                (transaction.changes ?? []).map {
                    let row = $0.changedObjectID.uriRepresentation().lastPathComponent.dropFirst()
                    return "\($0.changeID)|\(transaction.transactionNumber)|\($0.changeType.rawValue)|\(row)"
                }
            } == rows)
    }

    @Test("12.3 After a token, a transaction and a date, which are left out themselves")
    func after() throws {
        let desk = try Desk()
        _ = try filled(desk)
        let all = try desk.transactions()
        func numbers(_ request: NSPersistentHistoryChangeRequest) throws -> [Int64] {
            try desk.transactions(request).map(\.transactionNumber)
        }
        #expect(try numbers(.fetchHistory(after: all[1].token)) == [3, 4])
        #expect(try numbers(.fetchHistory(after: all[1])) == [3, 4])
        #expect(try numbers(.fetchHistory(after: nil as NSPersistentHistoryTransaction?)) == [1, 2, 3, 4])
        #expect(try numbers(.fetchHistory(after: all[2].timestamp)) == [4])
        #expect(try numbers(.fetchHistory(after: Date.distantPast)) == [1, 2, 3, 4])
        #expect(try numbers(.fetchHistory(after: Date())) == [])
        #expect(try numbers(.fetchHistory(after: desk.token)) == [])
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: all[1].token).token == all[1].token)
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: Date()).token == nil)
        let copy = try #require(
            NSPersistentHistoryChangeRequest.fetchHistory(after: all[2]).copy() as? NSPersistentHistoryChangeRequest)
        #expect(try numbers(copy) == [4])
    }

    @Test("Every type of result")
    func types() throws {
        let desk = try Desk()
        let beds = try filled(desk)
        let first = try desk.transactions()[0].token
        func request() -> NSPersistentHistoryChangeRequest { .fetchHistory(after: first) }
        #expect(request().resultType == .transactionsAndChanges)
        #expect(try desk.fetch(request(), .statusOnly, as: Bool.self))
        #expect(try desk.fetch(.fetchHistory(after: desk.token), .statusOnly, as: Bool.self) == false)
        #expect(try desk.fetch(request(), .count, as: Int.self) == 4)
        let ids = try desk.fetch(
            .fetchHistory(after: nil as NSPersistentHistoryToken?), .objectIDs, as: [NSManagedObjectID].self)
        #expect(ids.count == 4 && Set(ids).isSuperset(of: beds))
        let transactions = try desk.fetch(request(), .transactionsOnly, as: [NSPersistentHistoryTransaction].self)
        #expect(transactions.map(\.transactionNumber) == [2, 3, 4] && transactions.allSatisfy { $0.changes == nil })
        let changes = try desk.fetch(request(), .changesOnly, as: [NSPersistentHistoryChange].self)
        #expect(changes.map { $0.transaction?.transactionNumber } == [2, 3, 3, 4])
        #expect(changes.map(\.changeType) == [.update, .insert, .insert, .delete])
        // The coordinator answers the same.
        let result = try desk.coordinator.execute(request(), with: desk.context())
        #expect(((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]) == transactions)
    }

    @Test(
        "12.3 A fetch request over transactions finds them by SQL: author, date, number, their changes; in its order and number"
    )
    func overTransactions() throws {
        let log = StatementLog()
        let desk = try Desk(options: log.options)
        _ = try filled(desk)
        let all = try desk.transactions()
        func found(
            _ format: String, _ arguments: Any..., change: (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }
        ) throws
            -> [Int64]
        {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            change(fetch)
            let found = try desk.transactions(.fetchHistory(withFetch: fetch))
            #expect(
                found.allSatisfy { transaction in
                    transaction.changes == all.first { $0 == transaction }?.changes
                })
            return found.map(\.transactionNumber)
        }
        #expect(try found("author == %@", "desk") == [1, 4])
        #expect(try found("author != %@", "desk") == [2, 3])
        #expect(try found("author == nil") == [3])
        #expect(try found("author BEGINSWITH %@ AND contextName == %@", "n", "front") == [2])
        #expect(try found("timestamp >= %@", all[2].timestamp as NSDate) == [3, 4])
        #expect(try found("transactionNumber > %@", 2) == [3, 4])
        #expect(try found("token > %@", all[1].token) == [3, 4])
        #expect(try found("processID == %@ AND bundleID != nil", ProcessInfo.processInfo.processName) == [1, 2, 3, 4])
        #expect(try found("ANY changes.changeType == %@", 2) == [4])
        #expect(try found("changes.@count == 2") == [1, 3])
        #expect(
            try found("TRUEPREDICATE") {
                $0.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
                $0.fetchLimit = 2
            } == [4, 3])
        #expect(log.take().contains { $0.contains("WITH") && $0.contains("\"ZAUTHOR\" = ?") })
        // With a point as well.
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: all[0])
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        request.fetchRequest?.predicate = NSPredicate(format: "author == %@", "desk")
        #expect(try desk.transactions(request).map(\.transactionNumber) == [4])
    }

    @Test("12.3 A fetch request over changes finds them by entity, object, kind and transaction")
    func overChanges() throws {
        let desk = try Desk()
        let beds = try filled(desk)
        func found(_ format: String, _ arguments: Any...) throws -> [String] {
            let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            let changes = try desk.fetch(
                .fetchHistory(withFetch: fetch), .changesOnly, as: [NSPersistentHistoryChange].self)
            return changes.map {
                "\($0.transaction?.transactionNumber ?? 0) \($0.changeType) \($0.changedObjectID.entity.name ?? "")"
            }
        }
        let bed = try #require(desk.coordinator.managedObjectModel.entitiesByName["Bed"])
        #expect(
            try found("changedEntity == %@", bed) == ["1 insert Bed", "1 insert Bed", "2 update Bed", "4 delete Bed"])
        #expect(try found("changedEntity == %@ AND changeType == %@", "Bed", 0).count == 2)
        #expect(try found("changedObjectID == %@", beds[1]) == ["1 insert Bed", "4 delete Bed"])
        #expect(try found("changedObjectID != %@", beds[0]).count == 4)
        #expect(try found("changedObjectID IN %@", beds).count == 4)
        #expect(try found("transaction.author == %@", "night") == ["2 update Bed"])
        #expect(try found("changeID > %@", 5) == ["4 delete Bed"])
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        fetch.predicate = NSPredicate(format: "changedObjectID == %@", beds[0])
        let around = try desk.transactions(.fetchHistory(withFetch: fetch))
        #expect(around.map(\.transactionNumber) == [1, 2] && around.allSatisfy { $0.changes?.count == 1 })
        #expect(try desk.fetch(.fetchHistory(withFetch: fetch), .count, as: Int.self) == 2)
        #expect(code { _ = try found("changedEntity == %@", "Cat") } == 134060)
        #expect(
            code { _ = try desk.transactions(.fetchHistory(withFetch: NSFetchRequest(entityName: "Bed"))) }
                == 134060)
        #expect(NSPersistentHistoryChange.entityDescription?.attributesByName["changedEntity"] != nil)
        let context = desk.context()
        #expect(NSPersistentHistoryChange.entityDescription(with: context)?.attributesByName["changeType"] != nil)
        #expect(NSPersistentHistoryTransaction.entityDescription(with: context)?.attributesByName["author"] != nil)
    }

    @Test("12.5 Deleting keeps the transaction that is named, and what it answers")
    func delete() throws {
        let desk = try Desk()
        _ = try filled(desk)
        let all = try desk.transactions()
        func numbers() throws -> [Int64] { try desk.transactions().map(\.transactionNumber) }
        #expect(NSPersistentHistoryChangeRequest.deleteHistory(before: all[0]).resultType == .statusOnly)
        #expect(try desk.fetch(.deleteHistory(before: all[0]), .count, as: Int.self) == 0)
        #expect(try desk.fetch(.deleteHistory(before: all[1].token), .statusOnly, as: Bool.self))
        #expect(try numbers() == [2, 3, 4])
        #expect(try desk.fetch(.deleteHistory(before: all[2].timestamp), .count, as: Int.self) == 1)
        #expect(try numbers() == [3, 4])
        #expect(try desk.fetch(.deleteHistory(before: Date.distantPast), .count, as: Int.self) == 0)
        #expect(try desk.fetch(.deleteHistory(before: Date.distantFuture), .count, as: Int.self) == 2)
        #expect(try numbers() == [])
        try desk.addBed(5)
        #expect(try numbers() == [5])
        #expect(try desk.fetch(.deleteHistory(before: nil as NSPersistentHistoryToken?), .count, as: Int.self) == 1)
    }

    @Test(
        "12.5 A token older than what was removed is 134301, also when nothing is left; the one before the first is not"
    )
    func expired() throws {
        let desk = try Desk()
        _ = try filled(desk)
        let all = try desk.transactions()
        _ = try desk.fetch(.deleteHistory(before: all[2]), .statusOnly, as: Bool.self)
        #expect(code { _ = try desk.transactions(.fetchHistory(after: all[0].token)) } == 134301)
        #expect(try desk.transactions(.fetchHistory(after: all[1].token)).count == 2)
        #expect(try desk.transactions().count == 2)
        let fetch = NSPersistentHistoryChangeRequest.fetchHistory(after: all[0].token)
        fetch.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        #expect(code { _ = try desk.transactions(fetch) } == 134301)
        _ = try desk.fetch(.deleteHistory(before: nil as NSPersistentHistoryToken?), .statusOnly, as: Bool.self)
        #expect(code { _ = try desk.transactions(.fetchHistory(after: all[1].token)) } == 134301)
        #expect(try desk.transactions(.fetchHistory(after: all[3].token)).isEmpty)
        #expect(NSPersistentHistoryTokenExpiredError == 134301)
    }

    @Test("A store that keeps no history is named (134091), a token of another store refused in words")
    func refusals() throws {
        let desk = try Desk()
        try desk.addBed(1)
        let plain = try Desk(tracks: false)
        try plain.addBed(1)
        let none = caught { _ = try plain.transactions() }
        #expect(
            none.number == 134091 && none.sentence.contains(plain.store.identifier ?? "?")
                && none.sentence.contains(plain.url.path))
        let memory = NSPersistentStoreCoordinator(managedObjectModel: Clinic.model())
        let other = try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = memory.context()
        let inMemory = caught { try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
        #expect(inMemory.number == 134091 && inMemory.sentence.contains(other.identifier ?? "?"))
        let second = try Desk()
        try second.addBed(1)
        let foreign = caught { _ = try desk.transactions(.fetchHistory(after: second.token)) }
        #expect(foreign.number == 134060 && foreign.sentence.contains(second.store.identifier ?? "?"))
        #expect(
            code { _ = try desk.fetch(.deleteHistory(before: second.token), .count, as: Int.self) } == 134060)
        let affected = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        affected.affectedStores = [second.store]
        #expect(code { _ = try desk.transactions(affected) } == 134070)
    }

    @Test(
        "Several stores: each has its history, in the order of time; affectedStores asks some of them; a token names all"
    )
    func several() throws {
        let folder = Folder()
        var draft = Clinic.draft()
        draft.configurations = ["A": ["Bed", "Patient", "Visit", "Ward", "Place", "Doctor", "Badge"], "B": ["Bed"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
        let stores = try [("a", nil as String?), ("b", "B")].map { name, configuration in
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: configuration, at: folder.file(name),
                options: [NSPersistentHistoryTrackingKey: true])
        }
        let context = coordinator.context()
        for (number, store) in [stores[0], stores[1], stores[0]].enumerated() {
            context.assign(context.make("Bed", ["number": number]), to: store)
            try context.save()
        }
        func run(_ request: NSPersistentHistoryChangeRequest) throws -> [String] {
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            return try #require(result.result as? [NSPersistentHistoryTransaction]).map {
                "\($0.storeID == stores[0].identifier ? "a" : "b")\($0.transactionNumber)"
            }
        }
        let nothing: NSPersistentHistoryToken? = nil
        #expect(try run(.fetchHistory(after: nothing)) == ["a1", "b1", "a2"])
        let some = NSPersistentHistoryChangeRequest.fetchHistory(after: nothing)
        some.affectedStores = [stores[1]]
        #expect(try run(some) == ["b1"])
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(try run(.fetchHistory(after: token)) == [])
        // A token of one of them: the others are read from their beginning.
        let one = try #require(coordinator.currentPersistentHistoryToken(fromStores: [stores[0]]))
        #expect(one != token)
        #expect(try run(.fetchHistory(after: one)) == ["b1"])
    }

    @Test("Batch requests are transactions like any other, with the context's author")
    func batches() throws {
        let desk = try Desk()
        let context = desk.context("batch", name: "bulk")
        let insert = NSBatchInsertRequest(entityName: "Bed", objects: (1...3).map { ["number": $0] })
        try context.execute(insert)
        let update = NSBatchUpdateRequest(entityName: "Bed")
        update.propertiesToUpdate = ["code": 5]
        update.predicate = NSPredicate(format: "number > 1")
        try context.execute(update)
        let fetch = NSFetchRequest<any NSFetchRequestResult>("Bed", "number == 3")
        try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        let all = try desk.transactions()
        #expect(all.map { $0.changes?.count } == [3, 2, 1])
        #expect(all.allSatisfy { $0.author == "batch" && $0.contextName == "bulk" })
        #expect(all[1].changes?.allSatisfy { $0.updatedProperties?.map(\.name) == ["code"] } == true)
        #expect(all.map { $0.changes?.first?.changeType } == [.insert, .update, .delete])
    }

    @Test("A transaction as a notification brings another context up to date")
    func notification() throws {
        let desk = try Desk()
        let other = try Desk(in: desk.folder)
        let context = desk.context("a")
        let (kept, gone) = (context.make("Bed", ["number": 1]), context.make("Bed", ["number": 2]))
        try context.save()
        let theirs = other.context()
        let held = try theirs.all("Bed").sorted {
            ($0.value(forKey: "number") as? Int ?? 0) < ($1.value(forKey: "number") as? Int ?? 0)
        }
        let start = try other.token
        kept.setValue(10, forKey: "number")
        context.delete(gone)
        context.make("Bed", ["number": 3])
        try context.save()
        for transaction in try other.transactions(.fetchHistory(after: start)) {
            let notification = transaction.objectIDNotification()
            #expect(notification.name == NSManagedObjectContext.didSaveObjectIDsNotification)
            #expect(notification.userInfo?.count == 3)
            theirs.mergeChanges(fromContextDidSave: notification)
        }
        #expect(held[0].value(forKey: "number") as? Int == 10)
        #expect(held[1].isDeleted || held[1].managedObjectContext == nil)
        #expect(try theirs.all("Bed").count == 2)
    }
}
