// How much memory a migration takes.

import CCoreDataHeap
import CoreDataTestSupport
import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Associates by hand, and looks at the heap now and then.
final class MeasuringPolicy: NSEntityMigrationPolicy {
    static let peak = Mutex<Int64>(0)
    private var count = 0
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let book = manager.destinationContext.make("Book")
        book.setValue(sInstance.value(forKey: "title"), forKey: "title")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: book, for: mapping)
        look()
    }
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let author = source[0].value(forKey: "author") as? NSManagedObject
        let person = manager.destinationInstances(
            forEntityMappingName: "AuthorToPerson", sourceInstances: author.map { [$0] } ?? [])
        dInstance.setValue(person.first, forKey: "author")
        look()
    }
    private func look() {
        count += 1
        if count % 500 == 0 { Self.peak.withLock { $0 = max($0, coredata_heap_bytes()) } }
    }
}

@Suite struct MappingMemoryTests {
    private let versions = Versions()

    /// By hand: `OPENCOREDATA_MIGRATED_OBJECTS=1000000` asks for as many in less than 256 MB.
    private static let given = ProcessInfo.processInfo.environment["OPENCOREDATA_MIGRATED_OBJECTS"].flatMap(Int.init)

    @Test(
        "100,000 objects, each with a to-one, and a policy that associates take less than 64 MB",
        .timeLimit(.minutes(60)))
    func bounded() async throws {
        // In a process of its own, where no other test takes memory meanwhile.
        await #expect(processExitsWith: .success) {
            let (count, limit) = Self.given.map { ($0, Int64(256)) } ?? (100_000, 64)
            let peak = try MappingMemoryTests().peak(count)
            print("a mapped migration of \(count) objects: \(peak >> 20) MB at most")
            if peak >= limit << 20 { exit(EXIT_FAILURE) }
        }
    }

    private func peak(_ count: Int) throws -> Int64 {
        let first = try versions.model("A", Versions.first)
        try versions.with(first, at: versions.file("old.sqlite")) { context in
            for start in stride(from: 0, to: count, by: 10) {
                let author = context.make("Author", ["name": "Author \(start)"])
                for number in start..<start + 10 {
                    context.make("Book", ["title": "Book \(number)", "author": author])
                }
                if start % 5000 == 4990 { try context.save() }
            }
            try context.save()
        }
        let authors = NSEntityMapping()
        authors.name = "AuthorToPerson"
        (authors.sourceEntityName, authors.destinationEntityName) = ("Author", "Person")
        let name = NSPropertyMapping()
        (name.name, name.valueExpression) = ("fullName", NSExpression(format: "$source.name"))
        authors.attributeMappings = [name]
        let books = NSEntityMapping()
        books.name = "BookToBook"
        (books.sourceEntityName, books.destinationEntityName) = ("Book", "Book")
        books.sourceExpression = SourceExpression.all(of: "Book", "author != nil OR title != nil")
        books.entityMigrationPolicyClassName = "MeasuringPolicy"
        let mapping = NSMappingModel()
        mapping.entityMappings = [authors, books]
        let optional = try versions.model("C", InferredMappingTests.optional)
        let manager = NSMigrationManager(sourceModel: first, destinationModel: optional)
        let before = coredata_heap_bytes()
        MeasuringPolicy.peak.withLock { $0 = before }
        try manager.migrateStore(
            from: versions.file("old.sqlite"), type: .sqlite, mapping: mapping, to: versions.file("new.sqlite"),
            type: .sqlite)
        let peak = MeasuringPolicy.peak.withLock { $0 } - before
        try versions.with(optional, at: versions.file("new.sqlite")) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            guard try context.count(for: request) == count else { throw CocoaError(.coderInvalidValue) }
            request.predicate = NSPredicate(format: "author.fullName BEGINSWITH 'Author' AND title BEGINSWITH 'Book'")
            guard try context.count(for: request) == count else { throw CocoaError(.coderInvalidValue) }
        }
        return peak
    }
}
