// Set changes of many rows, and the memory that they take: `swift run -c release CoreDataSetRun 1000000`.

import CCoreDataHeap
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
    private(set) var most = coredata_heap_bytes()

    init(step: Int = 1) { self.step = step }

    func chunk() throws -> RowChunk? {
        most = max(most, coredata_heap_bytes())
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

private func measure(_ title: String, _ store: any RowStore, _ items: Items? = nil, _ change: SetChange) throws {
    let (before, start) = (coredata_heap_bytes(), Date())
    let outcome = try store.apply(change)
    let seconds = Date().timeIntervalSince(start)
    let most = max(items?.most ?? 0, coredata_heap_bytes()) - before
    print(
        "\(title): \(outcome.count) rows in \(String(format: "%.2f", seconds)) s, \(String(format: "%.1f", Double(most) / 1_048_576)) MB")
}

for (name, store) in [("SQLite", sqlite as any RowStore), ("memory", memory)] {
    let new = Items()
    try measure("\(name), inserted", store, new, SetChange(.insert(new.chunk)))
    let again = Items(step: 2)
    var upsert = SetChange(.insert(again.chunk))
    upsert.uniqueness = .update(["name", "price"])
    if name == "SQLite" { try measure("\(name), inserted or updated", store, again, upsert) }
    let plan = FetchPlan(entity: schema.entities[0].index)
    let price = SetChange.Assignment("price", .function("multiply:by:", [.keyPath(["price"]), .constant(.double(1.1))]))
    try measure("\(name), updated", store, nil, SetChange(.update(plan, [price])))
    try measure("\(name), deleted", store, nil, SetChange(.delete(plan)))
}
