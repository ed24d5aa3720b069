// What a request may ask for besides rows, and what it may not ask.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Options of fetches") struct FetchOptionTests {
    static let types = StoreMaker.types

    /// Three saved patients; then one is renamed, one deleted and one inserted, unsaved.
    private func stack(_ type: String) throws -> (stack: Stack, patients: [NSManagedObject]) {
        let stack = try Stack(type, undo: false)
        let ward = stack.context.make("Ward", ["name": "North"])
        let patients = ["Ada", "Bo", "Cy"].map { stack.context.make("Patient", ["name": $0, "ward": ward]) }
        try stack.context.save()
        patients[0].setValue("Zoe", forKey: "name")
        stack.context.delete(patients[1])
        return (stack, patients + [stack.context.make("Patient", ["name": "Eve"])])
    }

    private func request<T>(_ format: String?, _ type: T.Type = NSManagedObject.self) throws
        -> NSFetchRequest<T>
    {
        let request = NSFetchRequest<T>("Patient", by: "name")
        request.predicate = try format.map { try NSPredicate(parsing: $0) }
        return request
    }

    @Test(
        "8.2 Without pending changes a fetch and a count answer for the store, and objects keep their values",
        arguments: types)
    func store(_ type: String) throws {
        let (stack, patients) = try stack(type)
        for format in [nil, "ward.name == 'North'", "ANY ward.patients.name == 'Ada'"] {
            let request = try request(format)
            request.includesPendingChanges = false
            #expect(
                try stack.context.fetch(request) == [patients[0], patients[1], patients[2]], "\(format ?? "")"
            )
            #expect(try stack.context.count(for: request) == 3)
            request.fetchOffset = 1
            request.fetchLimit = 1
            #expect(try stack.context.fetch(request) == [patients[1]])
            #expect(try stack.context.count(for: request) == 1)
        }
        let old = try request("name == 'Ada'")
        #expect(try stack.context.fetch(old).isEmpty)
        #expect(try stack.context.count(for: old) == 0)
        old.includesPendingChanges = false
        #expect(try stack.context.fetch(old).first?.value(forKey: "name") as? String == "Zoe")
        #expect(try stack.context.fetch(try request(nil)) == [patients[2], patients[3], patients[0]])
    }

    @Test("8.5 A limit of pending and saved objects together never exceeds or loses any", arguments: types)
    func cut(_ type: String) throws {
        let (stack, patients) = try stack(type)
        let view = [patients[2], patients[3], patients[0]]
        for offset in 0...4 {
            for limit in 1...4 {
                let request = try request(nil)
                (request.fetchOffset, request.fetchLimit) = (offset, limit)
                #expect(try stack.context.fetch(request) == Array(view.dropFirst(offset).prefix(limit)))
                #expect(try stack.context.count(for: request) == view.dropFirst(offset).prefix(limit).count)
            }
        }
    }

    @Test("Without values a fetch answers faults that read their rows later", arguments: types)
    func values(_ type: String) throws {
        let (stack, _) = try stack(type)
        let other = stack.another()
        let request = try request(nil)
        request.includesPropertyValues = false
        let found = try other.fetch(request)
        #expect(found.count == 3 && found.allSatisfy(\.isFault))
        #expect(found.map { $0.value(forKey: "name") as? String } == ["Ada", "Bo", "Cy"])
    }

    @Test("Object IDs come in the order of the objects, a count as one number", arguments: types)
    func results(_ type: String) throws {
        let (stack, patients) = try stack(type)
        let ids = try request(nil, NSManagedObjectID.self)
        ids.resultType = .managedObjectIDResultType
        #expect(try stack.context.fetch(ids) == [patients[2], patients[3], patients[0]].map(\.objectID))
        let count = try request("name BEGINSWITH 'Z'", NSNumber.self)
        count.resultType = .countResultType
        #expect(try stack.context.fetch(count) == [1])
        // A wrong promise is an error, not a wrong cast.
        let wrong = try request(nil, NSNumber.self)
        #expect(throws: CocoaError.self) { try stack.context.fetch(wrong) }
    }

    @Test(
        "An unknown key is refused with its name and entity, on each store, pending changes or not",
        arguments: types)
    func unknown(_ type: String) throws {
        let (stack, _) = try stack(type)
        let predicates = [
            ("nope == 1", "Patient"), ("ward.nope == 1", "Ward"), ("ANY doctors.nope == 1", "Doctor"),
            ("name == 'a' AND NOT (nope IN {1, 2})", "Patient"), ("age < nope", "Patient"),
            ("name.nope == 1", "Patient"), ("ward.patients.@count > 0 OR ward.nope == nil", "Ward"),
        ]
        let sorts = [("nope", "Patient"), ("ward.nope", "Ward")]
        for context in [stack.context, stack.another()] {
            for (format, entity) in predicates {
                let request = try request(format)
                for attempt in [{ _ = try context.fetch(request) }, { _ = try context.count(for: request) }] {
                    expectUnknown(entity, format, attempt)
                }
            }
            for (key, entity) in sorts {
                let request = try request(nil)
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                expectUnknown(entity, key) { _ = try context.fetch(request) }
            }
            let many = try request(nil)
            many.sortDescriptors = [NSSortDescriptor(key: "doctors.name", ascending: true)]
            #expect(throws: CocoaError.self) { try context.fetch(many) }
        }
    }

    private func expectUnknown(_ entity: String, _ what: String, _ body: () throws -> Void) {
        let error = #expect(throws: CocoaError.self, "\(what)") { try body() }
        let sentence = error.sentence
        #expect(error?.code.rawValue == 134060)
        #expect(sentence.contains("nope") && sentence.contains(entity), "\(what): \(sentence)")
    }
}
