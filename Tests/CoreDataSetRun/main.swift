// Set changes of many rows, and the memory that they take: `swift run -c release CoreDataSetRun 1000000`. With `memory` or `sqlite` behind
// the number it only inserts into a store of that kind, and says what that takes beyond what stays; with `narrow` rows of one whole number. With `cancel`
// it says how long fetches go on that are cancelled; with `sequence` it reads the objects of a fetch one after another and fails if that takes 64 MB
// or more, with `child` in a child context, and with `unsaved` while its parent has a new object.

import CCoreDataHeap
import CoreData
import CoreDataSQLite
import CoreDataValues
import Foundation

private func attribute(_ name: String, _ type: AttributeType) -> Attribute {
    var attribute = Attribute(name: name, type: type)
    attribute.isOptional = true
    return attribute
}

private var entity = EntityDraft(name: "Item")
entity.attributes = [
    attribute("number", .integer64), attribute("name", .string), attribute("price", .double), attribute("made", .date),
]
entity.uniquenessConstraints = [["number"]]
private let isNarrow = CommandLine.arguments.contains("narrow")
if isNarrow { (entity.attributes, entity.uniquenessConstraints) = ([attribute("number", .integer64)], []) }
private var draft = SchemaDraft()
draft.entities = [entity]
private let schema = try Schema(checking: draft)

private let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sets-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
private let sqlite = try SQLiteStore(
    url: folder.appendingPathComponent("Items.sqlite"), schema: schema, configuration: nil, options: SQLiteOptions())
private let memory = try MemoryStore(schema: schema)

/// Rows of a stream, 256 a chunk.
private final class Items {
    private var next = 0
    private let step: Int

    init(step: Int = 1) { self.step = step }

    func chunk() throws -> RowChunk? {
        guard next < count else { return nil }
        let item = schema.entities[0]
        let chunk = RowChunk(layout: item.layout, capacity: RowChunk.maximumCount)
        while next < count, !chunk.isFull {
            try chunk.append(
                key: 0, version: 0,
                values: item.slots.map { slot in
                    switch slot.name {
                    case "number": .int(Int64(next * step))
                    case "name": .text("the name of item \(next)")
                    case "price": .double(Double(next) / 100)
                    default: .date(Double(next))
                    }
                })
            next += 1
        }
        return chunk
    }
}

/// The most that was in use while something ran, looked at some hundred times a second.
private func peak(_ body: () throws -> Void) rethrows -> Int64 {
    let watch = Watch()
    let thread = Thread { watch.run() }
    thread.start()
    defer { watch.isDone = true }
    try body()
    return max(watch.most, coredata_heap_bytes())
}

private final class Watch: @unchecked Sendable {
    nonisolated(unsafe) var isDone = false
    nonisolated(unsafe) var most: Int64 = 0

    func run() {
        while !isDone {
            most = max(most, coredata_heap_bytes())
            usleep(1000)
        }
    }
}

private func measure(_ title: String, _ store: any RowStore, _ change: SetChange) throws {
    let (before, start) = (coredata_heap_bytes(), Date())
    var count = 0
    let most = try peak { count = try store.apply(change).count } - before
    let seconds = Date().timeIntervalSince(start)
    print(
        "\(title): \(count) rows in \(String(format: "%.2f", seconds)) s, at most \(String(format: "%.1f", Double(most) / 1_048_576)) MB"
    )
}

private let kinds: [String: any RowStore] = ["memory": memory, "sqlite": sqlite]
if let store = CommandLine.arguments.lazy.compactMap({ kinds[$0] }).first {
    let new = Items()
    let before = coredata_heap_bytes()
    let most = try peak { _ = try store.apply(SetChange(.insert(new.chunk))) } - before
    let rows = coredata_heap_bytes() - before
    print("rows \(rows) bytes, \(rows / Int64(count)) each; beyond them \(most - rows) bytes")
    exit(0)
}

if CommandLine.arguments.contains("sequence") {
    let new = Items()
    _ = try sqlite.apply(SetChange(.insert(new.chunk)))
    try sqlite.close()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
    _ = try coordinator.addPersistentStore(
        type: .sqlite, at: folder.appendingPathComponent("Items.sqlite"), options: [:])
    let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    parent.persistentStoreCoordinator = coordinator
    var asked = parent
    if CommandLine.arguments.contains("child") {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        // With something unsaved in the parent, which makes it lay that over its rows.
        if CommandLine.arguments.contains("unsaved") {
            parent.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: parent).setValue(-1, forKey: "number")
            }
        }
        asked = child
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    let before = coredata_heap_bytes()
    var most: Int64 = 0
    var sum = 0
    for try await number in asked.values(of: request, { $0.value(forKey: "number") as? Int64 ?? 0 }) {
        if number % 1_000 == 0 { most = max(most, coredata_heap_bytes() - before) }
        sum += Int(number) % 2
    }
    print("rows \(count), odd \(sum), at most \(most) bytes")
    exit(most < 64 << 20 ? 0 : 1)
}

if CommandLine.arguments.contains("cancel") {
    let statements = LastStatement()
    _ = try sqlite.apply(SetChange(.insert(Items().chunk)))
    try sqlite.close()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(draft: draft))
    _ = try coordinator.addPersistentStore(
        type: .sqlite, at: folder.appendingPathComponent("Items.sqlite"), options: [SQLTraceOption: statements.trace])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    CancelledFetches(context: context, statements: statements).run()
    exit(0)
}

for (name, store) in [("SQLite", sqlite as any RowStore), ("memory", memory)] {
    let new = Items()
    try measure("\(name), inserted", store, SetChange(.insert(new.chunk)))
    let again = Items(step: 2)
    var upsert = SetChange(.insert(again.chunk))
    upsert.uniqueness = .update(["name", "price"])
    if name == "SQLite" { try measure("\(name), inserted or updated", store, upsert) }
    let plan = FetchPlan(entity: schema.entities[0].index)
    let price = SetChange.Assignment(
        "price", .function("multiply:by:", [.keyPath(["price"]), .constant(.double(1.1))]))
    try measure("\(name), updated", store, SetChange(.update(plan, [price])))
    var told = SetChange(.update(plan, [price]))
    told.answer = .keys
    try measure("\(name), updated, keys told", store, told)
    try measure("\(name), deleted", store, SetChange(.delete(plan)))
}
