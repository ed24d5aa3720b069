// What every store with a place must do: keep what was written.

import CoreDataTestSupport
import CoreDataValues
import Testing

@testable import CoreData

@Suite struct StoreSpecificationReopening {
    @Test("What was written is there when the store is opened again", arguments: StoreMaker.all(for: .reopening))
    func reopening(_ maker: StoreMaker) throws {
        let folder = Folder()
        var before: [String] = []
        do {
            let subject = try Subject(maker, in: folder)
            let ann = try subject.insert("Employee", [["name": .text("Ann")]])[0]
            let labels = try subject.insert("Label", [["name": .text("x")], ["name": .text("y")]])
            let items = try subject.insert(
                "Item", (1...3).map { ["serial": .int($0), "owner": target(ann), "day": .date(0.1)] })
            var batch = ChangeBatch()
            batch.links = [
                LinkChange(
                    relationship: try subject.relationship("Item", "labels"), owner: items[0], added: labels,
                    removed: [])
            ]
            batch.updates = [try subject.update(items[1], ["label": .text("a\u{0}<b>&\"\n")], expected: 1)]
            batch.deletes = [DeleteGroup(entity: items[2].entity, numbers: [items[2].number], expected: [1])]
            try subject.commit(batch)
            before = try summary(subject)
            try subject.store.close()
        }
        let again = try Subject(maker, in: folder)
        #expect(try summary(again) == before)
        #expect(before.count == 6, "\(before)")
        #expect(try again.insert("Item", [["serial": .int(9)]]).count == 1)
    }

    /// The content without the rows' numbers, which may change from one opening to the next.
    private func summary(_ subject: Subject) throws -> [String] {
        var lines: [String] = []
        for item in try subject.fetch("Item", { $0.sort = [SortTerm(keyPath: ["serial"])] }) {
            let labels = try subject.members("Item", "labels", of: item.key).count
            let plain = item.values.filter { $0.key != "owner" }.sorted { $0.key < $1.key }
            lines.append("\(plain) labels \(labels)")
        }
        for person in try subject.fetch("Person") {
            let items = try subject.members("Person", "items", of: person.key).count
            lines.append("\(subject.schema[person.key.entity].name) \(person.values) items \(items)")
        }
        for label in try subject.fetch("Label", { $0.sort = [SortTerm(keyPath: ["name"])] }) {
            lines.append("\(label.values) items \(try subject.members("Label", "items", of: label.key).count)")
        }
        return lines + [try subject.store.metadata().uuid]
    }
}
