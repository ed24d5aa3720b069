// The finders of classes: what they find, in which context, and what they do not make.

import CoreDataOperators
import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Finders") struct FinderTests {
    private let order = [SortDescriptor(\Ship.crew)]

    @Test("Finds objects by predicate, pattern and ID, in an order", arguments: Harbour.types)
    func objects(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        #expect(try Ship.all(in: context).count == 12)
        #expect(
            try Ship.all(sortedBy: [SortDescriptor(\.crew, order: .reverse)], in: context).map(\.crew)
                == (-2...9).reversed())
        #expect(try Steamer.all(in: context).count == 4)
        #expect(try Ship.find(where: \Ship.crew > 6, sortedBy: order, in: context).map(\.crew) == [7, 8, 9])
        #expect(
            try Ship.find(sortedBy: order, limit: 2, in: context) { $0.master.name == "Bo" }.map(\.crew) == [-1, 5])
        #expect(try Ship.first(where: \Ship.crew > 6, sortedBy: order, in: context)?.crew == 7)
        #expect(try Ship.first(where: \Ship.crew > 60, in: context) == nil)
        #expect(try Ship.count(in: context) == 12 && Ship.count(where: \Ship.crew > 6, in: context) == 3)
        let id = try #require(try Steamer.first(in: context)).objectID
        #expect(try Ship.find(id: id, in: context)?.objectID == id && Steamer.find(id: id, in: context)?.objectID == id)
        #expect(try Sailor.find(id: id, in: context) == nil)
    }

    @Test("Patterns of SQL: wildcards, what they stand for, and how they are escaped", arguments: Harbour.types)
    func patterns(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        func names(_ pattern: String, _ options: NSComparisonPredicate.Options = []) throws -> [String] {
            try Ship.find(\.name, like: pattern, options: options, sortedBy: order, in: context).map(\.name)
        }
        #expect(try names("Ada%") == ["Ada", "Adamant"])
        #expect(try names("ada", .caseInsensitive) == ["Ada", "ADA"])
        #expect(try names("%a") == ["Ada", "Bella", "delta"])
        #expect(try names("_d_") == ["Ada"])
        #expect(try names("a_b") == ["a_b", "axb"])
        #expect(try names("a\\_b") == ["a_b"])
        #expect(try names("50\\%%") == ["50% off"])
        #expect(try names("%\\%%") == ["50% off"])
        #expect(try names("%*%").isEmpty && names("A?a").isEmpty)
        #expect(try names("%").count == 12)
        #expect(try Ship.find(\.nick, like: "Old%", in: context).count == 2)
        #expect(try Ship.find(\.master?.name, like: "B_", in: context).count == 3)
        #expect(
            SQLPattern("Wash%").predicate(of: (\Ship.name).predicateExpression, []).description
                == "name BEGINSWITH \"Wash\"")
        #expect(
            SQLPattern("W*s_\\").predicate(of: (\Ship.name).predicateExpression, []).description
                == #"name LIKE "W\\*s?\\\\""#)
        // A scalar that joins the one before it leaves that what it is.
        _ = context.make("Ship", ["name": "n*\u{301}"])
        _ = context.make("Ship", ["name": "n\u{301}x"])
        try context.save()
        #expect(try names("n*\u{301}") == ["n*\u{301}"] && names("%*\u{301}%") == ["n*\u{301}"])
        #expect(try names("n_\u{301}") == ["n*\u{301}"] && names("n%\u{301}%").count == 2)
    }

    @Test("The sum of Floats is the Float that is next to it", arguments: Harbour.types)
    func floatSum(_ type: String) throws {
        let stack = try EncodedValueTests.stack(type)
        let context = stack.context
        for number in 0..<7 { _ = context.make("Parcel", ["short": Float(number) / 10]) }
        try context.save()
        let sum = (0..<7).reduce(0) { $0 + Double(Float($1) / 10) }
        #expect(Double(Float(sum)) != sum)
        #expect(try Parcel.sum(of: \.short, in: context) == Float(sum))
        #expect(try Parcel.sum(of: \.short, where: NSPredicate(value: false), in: context) == 0)
        withExtendedLifetime(stack) {}
    }

    @Test("Aggregates, with values that are missing and none at all", arguments: Harbour.types)
    func aggregates(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let big = \Ship.crew > 6
        #expect(
            try Ship.average(of: \.crew, in: context) == 3.5 && Ship.average(of: \.crew, where: big, in: context) == 8)
        #expect(try Ship.sum(of: \.crew, in: context) == 42 && Ship.sum(of: \.length, in: context) == 16.5)
        #expect(try Ship.sum(of: \.guns, in: context) == [0, 2, 3, 4, 6, 7, 8, 10, 11].map { $0 * 3 }.reduce(0, +))
        #expect(try Ship.minimum(of: \.crew, in: context) == -2 && Ship.maximum(of: \.crew, in: context) == 9)
        #expect(try Ship.minimum(of: \.launched, in: context) == Date(timeIntervalSinceReferenceDate: 1000))
        #expect(try Ship.maximum(of: \.name, where: big, in: context) == "axb")
        #expect(try Ship.maximum(of: \.flag, in: context) == .black)
        #expect(try Sailor.maximum(of: \.age, in: context) == 61 && Sailor.average(of: \.age, in: context) == 45.5)
        let none = \Ship.crew > 60
        #expect(
            try Ship.average(of: \.crew, where: none, in: context) == nil
                && Ship.maximum(of: \.guns, where: none, in: context) == nil)
        #expect(try Ship.sum(of: \.crew, where: none, in: context) == 0)
    }

    @Test("Columns are parallel arrays with the IDs, and make no object", arguments: Harbour.types)
    func columns(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let (ids, (crews, names, guns, launched)) = try Ship.columns(
            of: \.crew, \.name, \.guns, \.launched, sortedBy: order, in: context)
        #expect(context.registeredObjects.isEmpty)
        #expect(crews == Array(-2...9) && ids.count == 12 && names.count == 12)
        let ships = try Ship.all(sortedBy: order, in: context)
        #expect(
            ids == ships.map(\.objectID) && names == ships.map(\.name) && guns == ships.map(\.guns)
                && launched == ships.map(\.launched))
        let more = try Ship.columns(
            of: \.flag, \.rig, \.isAfloat, \.isLit, \.tag, \.length, \.master?.name, where: \Ship.crew > 0,
            sortedBy: order, limit: 3, in: context)
        let three = Array(ships[3..<6])
        #expect(
            more.ids == three.map(\.objectID) && more.values.0 == three.map(\.flag) && more.values.1 == three.map(\.rig)
        )
        #expect(
            more.values.2 == three.map(\.isAfloat) && more.values.3 == three.map(\.isLit)
                && more.values.4 == three.map(\.tag))
        #expect(more.values.5 == three.map(\.length) && more.values.6 == three.map { $0.master?.name })
        #expect(try Ship.columns(of: \.crew, where: \Ship.crew > 60, in: context).values.isEmpty)
        let masters = try Ship.columns(of: \.master?.objectID, \.objectID, sortedBy: order, in: context)
        #expect(masters.values.0 == ships.map { $0.master?.objectID } && masters.values.1 == ids)
    }

    @Test("A column that is not what the property says is refused", arguments: Harbour.types)
    func mismatches(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        let nameless = context.make("Ship", ["crew": 100])
        try context.save()
        context.refresh(nameless, mergeChanges: false)
        let error = #expect(throws: CocoaError.self) { try Ship.columns(of: \.master!.name, in: context) }
        #expect(error?.localizedDescription.contains("property master.name were") == true)
        #expect(error?.code.rawValue == 134060 && "\(error as Any)".contains("asked for as String, and one is nil"))
        #expect(throws: CocoaError.self) { try Ship.columns(of: \.loud, in: context) }
        let objects = #expect(throws: CocoaError.self) { try Ship.columns(of: \.master, in: context) }
        #expect(objects?.localizedDescription.contains("ask for IDs (\\.master?.objectID)") == true)
        let request = NSFetchRequest<Ship>(entityName: "Ship")
        request.prefetch(\.master, \.cargo)
        #expect(request.relationshipKeyPathsForPrefetching == ["master", "cargo"])
        #expect(try context.fetch(request).count == 13)
    }

    @Test("Nil under a getter that is not optional is what the getter makes of it", arguments: Harbour.types)
    func columnsOfNil(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        for _ in 0..<3 { _ = context.make("Ship", ["guns": 7]) }
        try context.save()
        context.reset()
        let seven = NSPredicate(format: "guns == 7")
        let (_, columns) = try Ship.columns(
            of: \.name, \.crew, \.length, \.isAfloat, \.flag, \.bell, where: seven, in: context)
        #expect(context.registeredObjects.isEmpty)
        let ships = try Ship.find(where: seven, in: context)
        #expect(
            ships.count == 3 && columns.0 == ships.map(\.name) && columns.1 == ships.map(\.crew)
                && columns.2 == ships.map(\.length))
        #expect(columns.3 == ships.map(\.isAfloat) && columns.4 == ships.map(\.flag) && columns.5 == ships.map(\.bell))
        #expect(columns.4 == [.white, .white, .white] && columns.5 == [-1, -1, -1])
        #expect(try Ship.columns(of: \.name, \.bell, in: context).values.0.count { $0 == "" } == 4)
    }

    @Test(
        "A sum that does not fit its property's type is refused; in a dictionary it is a real number",
        arguments: Harbour.types)
    func sums(_ type: String) throws {
        let stack = try Harbour.stack(type)
        let context = stack.context
        for _ in 0..<3 { _ = context.make("Ship", ["bell": Int64.max, "crew": Int32.max, "guns": 7]) }
        try context.save()
        let error = #expect(throws: CocoaError.self) { try Ship.sum(of: \.bell, in: context) }
        #expect(
            error?.errorCode == 134060 && error?.localizedDescription.contains("wider type") == true, "\(error as Any)")
        #expect(throws: CocoaError.self) { try Ship.sum(of: \.crewOf32, in: context) }
        #expect(try Ship.average(of: \.bell, in: context) == 0x1p63)
        func computed(_ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType)
            -> NSExpressionDescription
        {
            let computed = NSExpressionDescription()
            (computed.name, computed.expression, computed.expressionResultType) = (
                name, NSExpression(format: format), type
            )
            return computed
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Ship")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            computed("sum", "sum:(bell)"), computed("real", "sum:(bell + 1)", .doubleAttributeType),
        ]
        let found = try #require(try context.fetch(request).first)
        #expect(found["sum"] as? Double == 3 * 0x1p63 && found["real"] as? Double == 3 * 0x1p63)
        request.predicate = NSPredicate(format: "guns == 7 AND bell + 1 > bell")
        request.propertiesToFetch = ["bell", computed("next", "bell + 1"), computed("least", "-(bell + 1)")]
        let each = try context.fetch(request)
        #expect(each.count == 3 && each.allSatisfy { $0["next"] as? Double == 0x1p63 && $0["least"] as? Int64 == .min })
        request.propertiesToFetch = [computed("next", "bell + 1", .integer64AttributeType)]
        let declared = #expect(throws: CocoaError.self) { try context.fetch(request) }
        #expect(declared?.errorCode == 134060 && declared?.localizedDescription.contains("“next”") == true)
    }

    @Test("Without a context the one is asked whose block runs, the innermost one; outside all it is a misuse")
    func executing() async throws {
        let stack = try Harbour.stack(NSSQLiteStoreType)
        let (outer, inner) = (stack.context, stack.another())
        let found = try await inner.perform {
            try Ship.all().map { $0.managedObjectContext === inner }.filter { $0 }.count
        }
        #expect(found == 12)
        // Aggregates read what the store holds.
        let counts: [Int] = try outer.performAndWait {
            _ = outer.make("Ship", ["crew": 50])
            let mine = try Ship.count()
            let others = try inner.performAndWait { try Ship.count() }
            return [mine, others, try Ship.count(), try Ship.count(in: outer), try Ship.maximum(of: \.crew) ?? 0]
        }
        #expect(counts == [13, 12, 13, 13, 9])
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Harbour.model())
            withExtendedLifetime(coordinator) { _ = try? Ship.all() }
        }
    }
}
