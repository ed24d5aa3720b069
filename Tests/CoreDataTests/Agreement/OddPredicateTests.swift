// Predicates that a program may well build and nobody would write down.

import CoreData
import CoreDataTestSupport
import Foundation
import Testing

@Suite("Odd predicates") struct OddPredicateTests {
    static let types = [NSInMemoryStoreType, NSSQLiteStoreType]

    private func stack(_ type: String) throws -> Stack {
        let stack = try Stack(type, undo: false)
        for code in 0..<5 { _ = stack.context.make("Patient", ["name": "p\(code)", "code": code]) }
        try stack.context.save()
        return stack
    }

    private func codes(_ predicate: NSPredicate, _ stack: Stack) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = predicate
        return try stack.context.fetch(request).compactMap { $0.value(forKey: "code") as? Int }.sorted()
    }

    @Test("Five thousand conditions side by side or one inside the other find what they say", arguments: types)
    func manyConditions(_ type: String) throws {
        let stack = try stack(type)
        let wanted = (0..<5000).map { NSPredicate(format: "code == %d", $0 * 2 + 1) }
        #expect(try codes(NSCompoundPredicate(orPredicateWithSubpredicates: wanted), stack) == [1, 3])
        let unwanted = wanted.map { NSCompoundPredicate(notPredicateWithSubpredicate: $0) }
        #expect(try codes(NSCompoundPredicate(andPredicateWithSubpredicates: unwanted), stack) == [0, 2, 4])
        var nested = wanted[0]
        for next in wanted.dropFirst().prefix(1500) {
            nested = NSCompoundPredicate(orPredicateWithSubpredicates: [nested, next])
        }
        #expect(try codes(nested, stack) == [1, 3])
    }

    @Test("A value of another kind equals nothing, and differs from everything", arguments: types)
    func otherKind(_ type: String) throws {
        let stack = try stack(type)
        #expect(try codes(NSPredicate(format: "code == 'p1'"), stack) == [])
        #expect(try codes(NSPredicate(format: "code != 'p1'"), stack) == [0, 1, 2, 3, 4])
        #expect(try codes(NSPredicate(format: "name == 1"), stack) == [])
        #expect(try codes(NSPredicate(format: "name < 1"), stack) == [])
        #expect(try codes(NSPredicate(format: "code IN {'p1', 2}"), stack) == [2])
    }

    @Test("What cannot be answered is refused, naming it", arguments: types)
    func refused(_ type: String) throws {
        let stack = try stack(type)
        for (format, word) in [("code == $number", "$number"), ("doctors == nil", "doctors")] {
            let error = #expect(throws: CocoaError.self) { _ = try codes(NSPredicate(format: format), stack) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
        }
    }
}
