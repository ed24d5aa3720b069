// Migrations of a store that other processes write to, or open, meanwhile.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// Runs what a test gives the manager, in the middle of a migration.
final class MeanwhilePolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try (manager.userInfo?["meanwhile"] as? () throws -> Void)?()
    }
}

/// A run of `CoreDataWriter` whose lines are read.
private final class Program {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    private var text = Data()

    init(_ store: URL, _ arguments: String...) throws {
        process.executableURL = try ChildProgram("CoreDataWriter").executable
        process.arguments = [store.path] + arguments
        process.inheritEnvironment(adding: [:])
        process.standardOutput = output
        process.standardInput = input
        try process.run()
    }

    func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    var isRunning: Bool { process.isRunning }
    var lines: [String] { String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init) }

    /// Reads until there are so many lines; fewer where the program has ended.
    func read(_ count: Int) {
        while lines.count < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return }
            text += data
        }
    }

    func end() -> [String] {
        text += output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return lines
    }
}

@Suite("Migration beside other processes", .serialized) struct WriterTests {
    private let folder = Folder()
    private var store: URL { folder.file("clinic.sqlite") }

    private func open<Result>(_ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Result) throws
        -> Result
    {
        let coordinator = try NSPersistentStoreCoordinator(model, at: store, options: Versions.automatic)
        defer { try? coordinator.close() }
        let context = coordinator.context()
        return try body(context)
    }

    private func migrateByMapping(_ meanwhile: @escaping () throws -> Void) throws {
        let (first, second) = (Clinic.model(), Clinic.laterModel())
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        let beds = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Bed" })
        beds.entityMigrationPolicyClassName = "MeanwhilePolicy"
        let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
        manager.userInfo = ["meanwhile": meanwhile]
        try manager.migrateInPlace(store, type: NSSQLiteStoreType, options: nil, with: mapping)
    }

    @Test(
        "What writers of the old version in other processes were told is saved is in the migrated store",
        arguments: ["inferred", "mapped"])
    func acknowledged(_ kind: String) throws {
        try open(Clinic.model()) { _ in }
        let writers = try (1...3).map { try Program(store, "load", "\($0 * 1_000_000)", "plain") }
        for writer in writers { writer.read(30) }
        if kind == "inferred" { try open(Clinic.laterModel()) { _ in } } else { try migrateByMapping {} }
        let told = writers.map { $0.end() }
        #expect(told.allSatisfy { $0.last == "ended 134100" }, "\(told.map(\.last))")
        let acknowledged = told.flatMap { $0.dropLast().compactMap(Int.init) }
        #expect(acknowledged.count >= 90 && told.allSatisfy { $0.dropLast().allSatisfy { Int($0) != nil } })
        let (numbers, comforts) = try open(Clinic.laterModel()) { context in
            let beds = try context.all("Bed")
            return (
                beds.compactMap { $0.value(forKey: "number") as? Int },
                beds.compactMap { $0.value(forKey: "comfort") as? Int }
            )
        }
        #expect(numbers.sorted() == acknowledged.sorted())
        #expect(comforts == numbers.map { _ in 4 })
    }

    @Test(
        "13.8 A process that opens the store while another one migrates it waits however long that takes, and then opens it"
    )
    func waits() throws {
        try open(Clinic.model()) { context in
            for number in 1...50 { context.make("Bed", ["number": number]) }
            try context.save()
        }
        var others: [Program] = []
        try migrateByMapping {
            others = try (1...2).map { _ in try Program(store, "migrate", "1", "plain") }
            for other in others { other.read(1) }
            // Far longer than these wait for a lock of SQLite's.
            usleep(300_000)
            #expect(others.filter { !$0.isRunning }.isEmpty)
        }
        for other in others { #expect(other.end() == ["opens", "50"]) }
    }

    @Test("Who migrates waits for no longer than the options say, and is told who is at it")
    func patience() throws {
        try open(Clinic.model()) { _ in }
        try migrateByMapping {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Clinic.laterModel())
            let ended = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var error: CocoaError?
            let store = store
            Thread.detachNewThread {
                error = caught {
                    try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: store,
                        options: Versions.automatic.merging([NSPersistentStoreTimeoutOption: 0.05]) { $1 })
                }
                ended.signal()
            }
            ended.wait()
            #expect(error?.number == 134110 && (error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.number == 134090)
            #expect(
                error?.sentence.contains("is being migrated elsewhere") == true, "\(error?.sentence ?? "")")
            // Inside, nobody waits for himself.
            let inside = caught {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: Versions.automatic)
            }
            #expect(
                inside?.number == 134110 && inside?.sentence.contains("by this thread") == true,
                "\(inside?.sentence ?? "")")
        }
    }

    @Test("A process that cannot look whether the store was migrated meanwhile writes nothing, and can try again")
    func unseen() throws {
        try open(Clinic.model()) { _ in }
        let other = try Program(store, "starved", "77", "plain")
        other.read(1)
        try open(Clinic.laterModel()) { _ in }
        other.say("go")
        let lines = other.end()
        #expect(lines.count == 3 && lines[1].hasPrefix("refused ") && lines[2] == "refused 134100", "\(lines)")
        let numbers = try open(Clinic.laterModel()) { try $0.values("Bed", "number") }
        #expect(numbers == ["0"])
    }
}
