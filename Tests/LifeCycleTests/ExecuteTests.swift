// Requests that contexts execute, asynchronous fetches, locks and the forms of older programs.

import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct ExecuteTests {
    private let stack: Stack
    private var context: NSManagedObjectContext { stack.context }

    init() throws {
        stack = try Stack(undo: false)
        for name in ["Ada", "Eve", "Abe"] { _ = stack.context.make("Patient", ["name": name]) }
        try stack.context.save()
    }

    private static func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>("Patient", by: "name")
        return request
    }

    @Test("Executing a fetch request answers a result that is complete, unsaved changes included")
    func fetch() throws {
        _ = context.make("Patient", ["name": "Ida"])
        let result = try #require(try context.execute(Self.request()) as? NSAsynchronousFetchResult<NSManagedObject>)
        #expect(result.finalResult?.map { $0.value(forKey: "name") as? String } == ["Abe", "Ada", "Eve", "Ida"])
        #expect(result.managedObjectContext === context && result.operationError == nil)
        #expect(result.progress?.completedUnitCount == 4 && result.progress?.isFinished == true)
        #expect(throws: CocoaError.self) { try context.execute(NSFetchRequest<NSManagedObject>(entityName: "Nobody")) }
    }

    @Test("A save request is rejected, and a request of another class is refused by its name")
    func refused() throws {
        let error = #expect(throws: CocoaError.self) { try context.execute(NSSaveChangesRequest()) }
        #expect(error?.code.rawValue == 134091)
        final class Prayer: NSPersistentStoreRequest {}
        let unsupported = #expect(throws: CocoaError.self) { try context.execute(Prayer()) }
        let sentence = unsupported?.userInfo[NSLocalizedDescriptionKey] as? String
        #expect(unsupported?.code.rawValue == 134060 && sentence?.contains("Prayer") == true)
    }

    @Test("An asynchronous fetch answers at once and completes on the context's queue")
    func later() async throws {
        let context = context
        let names: [String?] = await withCheckedContinuation { continuation in
            context.performAndWait {
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: Self.request()) { result in
                    precondition(context.isHeldByCaller && result.operationError == nil)
                    continuation.resume(
                        returning: (result.finalResult ?? []).map { $0.value(forKey: "name") as? String })
                }
                asynchronous.estimatedResultCount = 5
                guard let result = try? context.execute(asynchronous) as? NSAsynchronousFetchResult<NSManagedObject>
                else {
                    return continuation.resume(returning: [])
                }
                #expect(result.finalResult == nil && result.progress?.totalUnitCount == 5)
                #expect(result.fetchRequest === asynchronous)
            }
        }
        #expect(names == ["Abe", "Ada", "Eve"])
    }

    @Test(
        "An asynchronous fetch that is cancelled before its turn finds nothing and says so; one that fails has the error"
    )
    func cancelled() async throws {
        let context = context
        func outcome(
            _ key: String, _ given: @escaping @Sendable (NSPersistentStoreAsynchronousResult) -> Void
        ) async -> (count: Int?, error: String) {
            await withCheckedContinuation { continuation in
                context.performAndWait {
                    let request = Self.request()
                    request.predicate = NSPredicate(format: "%K != nil", key)
                    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                        let error = result.operationError.map { "\(Swift.type(of: $0))" } ?? ""
                        continuation.resume(returning: (result.finalResult?.count, error))
                    }
                    let result = try? context.execute(asynchronous)
                    if let result = result as? NSPersistentStoreAsynchronousResult { given(result) }
                }
            }
        }
        let cancelled = await outcome("name") { $0.cancel() }
        #expect(cancelled.count == nil && cancelled.error == "CancellationError")
        let progress = await outcome("name") { $0.progress?.cancel() }
        #expect(progress.count == nil && progress.error == "CancellationError")
        let failed = await outcome("nothing") { _ in }
        #expect(failed.count == nil && failed.error == "CocoaError")
        let found = await outcome("name") { _ in }
        #expect(found.count == 3 && found.error == "")
    }

    @Test("A request of no particular type is counted and fetched, typed or not")
    func untyped() throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Patient")
        #expect(try context.count(for: request) == 3)
        let anything: [Any] = try context.fetch(request)
        #expect(anything.count == 3 && anything.allSatisfy { $0 is NSManagedObject })
        request.resultType = .managedObjectIDResultType
        let ids: [any NSFetchRequestResult] = try context.fetch(request)
        #expect(ids.allSatisfy { $0 is NSManagedObjectID })
    }

    @Test("A context's lock may be taken again by its thread, and by no other until it is free")
    func lock() async {
        let context = context
        func triedElsewhere() -> Bool {
            let taken = Mutex(false)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let isTaken = context.tryLock()
                if isTaken { context.unlock() }
                taken.withLock { $0 = isTaken }
                done.signal()
            }
            done.wait()
            return taken.withLock { $0 }
        }
        func run() {
            context.lock()
            #expect(context.tryLock())
            context.unlock()
            #expect(!triedElsewhere())
            context.unlock()
            #expect(triedElsewhere())
            #expect(context.withLock { context.name } == nil)
        }
        run()
    }

    @Test("performAndWait takes blocks that answer, that throw and that do neither; a coordinator's too")
    func waiting() throws {
        let nothing: @Sendable () -> Void = { [context] in context.name = "named" }
        context.performAndWait(nothing)
        let answer = context.performAndWait { [context] in context.name }
        #expect(answer == "named")
        let coordinator = stack.coordinator
        let named: @Sendable () -> Void = { coordinator.name = "stores" }
        coordinator.performAndWait(named)
        let name = coordinator.performAndWait { coordinator.name }
        #expect(name == "stores")
        #expect(throws: CocoaError.self) {
            try context.performAndWait { throw CocoaError(.coderInvalidValue) }
        }
    }

    @Test("A context that belongs to a thread cannot be made, and the sentence says what to make instead")
    func confinement() async {
        #expect(NSManagedObjectContextConcurrencyType(rawValue: 0) == .confinementConcurrencyType)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("confinementConcurrencyType") && text.contains("privateQueueConcurrencyType"))
    }

    @Test("The archive of a context keeps how it is set up, and nothing of its objects")
    func archive() throws {
        let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        made.name = "import"
        made.transactionAuthor = "nightly"
        made.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        made.stalenessInterval = 3
        made.propagatesDeletesAtEndOfEvent = false
        made.shouldDeleteInaccessibleFaults = false
        made.retainsRegisteredObjects = true
        made.automaticallyMergesChangesFromParent = true
        let data = try NSKeyedArchiver.archivedData(withRootObject: made, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectContext.self, from: data))
        #expect(read.concurrencyType == .privateQueueConcurrencyType && read.name == "import")
        #expect(read.transactionAuthor == "nightly" && read.stalenessInterval == 3)
        #expect((read.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(!read.propagatesDeletesAtEndOfEvent && !read.shouldDeleteInaccessibleFaults)
        #expect(read.retainsRegisteredObjects && read.automaticallyMergesChangesFromParent)
        #expect(read.persistentStoreCoordinator == nil && read.parent == nil)
        read.persistentStoreCoordinator = stack.coordinator
        let count = try read.performAndWait { try read.count(for: Self.request()) }
        #expect(count == 3)
    }
}
