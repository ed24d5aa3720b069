// What a person sees of a run.

import ArgumentParser
import CoreData

extension Triage {
    /// Inserts the constant table, unless an earlier run did; shows that it can be undone and redone; saves.
    func fillTable() throws {
        let present = try context.count(for: Injury.fetchRequest())
        guard present == 0 else {
            print("The constant table is there already: \(present) injuries. Nothing is added.")
            return
        }
        context.undoManager = UndoManager()
        initInjury()
        context.processPendingChanges()
        print("pending inserts: \(pending)")
        report("undo") { context.undo() }
        report("redo") { context.redo() }
        if !save2file() { throw ExitCode.failure }
    }

    private var pending: Int { context.insertedObjects.count }

    private func report(_ name: String, _ step: () -> Void) {
        let before = pending
        step()
        print("\(name): \(before) -> \(pending)")
    }
}

/// Prints all injuries in the order of their numbers, read through a coordinator and a context of their own.
func printTable(model: NSManagedObjectModel, store: URL, sql: Bool) throws {
    let context = try Triage.link2file(model, store: store, sql: sql)
    let request = Injury.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
    let records = try context.fetch(request)

    // What the XML has beside these two the class need not know: it may have come after the build.
    let others = (model.entitiesByName["Injury"]?.attributesByName.keys.sorted() ?? [])
        .filter { $0 != "id" && $0 != "name" }
    let rows = records.map { record in
        ["\(record.id)", record.name] + others.map { key in record.value(forKey: key).map { "\($0)" } ?? "-" }
            + [record.objectID.uriRepresentation().absoluteString]
    }
    aligned([["id", "name"] + others + ["object ID"]] + rows).forEach { print($0) }
}

/// Lines with each column as wide as its widest cell; numbers stand to the right.
func aligned(_ rows: [[String]]) -> [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
        rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
        zip(row, widths).map { cell, width in
            let space = String(repeating: " ", count: width - cell.count)
            return Double(cell) == nil ? cell + space : space + cell
        }
        .joined(separator: "  ")
        .trimmingTrailingSpaces()
    }
}

extension String {
    fileprivate func trimmingTrailingSpaces() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

/// Writes one line to standard error.
func printError(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}

/// Something the example itself refuses.
struct Failure: LocalizedError {
    let errorDescription: String?
    init(_ sentence: String) { errorDescription = sentence }
}
