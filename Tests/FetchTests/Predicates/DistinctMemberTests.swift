// Collections whose members come once, as expressions compute them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite struct DistinctMemberTests {
    private final class Owner: NSObject {}

    private func members(_ format: String, _ object: Any) -> [AnyHashable] {
        let found = NSExpression(format: format).expressionValue(with: object, context: nil)
        return (found as? [Any])?.compactMap { $0 as? AnyHashable } ?? []
    }

    @Test("Numbers come once by value, decimals too")
    func numbers() throws {
        let quarter = try #require(Decimal(string: "0.25"))
        let long = try #require(Decimal(string: "0.2500000000000000001"))
        let subject: [String: Any] = [
            "items": [["price": quarter], ["price": quarter], ["price": Decimal(1.5)]], "dec": quarter, "long": long,
            "real": 0.25, "name": "x",
        ]
        #expect(members("items.@distinctUnionOfObjects.price", subject).count == 2)
        #expect(members("distinct:(items.price)", subject).count == 2)
        #expect(members("{dec, 1} UNION {dec, 2}", subject).count == 3)
        #expect(members("{dec, 1} UNION {real, 1.0, YES}", subject).count == 2)
        #expect(members("distinct:({dec, long})", subject).count == 2, "They differ, though not as real numbers.")
        #expect(members("{dec, dec, 2} INTERSECT {dec}", subject).count == 1)
        #expect(members("{name, 'x', 'y'} MINUS {'y'}", subject) == ["x"])
    }

    @Test("Objects come once by identity")
    func objects() throws {
        let (one, other) = (Owner(), Owner())
        let items = [["owner": one], ["owner": other], ["owner": one]]
        #expect(members("items.@distinctUnionOfObjects.owner", ["items": items]).count == 2)
        let stack = try Stack(NSInMemoryStoreType, model: Shelf.model())
        let boxes = ["a", "b"].map { stack.context.make("Box", ["label": $0]) }
        let things = (0..<3).map { stack.context.make("Thing", ["rank": $0]) }
        for thing in things { thing.setValue(boxes[0], forKey: "box") }
        func count(_ format: String) -> Int? {
            (NSExpression(format: format).expressionValue(with: boxes[0], context: nil) as? [Any])?.count
        }
        #expect(count("things.@distinctUnionOfObjects.box") == 1)
        #expect(count("things UNION things") == 3)
        try stack.context.save()
        #expect(count("things.@distinctUnionOfObjects.box") == 1)
    }
}
