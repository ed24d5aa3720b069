// What a fetch promises whatever kind of store it asks.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Statements on fetches") struct FetchStatementTests {
    private func request(_ entity: String, _ format: String? = nil, _ sort: [NSSortDescriptor]? = nil)
        -> NSFetchRequest<NSManagedObject>
    {
        let request = NSFetchRequest<NSManagedObject>(entity, format)
        request.sortDescriptors = sort ?? [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    private func names(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) throws -> [String]
    {
        try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
    }

    @Test(
        "8.1 A fetch finds unsaved objects that match, judges changed ones by their new values, and finds no deleted ones",
        arguments: StoreMaker.types)
    func pending(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        let patients = ["a", "b", "c", "d"].map { context.make("Patient", ["name": $0, "age": $0 < "c" ? 10 : 30]) }
        try context.save()
        patients[0].setValue(40, forKey: "age")
        patients[2].setValue(5, forKey: "age")
        context.delete(patients[3])
        _ = context.make("Patient", ["name": "new", "age": 50])
        _ = context.make("Patient", ["name": "small", "age": 1])
        let old = request("Patient", "age > 20")
        #expect(old.includesPendingChanges)
        #expect(try names(context, old) == ["a", "new"])
        #expect(try context.count(for: old) == 2)
        #expect(try names(context, request("Patient", "age <= 20")) == ["b", "c", "small"])
        #expect(try names(stack.another(), old) == ["c", "d"])
    }

    @Test(
        "8.6 A limit cuts what every kind of store finds, after the order and behind the offset; in a FETCH they count as well",
        arguments: StoreMaker.types)
    func limit(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        for name in ["d", "b", "e", "a", "c"] { _ = context.make("Patient", ["name": name]) }
        try context.save()
        context.reset()
        let first = request("Patient")
        first.fetchLimit = 2
        #expect(try names(context, first) == ["a", "b"])
        first.fetchOffset = 2
        #expect(try names(context, first) == ["c", "d"])
        first.fetchOffset = 4
        #expect(try names(context, first) == ["e"])
        first.fetchLimit = 0
        first.fetchOffset = 3
        #expect(try names(context, first) == ["d", "e"])
        let inner = NSFetchRequest<any NSFetchRequestResult>(entityName: "Patient")
        inner.sortDescriptors = first.sortDescriptors
        (inner.fetchOffset, inner.fetchLimit) = (1, 3)
        let outer = request("Patient")
        outer.predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", inner, context)
        #expect(try names(context, outer) == ["b", "c", "d"])
    }

    @Test(
        "8.12 A fetch includes sub-entities unless told not to, and an AND of nothing holds for every object",
        arguments: StoreMaker.types)
    func subentities(_ type: String) throws {
        var (place, ward) = (EntityDraft(name: "Place"), EntityDraft(name: "Ward"))
        place.attributes = [Clinic.attribute("name", .string)]
        ward.parentName = "Place"
        let stack = try Stack(type, model: NSManagedObjectModel(place, ward), undo: false)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        _ = context.make("Place", ["name": "p"])
        for isSaved in [false, true] {
            _ = context.make("Ward", ["name": isSaved ? "w2" : "w1"])
            if isSaved { try context.save() }
        }
        _ = context.make("Ward", ["name": "w3"])
        let all = request("Place")
        #expect(all.includesSubentities)
        for predicate in [nil, NSCompoundPredicate(andPredicateWithSubpredicates: [])] {
            all.predicate = predicate
            all.includesSubentities = true
            #expect(try names(context, all) == ["p", "w1", "w2", "w3"])
            #expect(try context.count(for: all) == 4)
            all.includesSubentities = false
            #expect(try names(context, all) == ["p"])
            #expect(try context.count(for: all) == 1)
        }
        all.includesSubentities = true
        all.predicate = NSCompoundPredicate(orPredicateWithSubpredicates: [])
        #expect(try context.count(for: all) == 0)
    }

    private static let texts = ["b", "B", "a10", "a9", "A1", "é", "e", "É", "f", "", "Zoë", "zoe", "ä", "z"]

    @Test(
        "8.14 Each of the five comparisons sorts alike in every kind of store, in memory and with unsaved changes",
        arguments: StoreMaker.types)
    func sorting(_ type: String) throws {
        for comparison in SortSelector.allCases {
            let stack = try Stack(type, undo: false)
            defer { withExtendedLifetime(stack) {} }
            let context = stack.context
            for text in Self.texts.dropLast(4) { _ = context.make("Patient", ["name": text]) }
            try context.save()
            for text in Self.texts.suffix(4) { _ = context.make("Patient", ["name": text]) }
            let order = [
                NSSortDescriptor(key: "name", ascending: true, selector: comparison.rawValue),
                NSSortDescriptor(key: "name", ascending: false),
            ]
            let all = request("Patient", nil, order)
            let unsaved = try names(context, all)
            let objects = try context.fetch(request("Patient", nil, [])) as NSArray
            #expect(
                unsaved
                    == objects.sortedArray(using: order).map {
                        ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-"
                    })
            try context.save()
            context.reset()
            #expect(try names(context, all) == unsaved, "\(comparison)")
            all.sortDescriptors = order.compactMap { $0.reversedSortDescriptor as? NSSortDescriptor }
            #expect(try names(context, all) == unsaved.reversed(), "\(comparison)")
        }
    }

    @Test(
        "8.14 An order by a block, by a to-many or by what is not stored is refused by name",
        arguments: StoreMaker.types)
    func refusedOrders(_ type: String) throws {
        var draft = Clinic.draft()
        draft.entities[0].attributes.append(Clinic.attribute("nick", .string, transient: true))
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft), undo: false)
        defer { withExtendedLifetime(stack) {} }
        let context = stack.context
        _ = context.make("Patient", ["name": "a"])
        let refused = [
            ("name", NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }),
            ("nick", NSSortDescriptor(key: "nick", ascending: true)),
            ("doctors", NSSortDescriptor(key: "doctors.name", ascending: true)),
            ("doctors", NSSortDescriptor(key: "doctors", ascending: true)),
        ]
        for (name, descriptor) in refused {
            let error = #expect(throws: CocoaError.self) { try context.fetch(request("Patient", nil, [descriptor])) }
            #expect(
                error?.code.rawValue == 134060 && error?.localizedDescription.contains(name) == true,
                "\(name): \(String(describing: error))")
        }
    }
}
