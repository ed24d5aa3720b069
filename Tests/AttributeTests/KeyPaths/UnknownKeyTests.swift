// Keys that nobody answers for, in predicates and sort orders; and those that a class adds.

import CoreDataTestSupport
import Foundation
import Testing

import CoreData

@Suite("Unknown and additional keys") struct UnknownKeyTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType]
    static let predicates = [
        "stranger == 1", "stranger.name == 'x'", "name.stranger == 1", "father.stranger == nil",
        "ANY kids.stranger == 1",
        "kids.stranger.@count > 1", "kids.@sum.stranger > 1", "kids.@stranger > 1", "stranger IN {1, 2}",
        "name IN stranger",
        "SUBQUERY(kids, $kid, $kid.stranger == 1).@count > 0", "stranger.@count == 0", "stranger[0] == 1",
        "isGrown == YES",
        "stranger CONTAINS 'x'", "NOT stranger BEGINSWITH 'x'", "pets.stranger.name == 'x'", "self.stranger == 1",
    ]

    @Test(
        "A fetch by an unknown key throws 134060 in every kind of store, also when there are no rows", arguments: types,
        [true, false])
    func fetch(_ type: String, _ isEmpty: Bool) throws {
        let stack = try Folk.stack(type)
        if !isEmpty { try Folk.people(stack) }
        for format in Self.predicates {
            let request = NSFetchRequest<Person>("Person", format)
            let error = #expect(throws: CocoaError.self, "\(format)") { try stack.context.fetch(request) }
            #expect(error?.code.rawValue == 134060, "\(format)")
            #expect(throws: CocoaError.self, "\(format)") { try stack.context.count(for: request) }
        }
        for key in ["stranger", "father.stranger", "name.stranger", "isGrown", "kids.stranger", "kids.@stranger", ""] {
            let request = NSFetchRequest<Person>("Person", by: key)
            let error = #expect(throws: CocoaError.self, "\(key)") { try stack.context.fetch(request) }
            #expect(error?.code.rawValue == 134060, "\(key)")
        }
    }

    @Test("The same with unsaved objects, and in a child context", arguments: types)
    func pending(_ type: String) throws {
        let stack = try Folk.stack(type)
        try Folk.people(stack)
        _ = stack.context.make("Person", ["name": "new"])
        let child = stack.context.child()
        for context in [stack.context, child] {
            for format in Self.predicates {
                let request = NSFetchRequest<Person>("Person", format)
                let error = #expect(throws: CocoaError.self, "\(format)") { try context.fetch(request) }
                #expect(error?.code.rawValue == 134060, "\(format)")
            }
            let request = NSFetchRequest<Person>("Person", by: "stranger")
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.code.rawValue == 134060)
        }
    }

    @Test(
        "In memory an unknown key is nil to a predicate and to a sort order, and a value only by value(forKey:) of its own"
    )
    func evaluation() throws {
        let stack = try Folk.stack()
        let person = stack.context.make("Person", ["name": "Bea", "age": 30])
        person.setValue(NSSet(array: [stack.context.make("Person", ["name": "kid"])]), forKey: "kids")
        #expect(!NSPredicate(format: "stranger == 1").evaluate(with: person))
        #expect(NSPredicate(format: "stranger == nil").evaluate(with: person))
        #expect(NSPredicate(format: "father.stranger == nil").evaluate(with: person))
        #expect(NSPredicate(format: "name.stranger == nil").evaluate(with: person))
        #expect(!NSPredicate(format: "ANY kids.stranger == 1").evaluate(with: person))
        #expect(NSPredicate(format: "SUBQUERY(kids, $kid, $kid.stranger == nil).@count == 1").evaluate(with: person))
        #expect(NSPredicate(format: "stranger == nil").evaluate(with: Mood.calm))
        let both = [person, stack.context.make("Person", ["name": "Adam"])] as NSArray
        #expect(both.sortedArray(using: [NSSortDescriptor(key: "stranger", ascending: true)]).count == 2)
        #expect(both.sortedArray(using: [NSSortDescriptor(key: "kids.@stranger", ascending: true)]).count == 2)
        #expect(!NSPredicate(format: "kids.@stranger > 1").evaluate(with: person))
        #expect(NSPredicate(format: "1 == 2 OR kids.@stranger.name == nil").evaluate(with: person))
        #expect(NSExpression(forKeyPath: "father.stranger").expressionValue(with: person, context: nil) == nil)
        #expect(both.filtered(using: NSPredicate(format: "stranger.x == 1")).isEmpty)
    }

    /// Answers for one key that the model lacks.
    final class Open: NSManagedObject {
        override func value(forUndefinedKey key: String) -> Any? {
            key == "answer" ? 42 : super.value(forUndefinedKey: key)
        }
    }

    @Test("A class that answers for undefined keys is asked, and what it leaves to its superclass is nil")
    func undefined() throws {
        var draft = Folk.draft()
        draft.entities[0].className = nil
        draft.entities[1].className = nil
        draft.entities[2].className = "AttributeTests.UnknownKeyTests.Open"
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        let open = Open(context: stack.context)
        #expect(NSPredicate(format: "answer == 42").evaluate(with: open))
        #expect(NSPredicate(format: "stranger == nil").evaluate(with: open))
    }

    @Test(
        "Additional keys are reached by value(forKey:), predicates and sort orders in memory, also those of the superclass"
    )
    func additional() throws {
        let stack = try Folk.stack()
        try Folk.people(stack)
        let worker = stack.context.make("Worker", ["name": "Will", "age": 40, "wage": 120.0, "rank": 60])
        #expect(worker.value(forKey: "isRich") as? Bool == true && worker.value(forKey: "isGrown") as? Bool == true)
        #expect(
            worker.value(forKey: "greeting") as? String == "Hello Will"
                && worker.value(forKey: "bestRank") as? Int16 == 60)
        #expect(worker["isRich"] is NSNumber && worker.value(forKeyPath: "kids.greeting") is NSSet)
        let people = try stack.context.fetch(NSFetchRequest<Person>(entityName: "Person")) as NSArray
        func names(_ objects: [Any]) -> [String] { objects.compactMap { ($0 as? Person)?.name } }
        #expect(Set(names(people.filtered(using: NSPredicate(format: "isGrown == YES")))) == ["Bea", "Will"])
        #expect(names(people.filtered(using: NSPredicate(format: "isRich == YES"))) == ["Will"])
        #expect(names(people.filtered(using: NSPredicate(format: "bestRank == 40"))) == ["Adam"])
        #expect(
            names(people.sortedArray(using: [NSSortDescriptor(key: "greeting", ascending: true)])) == [
                "Adam", "Bea", "Cleo", "Will",
            ])
        #expect(NSSortDescriptor(keyPath: \Person.isGrown, ascending: true).key == "isGrown")
        #expect(NSExpression(forKeyPath: \Worker.isRich).keyPath == "isRich")
        #expect(
            NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: \Person.isGrown),
                rightExpression: NSExpression(forConstantValue: true),
                modifier: .direct, type: .equalTo
            ).evaluate(with: worker))
    }
}
