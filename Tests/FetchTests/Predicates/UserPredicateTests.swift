// Predicates as programs write them against Core Data, over a small clinic.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Predicates as programs write them") struct UserPredicateTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    struct Clinics {
        let stack: Stack
        let context: NSManagedObjectContext
        let wards: [NSManagedObject]
        let patients: [NSManagedObject]
        let doctors: [NSManagedObject]

        init(_ type: String) throws {
            stack = try Stack(type, undo: false)
            let context = stack.context
            self.context = context
            let wards = [("North", 10), ("South", 20), ("Émile", 5)].map {
                context.make("Ward", ["name": $0, "beds": $1])
            }
            let doctors = ["Ann", "Ben", "Çem"].enumerated().map { context.make("Doctor", ["name": $1, "code": $0]) }
            let rows: [(String, Int?, Double?, Int?, [Int], Bool?)] = [
                ("Ada", 30, 61.5, 0, [0, 1], true), ("Bo", 7, nil, 0, [1], false), ("Cy", nil, 80, 1, [], nil),
                ("Dée", 65, 55, nil, [0, 2], true),
                ("éve", 30, 70, 2, [2], false),
            ]
            var made: [NSManagedObject] = []
            for (place, (name, age, weight, ward, doctorsOf, awake)) in rows.enumerated() {
                let patient = context.make("Patient", ["name": name])
                patient.setValue(age, forKey: "age")
                patient.setValue(weight, forKey: "weight")
                patient.setValue(awake, forKey: "awake")
                patient.setValue(ward.map { wards[$0] }, forKey: "ward")
                patient.setValue(NSSet(array: doctorsOf.map { doctors[$0] }), forKey: "doctors")
                patient.setValue(Date(timeIntervalSinceReferenceDate: Double(place) * 100), forKey: "born")
                patient.setValue(UUID(uuid: (UInt8(place), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), forKey: "tag")
                patient.setValue(URL(string: "https://x.org/\(place)"), forKey: "link")
                patient.setValue(Decimal(place) + Decimal(string: "0.25")!, forKey: "fee")
                patient.setValue(Data([UInt8(place), 1]), forKey: "photo")
                for note in 0..<place {
                    patient.mutableOrderedSetValue(forKey: "visits").add(
                        context.make("Visit", ["note": "n\(note)", "code": note]))
                }
                made.append(patient)
            }
            try context.save()
            (self.wards, patients, self.doctors) = (wards, made, doctors)
        }

        /// By a fetch, by a fetch of another context, and by asking each object.
        func expect(_ predicate: NSPredicate, _ wanted: String, sourceLocation: SourceLocation = #_sourceLocation) {
            do {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
                request.predicate = predicate
                func short(_ objects: [NSManagedObject]) -> String {
                    objects.map { String(($0.value(forKey: "name") as? String ?? "-").prefix(1)) }.sorted().joined()
                }
                #expect(try short(context.fetch(request)) == wanted, "\(predicate)", sourceLocation: sourceLocation)
                #expect(try context.count(for: request) == wanted.count, "\(predicate)", sourceLocation: sourceLocation)
                #expect(
                    short(patients.filter { predicate.evaluate(with: $0) }) == wanted, "\(predicate) of objects",
                    sourceLocation: sourceLocation)
                #expect(
                    short((patients as NSArray).filtered(using: predicate) as? [NSManagedObject] ?? []) == wanted,
                    sourceLocation: sourceLocation)
            } catch { Issue.record("\(predicate): \(error)", sourceLocation: sourceLocation) }
        }
    }

    @Test("Arguments of every kind", arguments: types)
    func arguments(_ type: String) throws {
        let clinics = try Clinics(type)
        let (patients, wards, doctors) = (clinics.patients, clinics.wards, clinics.doctors)
        func expect(
            _ format: String, _ arguments: [Any], _ wanted: String, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            clinics.expect(
                NSPredicate(format: format, argumentArray: arguments), wanted, sourceLocation: sourceLocation)
        }
        let moment = Date(timeIntervalSinceReferenceDate: 200)
        expect("%K == %@", ["name", "Ada"], "A")
        expect("%K == %@", ["ward.name", "North"], "AB")
        expect("%K >= %@ AND %K < %@", ["born", moment as NSDate, "born", moment.addingTimeInterval(200)], "CD")
        expect("age == %d", [30], "A" + "é")
        expect("age == %ld || age == %i", [Int64(7), Int32(65)], "BD")
        expect("age > %@", [NSNumber(value: 29.5)], "ADé")
        expect("weight < %f", [61.0], "D")
        expect("weight < %@", [Float(61)], "D")
        expect("fee == %@", [Decimal(string: "1.25")!], "B")
        expect("fee > %@", [NSDecimalNumber(string: "2.25")], "Dé")
        expect("tag == %@", [UUID(uuid: (3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))], "D")
        expect("tag IN %@", [[UUID(uuid: (3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), UUID()]], "D")
        expect("link == %@", [URL(string: "https://x.org/1")!], "B")
        expect("photo == %@", [Data([2, 1])], "C")
        expect("awake == %@", [true], "AD")
        expect("awake == %@", [NSNumber(value: false)], "Bé")
        expect("awake == %d", [1], "AD")
        expect("ward == %@", [wards[0]], "AB")
        expect("ward == %@", [wards[0].objectID], "AB")
        expect("ward IN %@", [[wards[0], wards[2]]], "ABé")
        expect("ward IN %@", [NSSet(array: [wards[1]])], "C")
        expect("ward IN %@", [Set([wards[1], wards[0]])], "ABC")
        expect("ward IN %@", [NSOrderedSet(array: [wards[1]])], "C")
        expect("SELF IN %@", [[patients[0], patients[4]]], "Aé")
        expect("SELF == %@", [patients[3]], "D")
        expect("self IN %@", [[patients[1].objectID]], "B")
        expect("NOT (SELF IN %@)", [Set([patients[1]])], "ACDé")
        expect("%@ IN doctors", [doctors[0]], "AD")
        expect("doctors CONTAINS %@", [doctors[2]], "Dé")
        expect("ANY doctors == %@", [doctors[1]], "AB")
        expect("ANY doctors IN %@", [[doctors[1], doctors[2]]], "ABDé")
        expect("NONE doctors == %@", [doctors[1]], "CDé")
        expect("age BETWEEN %@", [[7, 30]], "ABé")
        expect("age BETWEEN {%d, %d}", [8, 30], "Aé")
        expect("born BETWEEN %@", [[moment, moment.addingTimeInterval(100)]], "CD")
        expect("name IN %@", [["Ada", "Bo", "nobody"]], "AB")
        expect("name IN %@", [Set(["Ada"])], "A")
        expect("name IN %@", [[String]()], "")
        expect("NOT name IN %@", [[String]()], "ABCDé")
        expect("ward.name IN %@", [NSArray(array: ["South"])], "C")
        expect("age IN %@", [[7, 65] as Set<Int16>], "BD")
        expect("name BEGINSWITH[cd] %@", ["E"], "é")
        expect("name LIKE[c] %@", ["?da"], "A")
        expect("name MATCHES %@", ["[A-C].*"], "ABC")
        expect("ward == %@", [NSNull()], "D")
        expect("age != %@", [NSNull()], "ABDé")
    }

    @Test("Constructs of the format language", arguments: types)
    func constructs(_ type: String) throws {
        let clinics = try Clinics(type)
        for (format, wanted) in [
            ("name ==[cd] 'EVE'", "é"), ("name !=[c] 'ada'", "BCDé"), ("name IN[c] {'ADA', 'bo'}", "AB"),
            ("name IN[cd] {'EVE'}", "é"),
            ("name CONTAINS[cd] 'E'", "Dé"), ("name ENDSWITH[c] 'A'", "A"), ("name LIKE[cd] '*e*'", "Dé"),
            ("name <[c] 'b'", "A"),
            ("ward.name == 'Émile'", "é"), ("ward.name BEGINSWITH[d] 'E'", "é"), ("ward.name ==[c] 'north'", "AB"),
            ("ward = nil", "D"), ("ward.name == nil", "D"), ("ward != NULL", "ABCé"), ("age == nil", "C"),
            ("weight = nil OR age = nil", "BC"),
            ("doctors.@count == 0", "C"), ("doctors.@count > 1", "AD"), ("visits[SIZE] == 2", "C"),
            ("visits.@count >= 3", "Dé"),
            ("ANY doctors.name == 'Ann'", "AD"), ("SOME doctors.name IN {'Ben', 'Çem'}", "ABDé"),
            ("ALL doctors.name == 'Ben'", "BC"),
            ("NONE doctors.name BEGINSWITH 'A'", "BCé"), ("ANY doctors.name CONTAINS[cd] 'cem'", "Dé"),
            ("NOT ANY doctors.name == 'Ben'", "CDé"),
            ("ANY doctors.patients.name == 'Bo'", "AB"), ("ANY ward.patients.age == 7", "AB"),
            ("ward.patients.@count == 2", "AB"),
            ("ward.patients.@max.age > 10", "ABé"), ("doctors.@sum.code == 1", "AB"), ("visits.@max.code == 2", "D"),
            ("visits.@min.code == 0", "BCDé"),
            ("visits.@avg.code == 0.5", "C"), ("visits[0].note == 'n0'", "BCDé"), ("visits[FIRST].code == 0", "BCDé"),
            ("visits[LAST].code == 3", "é"),
            ("SUBQUERY(doctors, $d, $d.name == 'Ann' AND $d.code == 0).@count == 1", "AD"),
            ("SUBQUERY(visits, $v, $v.code > 0).@count > 1", "Dé"),
            ("SUBQUERY(doctors, $d, ANY $d.patients.age == 65).@count > 0", "ADé"),
            ("SUBQUERY(doctors, $d, SUBQUERY($d.patients, $p, $p.age == 7).@count > 0).@count > 0", "AB"),
            ("age + 1 > 30", "ADé"), ("age * 2 == 60", "Aé"), ("-age < -29", "ADé"), ("modulus:by:(age, 2) == 1", "BD"),
            ("(age + weight) / 2 > 45", "ADé"),
            ("age == 30 AND (weight > 65 OR ward.beds >= 10)", "Aé"), ("age == 30 && weight > 65", "é"),
            ("!(age == 30)", "BCD"),
            ("TRUEPREDICATE", "ABCDé"), ("FALSEPREDICATE", ""), ("awake == true", "AD"), ("awake == NO", "Bé"),
            ("awake = FALSE OR awake = nil", "BCé"),
            ("age BETWEEN {7, 30}", "ABé"), ("age IN {7, 30, 99}", "ABé"), ("age >= 30 AND age <= 30", "Aé"),
            ("age => 30", "ADé"), ("age =< 7", "B"),
            ("lowercase(name) == 'ada'", "A"), ("uppercase:(name) BEGINSWITH 'BO'", "B"), ("length(name) == 2", "BC"),
            ("name.length == 2", "BC"),
            ("abs:(age) > 29", "ADé"), ("sqrt:(age) > 8", "D"), ("born > CAST(250, 'NSDate')", "Dé"),
            ("CAST(born, 'NSNumber') == 100", "B"),
            ("entity.name == 'Patient'", "ABCDé"), ("ward.entity.name == 'Ward'", "ABCé"), ("'d' IN name", "A"),
            ("name CONTAINS ward.name", ""),
            ("TERNARY(age > 10, 'old', 'young') == 'young'", "BC"), ("age == ward.beds + 20", "A"),
            ("ward.patients CONTAINS SELF", "ABCé"),
            ("SELF IN ward.patients", "ABCé"), ("ANY ward.patients == SELF", "ABCé"),
            ("fee BETWEEN {1.25, 2.25}", "BC"), ("fee == 3.25", "D"),
            ("name == \"Ada\" OR name == 'X'", "A"), ("(name) == ('Ada')", "A"), ("#name == 'Ada'", "A"),
            ("age & 1 == 1", "BD"), ("age | 1 == 31", "Aé"),
            ("ward.patients.@avg.age > 18 AND ward.name CONTAINS 'o'", "AB"),
            ("doctors.@count = ward.patients.@count", "Aé"),
        ] {
            clinics.expect(NSPredicate(format: format), wanted)
        }
    }

    @Test("Orders, windows and dictionaries as programs ask for them", arguments: types)
    func requests(_ type: String) throws {
        let clinics = try Clinics(type)
        let context = clinics.context
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        func names() throws -> String {
            try context.fetch(request).map { String(($0.value(forKey: "name") as? String ?? "").prefix(1)) }.joined()
        }
        request.sortDescriptors = [
            NSSortDescriptor(key: "ward.name", ascending: true), NSSortDescriptor(key: "name", ascending: false),
        ]
        #expect(try names() == "DBACé")
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "weight", ascending: true),
        ]
        #expect(try names() == "DAéBC")
        request.sortDescriptors = [
            NSSortDescriptor(key: "doctors.@count", ascending: false), NSSortDescriptor(key: "name", ascending: true),
        ]
        #expect(try names() == "ADBéC")
        request.sortDescriptors = [NSSortDescriptor(key: "visits.@max.code", ascending: true)]
        #expect(try names() == "ABCDé")
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: false)]
        #expect(try names().count == 5)
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        #expect(try names().count == 5)
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true, selector: "localizedCaseInsensitiveCompare:")
        ]
        (request.fetchLimit, request.fetchOffset) = (2, 3)
        #expect(try names() == "Dé")
        let grouped = NSFetchRequest<NSDictionary>(entityName: "Patient")
        grouped.resultType = .dictionaryResultType
        let (total, oldest, number) = (NSExpressionDescription(), NSExpressionDescription(), NSExpressionDescription())
        (total.name, total.expression, total.expressionResultType) = (
            "total", NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "weight")]),
            .doubleAttributeType
        )
        (oldest.name, oldest.expression, oldest.expressionResultType) = (
            "oldest", NSExpression(format: "max:(age)"), .integer16AttributeType
        )
        (number.name, number.expression, number.expressionResultType) = (
            "number", NSExpression(format: "count:(name)"), .integer64AttributeType
        )
        grouped.propertiesToFetch = ["ward.name", total, oldest, number]
        grouped.propertiesToGroupBy = ["ward.name"]
        grouped.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "number"))
        grouped.sortDescriptors = [NSSortDescriptor(key: "ward.name", ascending: true)]
        let rows = try context.fetch(grouped)
        #expect(
            rows.count == 1 && rows[0]["ward.name"] as? String == "North" && rows[0]["total"] as? Double == 61.5
                && rows[0]["oldest"] as? Int == 30)
        grouped.havingPredicate = nil
        #expect(try context.fetch(grouped).map { $0["number"] as? Int ?? 0 } == [1, 2, 1, 1])
    }

    @Test("Expressions answer for values, dictionaries and objects")
    func expressions() throws {
        func value(_ format: String, _ object: Any? = nil, _ arguments: Any...) -> Any? {
            NSExpression(format: format, argumentArray: arguments).expressionValue(with: object, context: nil)
        }
        #expect(value("1 + 2") as? Int == 3)
        #expect(value("7 / 2") as? Int == 3)
        #expect(value("7.0 / 2") as? Double == 3.5)
        #expect(value("2 ** 10") as? Double == 1024)
        #expect(value("a + b", ["a": 1, "b": 2.5]) as? Double == 3.5)
        #expect(value("sum:({1, 2, 3})") as? Int == 6)
        #expect(value("average:(xs)", ["xs": [1, 2, 6]]) as? Double == 3)
        #expect(value("xs.@max.self", ["xs": [1, 9, 6]]) as? Int == 9)
        #expect(value("xs.@avg.n", ["xs": [["n": 1], ["n": 2]]]) as? Double == 1.5)
        #expect(value("xs[1]", ["xs": ["a", "b"]]) as? String == "b")
        #expect(value("xs[LAST]", ["xs": ["a", "b"]]) as? String == "b")
        #expect(value("xs[SIZE]", ["xs": ["a", "b"]]) as? Int == 2)
        #expect(value("d['k']", ["d": ["k": 5]]) as? Int == 5)
        #expect(value("uppercase(name)", ["name": "ada"]) as? String == "ADA")
        #expect(value("SUBQUERY(xs, $x, $x.n > 1).@count", ["xs": [["n": 1], ["n": 2], ["n": 3]]]) as? Int == 2)
        #expect(
            value("xs.@distinctUnionOfObjects.n", ["xs": [["n": 1], ["n": 1]]]).map {
                ($0 as? [Any])?.count ?? ($0 as? NSSet)?.count
            } == 1)
        #expect(value("%@ + 1", nil, 4) as? Int == 5)
        #expect(value("length", "abc") as? Int == 3)
        #expect(value("SELF", 5) as? Int == 5)
        #expect(value("SELF + 1", 5) as? Int == 6)
        #expect(value("TERNARY(SELF > 3, 'big', 'small')", 5) as? String == "big")
        #expect(value("{1, 2, %@}", nil, "x").map { ($0 as? [Any])?.count } == 3)
        #expect(value("now()") is Date)
        #expect(value("stddev:({2, 4})") as? Double == 1)
        #expect(value("median:({5, 1, 3})") as? Int == 3 || value("median:({5, 1, 3})") as? Double == 3)
        #expect(value("{1, 2} UNION {2, 3}").map { ($0 as? NSSet)?.count ?? ($0 as? [Any])?.count } == 3)
        let block = NSExpression(
            block: { object, arguments, _ in "\(object ?? "")\(arguments.first ?? "")" },
            arguments: [NSExpression(forConstantValue: 1)])
        #expect(block.expressionValue(with: "a", context: nil) as? String == "a1")
        let predicate = NSPredicate(format: "name == $NAME AND age > $AGE")
        #expect(
            predicate.withSubstitutionVariables(["NAME": "x", "AGE": 3]).description == "name == \"x\" AND age > 3")
        #expect(predicate.evaluate(with: ["name": "x", "age": 4], substitutionVariables: ["NAME": "x", "AGE": 3]))
        #expect(!predicate.evaluate(with: ["name": "x", "age": 2], substitutionVariables: ["NAME": "x", "AGE": 3]))
        #expect(NSPredicate(format: "SELF CONTAINS[c] 'A'").evaluate(with: "bab"))
        #expect((["b", "ab", "c"] as NSArray).filtered(using: NSPredicate(format: "SELF CONTAINS 'b'")).count == 2)
        #expect(([1, 5, 9] as NSArray).filtered(using: NSPredicate(format: "SELF > 3 AND SELF < 9")) as? [Int] == [5])
        #expect(NSPredicate(format: "%@ IN {'a', 'b'}", "a").evaluate(with: nil))
        #expect(NSPredicate { object, _ in (object as? Int) == 3 }.evaluate(with: 3))
    }

    @Test("A product of decimals that is too small or too large for one is a double")
    func extremes() throws {
        for (a, b) in [("1e-70", "1e-70"), ("1e-127", "1e-127"), ("1e90", "1e90"), ("123456789e100", "3e20")] {
            let text = "CAST('\(a)','NSDecimalNumber') * CAST('\(b)','NSDecimalNumber') > a"
            #expect(
                try NSPredicate(validating: text).evaluate(with: ["a": 1]) == (a.hasSuffix("90") || a.hasSuffix("100")))
        }
        let exact = NSPredicate(format: "a * b == %@", NSDecimalNumber(string: "0.02"))
        #expect(exact.evaluate(with: ["a": NSDecimalNumber(string: "0.1"), "b": NSDecimalNumber(string: "0.2")]))
    }

    @Test("A pattern of MATCHES is one by itself, and its comment or quotation ends with it")
    func patterns() throws {
        #expect(throws: (any Error).self) { try NSPredicate(validating: "name MATCHES 'a)|(?:b'") }
        func matches(_ text: String, _ pattern: String) -> Bool {
            NSPredicate(format: "SELF MATCHES %@", pattern).evaluate(with: text)
        }
        #expect(matches("ab", "(?x)a b # letters") && !matches("abc", "(?x)a b # letters"))
        #expect(matches("a.b", "\\Qa.b") && !matches("axb", "\\Qa.b") && matches("a.bc", "\\Qa.b\\Ec"))
        #expect(matches("b", "a|b") && !matches("ab", "a|b") && matches("", "") && !matches("a", ""))
    }

    @Test("A member by its place is another object than one of another table with the same number", arguments: types)
    func members(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let context = stack.context
        let (patient, visit) = (context.make("Patient", ["name": "Ada"]), context.make("Visit"))
        let (doctor, ward) = (context.make("Doctor", ["name": "Ann"]), context.make("Ward", ["name": "North"]))
        patient.setValue(NSOrderedSet(array: [visit]), forKey: "visits")
        try context.save()
        func found(_ format: String, _ arguments: Any...) throws -> Int {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try context.fetch(request).count
        }
        #expect(try found("visits[0] == %@", visit) == 1 && found("visits[LAST] IN {%@}", visit) == 1)
        #expect(try found("visits[0] == %@", doctor) == 0 && found("visits[0] != %@", ward) == 1)
        #expect(try found("visits[0] == bed") == 0 && found("visits[0] IN {%@}", doctor) == 0)
    }

    @Test("What counts or adds up members without equal ones is refused in a fetch", arguments: types)
    func distinctMembers(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        for text in [
            "count:(visits.@distinctUnionOfObjects.code) > 1", "sum:(visits.@distinctUnionOfObjects.code) > 1",
        ] {
            let request = NSFetchRequest<NSManagedObject>("Patient", text)
            let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
            #expect(error?.localizedDescription.contains("@distinctUnionOfObjects") == true)
        }
    }

    @Test("Expressions nested too deep for a fetch are refused")
    func deepExpression() throws {
        let stack = try Stack(NSInMemoryStoreType, undo: false)
        var sum = NSExpression(forKeyPath: "age")
        for _ in 0..<1_000 {
            sum = NSExpression(forFunction: "add:to:", arguments: [sum, NSExpression(forConstantValue: 1)])
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Patient")
        request.predicate = NSComparisonPredicate(
            leftExpression: sum, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
            type: .greaterThan,
            options: [])
        #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
    }

    @Test("Equal predicates have one hash, which does not change with the objects in them")
    func hashes() throws {
        final class Opaque: NSObject {
            override func isEqual(_ object: Any?) -> Bool { self === object as AnyObject? }
        }
        let thing = Opaque()
        let pair = [NSPredicate(format: "a == %@", thing), NSPredicate(format: "a == %@", thing)]
        #expect(pair[0] == pair[1] && pair[0].hash == pair[1].hash)
        let stack = try Stack(NSInMemoryStoreType, undo: false)
        let ward = stack.context.make("Ward", ["name": "North"])
        let named = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "ward == %@", ward))
        let former = named.hash
        ward.setValue("South", forKey: "name")
        #expect(named.hash == former)
        #expect(NSPredicate(format: "a == 1").hash != NSPredicate(format: "a == 2").hash)
    }

    @Test("A key with a letter whose capital is that of a reserved word is a key")
    func dotless() {
        #expect(NSPredicate(format: "\u{131}n == 1").evaluate(with: ["\u{131}n": 1]))
    }

    @Test("A predicate made of a block is refused with a sentence")
    func blockPredicate() throws {
        let stack = try Stack()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Ward")
        request.predicate = NSPredicate { _, _ in true }
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
        #expect(error?.code.rawValue == 134060)
        #expect(error.sentence.contains("block"))
    }
}
