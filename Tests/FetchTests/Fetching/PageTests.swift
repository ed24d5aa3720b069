// Pages in the middle of an order whose first key has an index.

import CoreDataSeeds
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Pages of an indexed order") struct PageTests {
    /// Days, ranks and codes have few values, and none; each of them has an index.
    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Visit"
        let kinds: [(String, NSAttributeType)] = [
            ("day", .dateAttributeType), ("rank", .integer64AttributeType), ("code", .stringAttributeType),
            ("name", .stringAttributeType),
        ]
        entity.properties = kinds.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        entity.indexes = entity.properties.dropLast().map { property in
            NSFetchIndexDescription(
                name: "by\(property.name)",
                elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func request(_ keys: [(String, Bool)]) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Visit")
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: $1) }
        return request
    }

    private func filled() throws -> Stack {
        let stack = try Stack(model: Self.model(), undo: false)
        var random = SplitMix(7)
        for number in 0..<60 {
            let visit = stack.context.make("Visit", ["name": "n\(number % 9)"])
            if random.below(4) > 0 {
                visit.setValue(Date(timeIntervalSince1970: Double(random.below(6))), forKey: "day")
            }
            if random.below(4) > 0 { visit.setValue(random.below(5), forKey: "rank") }
            if random.below(4) > 0 { visit.setValue(["a", "B", "é", ""][random.below(4)], forKey: "code") }
        }
        try stack.context.save()
        return stack
    }

    @Test(
        "Every page is the part of the whole that it is asked for, with equal keys and none",
        arguments: ["day", "rank", "code"])
    func parts(_ key: String) throws {
        let stack = try filled()
        for (isAscending, isThen) in [(true, true), (true, false), (false, true), (false, false)] {
            let keys = [(key, isAscending), ("name", isThen)]
            let whole = try stack.context.fetch(request(keys)).map(\.objectID)
            #expect(whole.count == 60)
            for offset in 1...62 {
                for limit in [0, 1, 7, 70] {
                    let page = request(keys)
                    (page.fetchOffset, page.fetchLimit) = (offset, limit)
                    let found = try stack.context.fetch(page).map(\.objectID)
                    let rest = whole.dropFirst(offset)
                    #expect(found == Array(limit == 0 ? rest : rest.prefix(limit)), "\(key) \(keys) \(offset) \(limit)")
                }
            }
        }
    }

    @Test("The index alone tells where a page begins, in the one statement that reads it")
    func plan() throws {
        let stack = try filled()
        let page = request([("day", false), ("name", true)])
        (page.fetchOffset, page.fetchLimit) = (40, 10)
        let explained = "\(try stack.context.explain(page))"
        #expect(explained.contains("USING COVERING INDEX Z_Visit_byday"), "\(explained)")
        var count = 0
        #expect(try stack.statements { count = try stack.context.fetch(page).count } == 1)
        #expect(count == 10)
        // A condition, or an index that has the whole order, needs the rows before the page as well.
        page.predicate = NSPredicate(format: "rank > 1")
        #expect(!"\(try stack.context.explain(page))".contains("COVERING INDEX Z_Visit_byday"))
    }
}
