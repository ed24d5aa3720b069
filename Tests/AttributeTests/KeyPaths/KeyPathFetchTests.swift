// Fetches and predicates by Swift key paths.

import Foundation
import CoreData
import CoreDataTestSupport
import Testing

/// As a library writes it that knows neither the class nor the type of the value: these are Foundation's own initialisers.
private func ordered<Root: NSManagedObject, Value: Comparable>(by keyPath: KeyPath<Root, Value>) -> NSSortDescriptor {
    NSSortDescriptor(keyPath: keyPath, ascending: true)
}

private func ordered<Root, Value>(by keyPath: KeyPath<Root, Value>, comparator: @escaping Comparator)
    -> NSSortDescriptor
{
    NSSortDescriptor(keyPath: keyPath, ascending: true, comparator: comparator)
}

private func named<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> String { NSExpression(forKeyPath: keyPath).keyPath }

@Suite("Fetches by Swift key paths") struct KeyPathFetchTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType]

    private func names(_ stack: Stack, _ descriptors: NSSortDescriptor..., predicate: NSPredicate? = nil) throws
        -> [String]
    {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = descriptors
        request.predicate = predicate
        return try stack.context.fetch(request).map { $0.name ?? "" }
    }

    @Test("A fetch is sorted by a key path in each of its forms", arguments: types)
    func sorting(_ type: String) throws {
        let stack = try Folk.stack(type)
        try Folk.people(stack)
        #expect(try names(stack, NSSortDescriptor(keyPath: \Person.name, ascending: true)) == ["Adam", "Bea", "Cleo"])
        #expect(
            try names(stack, NSSortDescriptor(keyPath: \Person.firmName, ascending: false)) == ["Cleo", "Bea", "Adam"])
        #expect(try names(stack, NSSortDescriptor(keyPath: \Person.age, ascending: false)) == ["Bea", "Cleo", "Adam"])
        #expect(try names(stack, ordered(by: \Person.score)) == ["Adam", "Cleo", "Bea"])
        #expect(try names(stack, ordered(by: \Person.name!)) == ["Adam", "Bea", "Cleo"])
        #expect(try names(stack, NSSortDescriptor(keyPath: \Person.rank, ascending: true)) == ["Cleo", "Adam", "Bea"])
        #expect(
            try names(
                stack, NSSortDescriptor(keyPath: \Person.isAwake, ascending: false),
                NSSortDescriptor(keyPath: \Person.mood, ascending: true), ordered(by: \Person.age)) == [
                    "Cleo", "Bea", "Adam",
                ])
        #expect(
            try names(
                stack, NSSortDescriptor(keyPath: \Person.kids.count, ascending: true),
                NSSortDescriptor(keyPath: \Person.father?.name, ascending: true), ordered(by: \Person.firmName))
                == ["Adam", "Bea", "Cleo"])
        let reversed = try #require(ordered(by: \Person.age).reversedSortDescriptor as? NSSortDescriptor)
        #expect(try names(stack, reversed) == ["Bea", "Cleo", "Adam"])
        #expect(ordered(by: \Person.age).key == "age" && ordered(by: \Person.age).selector == "compare:")
    }

    @Test("The same descriptors sort objects in memory", arguments: [NSSQLiteStoreType])
    func inMemory(_ type: String) throws {
        let stack = try Folk.stack(type)
        try Folk.people(stack)
        let people = try stack.context.fetch(NSFetchRequest<Person>(entityName: "Person")) as NSArray
        func names(_ descriptor: NSSortDescriptor) -> [String] {
            people.sortedArray(using: [descriptor]).compactMap { ($0 as? Person)?.name }
        }
        #expect(names(NSSortDescriptor(keyPath: \Person.name, ascending: false)) == ["Cleo", "Bea", "Adam"])
        #expect(names(NSSortDescriptor(keyPath: \Person.rank, ascending: true)) == ["Cleo", "Adam", "Bea"])
        #expect(names(NSSortDescriptor(keyPath: \Person.bestRank, ascending: false)) == ["Bea", "Adam", "Cleo"])
        #expect(names(NSSortDescriptor(keyPath: \Person.isAdult, ascending: true)).first == "Adam")
    }

    @Test("A key path without a name, and a comparator of the program's own, make the fetch throw", arguments: types)
    func refused(_ type: String) throws {
        let stack = try Folk.stack(type)
        try Folk.people(stack)
        func error(_ descriptor: NSSortDescriptor) -> CocoaError? {
            #expect(throws: CocoaError.self) { try names(stack, descriptor) }
        }
        let computed = error(NSSortDescriptor(keyPath: \Person.isAdult, ascending: true))
        #expect(computed?.code.rawValue == 134060 && "\(computed?.userInfo ?? [:])".contains("age"))
        #expect(error(ordered(by: \Person.name) { _, _ in .orderedSame })?.code.rawValue == 134060)
        #expect(error(ordered(by: \Person.age) { _, _ in .orderedAscending })?.code.rawValue == 134060)
        #expect(ordered(by: \Person.age) { _, _ in .orderedSame }.selector == nil)
        // One that the class lists has a name, which the store has no column for.
        #expect(error(NSSortDescriptor(keyPath: \Person.isGrown, ascending: true))?.code.rawValue == 134060)
    }

    @Test("Predicates are built of key paths", arguments: types)
    func predicates(_ type: String) throws {
        let stack = try Folk.stack(type)
        try Folk.people(stack)
        let isAwake = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: \Person.isAwake),
            rightExpression: NSExpression(forConstantValue: true),
            modifier: .direct, type: .equalTo)
        #expect(isAwake.predicateFormat == "isAwake == 1" || isAwake.predicateFormat == "isAwake == true", "\(isAwake)")
        let byAge = NSSortDescriptor(keyPath: \Person.age, ascending: true)
        #expect(try names(stack, byAge, predicate: isAwake) == ["Cleo", "Bea"])
        #expect(
            try names(stack, byAge, predicate: NSPredicate(format: "%K > %d", named(\Person.age), 10)) == [
                "Cleo", "Bea",
            ])
        #expect(
            named(\Person.father?.name) == "father.name"
                && NSExpression(forKeyPath: \Person.kids.count).keyPath == "kids.@count")
        #expect(NSExpression(forKeyPath: \Person.name) == NSExpression(forKeyPath: "name"))
        #expect(NSExpression(forKeyPath: \Person.name).expressionType == .keyPath)
        let computed = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: \Person.isAdult),
            rightExpression: NSExpression(forConstantValue: true),
            modifier: .direct, type: .equalTo)
        let error = #expect(throws: CocoaError.self) { try names(stack, byAge, predicate: computed) }
        #expect(error?.code.rawValue == 134060)
        let adam = try #require(
            try stack.context.fetch(NSFetchRequest<Person>(entityName: "Person")).first { $0.name == "Adam" })
        #expect(!isAwake.evaluate(with: adam))
    }

    @Test("A class without an entity of its own is the root of a key path that the fetched class fits")
    func base() throws {
        let stack = try Folk.stack()
        try Folk.people(stack)
        #expect(
            try names(stack, NSSortDescriptor(keyPath: \NSManagedObject["name"], ascending: true)) == [
                "Adam", "Bea", "Cleo",
            ])
    }
}
