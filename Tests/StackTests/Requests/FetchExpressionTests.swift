// FETCH: what a request finds, as a value in predicates and expressions.

import CoreDataSQLite
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("14.10 FETCH") struct FetchExpressionTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, ShelfStore.type]

    /// Patients a (10), b (20), c (30) and d, of no age; a and b in the ward north.
    private func context(_ type: String) throws -> NSManagedObjectContext {
        let rig = Rig()
        try rig.add(type)
        let context = rig.context()
        context.userInfo["rig"] = rig
        let north = context.make("Ward", ["name": "north", "beds": 20])
        for (name, age) in [("a", 10), ("b", 20), ("c", 30)] {
            let patient = context.make("Patient", ["name": name, "age": age])
            if age < 30 { patient.setValue(north, forKey: "ward") }
        }
        _ = context.make("Patient", ["name": "d"])
        try context.save()
        context.reset()
        return context
    }

    private func request(_ entity: String, _ format: String = "TRUEPREDICATE") -> NSFetchRequest<
        any NSFetchRequestResult
    > {
        let request = NSFetchRequest<any NSFetchRequestResult>(entity, format)
        return request
    }

    private func names(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> String {
        let request = NSFetchRequest<NSManagedObject>("Patient", by: "name")
        request.predicate = predicate
        let found = try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }
        request.predicate = nil
        let judged = try context.fetch(request).filter { predicate.evaluate(with: $0) }.map {
            $0.value(forKey: "name") as? String ?? "-"
        }
        #expect(judged == found, "\(predicate)")
        return found.joined()
    }

    @Test(
        "Objects are found among those of a fetch, whatever its results are, and so are their targets", arguments: types
    )
    func membership(type: String) throws {
        let context = try context(type)
        let young = request("Patient", "age < 25")
        #expect(try names(NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", young, context), context) == "ab")
        #expect(try names(NSPredicate(format: "NOT SELF IN FETCH(%@, %@, NO)", young, context), context) == "cd")
        #expect(try names(NSPredicate(format: "FETCH(%@, %@, NO) CONTAINS SELF", young, context), context) == "ab")
        young.resultType = .managedObjectIDResultType
        #expect(try names(NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", young, context), context) == "ab")
        let wards = request("Ward", "beds > 10")
        #expect(try names(NSPredicate(format: "ward IN FETCH(%@, %@, NO)", wards, context), context) == "ab")
        wards.predicate = NSPredicate(value: false)
        #expect(try names(NSPredicate(format: "ward IN FETCH(%@, %@, NO)", wards, context), context) == "")
    }

    @Test("A number of rows, a maximum and a column of values are compared", arguments: types)
    func values(type: String) throws {
        let context = try context(type)
        let all = request("Patient", "age != nil")
        #expect(try names(NSPredicate(format: "age == FETCH(%@, %@, YES) * 10", all, context), context) == "c")
        #expect(try names(NSPredicate(format: "age > FETCH(%@, %@, YES)", all, context), context) == "abc")
        all.resultType = .countResultType
        #expect(try names(NSPredicate(format: "age > FETCH(%@, %@, NO)", all, context), context) == "abc")
        all.resultType = .dictionaryResultType
        all.propertiesToFetch = ["age"]
        #expect(try names(NSPredicate(format: "age IN FETCH(%@, %@, NO)", all, context), context) == "abc")
        let most = NSExpressionDescription()
        most.name = "most"
        most.expression = NSExpression(format: "max:(age)")
        all.propertiesToFetch = [most]
        #expect(try names(NSPredicate(format: "age == FETCH(%@, %@, NO)", all, context), context) == "c")
        #expect(try names(NSPredicate(format: "age < FETCH(%@, %@, NO)", all, context), context) == "ab")
        all.predicate = NSPredicate(value: false)
        #expect(try names(NSPredicate(format: "age == FETCH(%@, %@, NO)", all, context), context) == "d")
    }

    @Test("Unsaved objects are found, and the fetch is made anew for each request", arguments: types)
    func unsaved(type: String) throws {
        let context = try context(type)
        let predicate = NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", request("Patient", "age < 25"), context)
        #expect(try names(predicate, context) == "ab")
        _ = context.make("Patient", ["name": "e", "age": 5])
        #expect(try names(predicate, context) == "abe")
        try context.all("Patient").first { $0.value(forKey: "name") as? String == "a" }?.setValue(50, forKey: "age")
        #expect(try names(predicate, context) == "be")
        try context.save()
        #expect(try names(predicate, context) == "be")
        // Of another context of the stores, as far as it knows.
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = predicate
        #expect(try other.count(for: request) == 2)
    }

    @Test("The parts of a fetch expression, its value, and its text")
    func parts() throws {
        let context = try context(NSSQLiteStoreType)
        let constant = NSExpression(forConstantValue: request("Patient"))
        let fetch = NSFetchRequestExpression.expression(
            forFetch: constant, context: NSExpression(forVariable: "here"), countOnly: true)
        let made = try #require(fetch as? NSFetchRequestExpression)
        #expect(
            made.requestExpression === constant && made.contextExpression.variable == "here" && made.isCountOnlyRequest)
        #expect(made.expressionType == NSFetchRequestExpressionType && NSFetchRequestExpressionType.rawValue == 50)
        #expect(made.description.hasPrefix("FETCH(<NSFetchRequest") && made.description.hasSuffix(", $here, YES)"))
        #expect(
            (made.expressionValue(with: nil, context: ["here": context]) as? NSNumber)?.intValue == 4
                || made.expressionValue(with: nil, context: ["here": context]) as? Int == 4)
        let objects = NSFetchRequestExpression.expression(
            forFetch: constant, context: NSExpression(forConstantValue: context), countOnly: false)
        #expect((objects.expressionValue(with: nil, context: nil) as? [Any])?.count == 4)
        #expect(
            objects
                == NSFetchRequestExpression.expression(
                    forFetch: constant, context: NSExpression(forConstantValue: context), countOnly: false))
        #expect(objects != fetch)
        #expect(
            (try? NSKeyedArchiver.archivedData(withRootObject: objects, requiringSecureCoding: true)).flatMap {
                try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: $0)
            } == nil)
        let sum = NSExpression(forFunction: "add:to:", arguments: [fetch, NSExpression(forConstantValue: 1)])
        #expect((sum.expressionValue(with: nil, context: ["here": context]) as? NSNumber)?.intValue == 5)
    }

    @Test(
        "A fetch that depends on the row, one of no request or context, and one of several values are refused by name",
        arguments: types)
    func refused(type: String) throws {
        let context = try context(type)
        let two = request("Patient")
        two.resultType = .dictionaryResultType
        two.propertiesToFetch = ["name", "age"]
        let cases: [(NSPredicate, String)] = [
            (NSPredicate(format: "FETCH(1, 2, NO) == 1"), "FETCH needs a context, and was given one of type"),
            (
                NSPredicate(format: "FETCH(1, %@, NO) == 1", context),
                "FETCH needs a fetch request, and was given one of type"
            ),
            (NSPredicate(format: "FETCH(name, %@, NO) == 1", context), "cannot be a constant of a predicate"),
            (NSPredicate(format: "FETCH(name, age, NO) == 1"), "the function FETCH with 3 arguments"),
            (NSPredicate(format: "FETCH(%@, $there, YES) == 1", two), "cannot be a constant of a predicate"),
            (
                NSPredicate(format: "age IN FETCH(%@, %@, NO)", two, context),
                "dictionaries of several values in Patient"
            ),
            (
                NSPredicate(format: "age == FETCH(%@, %@, NO)", request("Patient", "age > 10"), context),
                "equal with a list"
            ),
            (NSPredicate(format: "age == FETCH(%@, %@, NO)", request("Nobody"), context), "no entity Nobody"),
        ]
        for (predicate, words) in cases {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            request.predicate = predicate
            let said = sentence { _ = try context.fetch(request) }
            #expect(said.contains(words), "\(predicate): \(said)")
        }
    }

    @Test("A fetch that fails while an object is judged is told by the context's next call that throws")
    func failing() throws {
        let context = try context(NSSQLiteStoreType)
        let patient = try #require(try context.all("Patient").first)
        let predicate = NSPredicate(format: "age == FETCH(%@, %@, NO)", request("Nobody"), context)
        #expect(!predicate.evaluate(with: patient))
        #expect(context.pendingReadError != nil)
        #expect(throws: CocoaError.self) { try context.all("Patient") }
        #expect(context.pendingReadError == nil)
    }
}
