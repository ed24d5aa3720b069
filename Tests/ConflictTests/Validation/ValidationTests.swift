// What a save and `validateValue` refuse, and what their errors carry.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

/// Checks two properties by itself.
final class Checked: NSManagedObject {
    struct Odd: Error {}
    var validated: [String] = []

    override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        validated.append(key)
        try super.validateValue(value, forKey: key)
    }

    override func validateProperty(_ key: String, value: UnsafeMutablePointer<AnyObject?>) throws {
        switch key {
        case "age":
            if let age = value.pointee as? Int, age % 2 == 1 { throw Odd() }
        case "name":
            if let name = value.pointee as? String, name.hasPrefix(" ") {
                value.pointee = NSString(string: String(name.drop { $0 == " " }))
            }
        default: break
        }
    }
}

/// Needs its name and its nickname to differ.
final class Consistent: NSManagedObject {
    override func validateForInsert() throws {
        try super.validateForInsert()
        try compare()
    }
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try compare()
    }
    override func validateForDelete() throws {
        try super.validateForDelete()
        if value(forKey: "code") as? Int == 7 {
            throw CocoaError(.managedObjectValidation, userInfo: [NSValidationObjectErrorKey: self])
        }
    }
    private func compare() throws {
        if text("name") == "Bad" {
            throw CocoaError(
                .managedObjectValidation,
                userInfo: [NSValidationObjectErrorKey: self, NSLocalizedDescriptionKey: "A bad name."])
        }
    }
}

@Suite struct ValidationTests {
    static let stores = StoreMaker.types

    /// An entity with every kind of rule, and one that it must lead to.
    private static func draft() -> SchemaDraft {
        var thing = EntityDraft(name: "Thing")
        var size = Clinic.attribute("size", .integer32)
        size.minimum = .int(1)
        size.maximum = .int(10)
        var big = Clinic.attribute("big", .integer64)
        big.minimum = .int(9_007_199_254_740_993)
        var weight = Clinic.attribute("weight", .double)
        weight.minimum = .double(0.5)
        weight.maximum = .double(1.5)
        var price = Clinic.attribute("price", .decimal)
        price.minimum = .decimal(Decimal(1))
        price.maximum = .decimal(Decimal(2))
        var born = Clinic.attribute("born", .date)
        born.minimum = .date(0)
        born.maximum = .date(1000)
        var word = Clinic.attribute("word", .string)
        word.minimumLength = 2
        word.maximumLength = 4
        var code = Clinic.attribute("code", .string)
        code.pattern = "[a-z]+|[0-9]+"
        thing.attributes = [
            size, big, weight, price, born, word, code, Clinic.attribute("link", .uri),
            Clinic.attribute("flag", .boolean),
            Clinic.attribute("name", .string, optional: false), Clinic.attribute("small", .integer16),
        ]
        var few = Clinic.toMany("few", "Part", inverse: "thing")
        few.minCount = 2
        few.maxCount = 3
        var some = Clinic.toMany("some", "Part", inverse: "other")
        some.isOptional = false
        var chief = Clinic.toOne("chief", "Part", inverse: "chiefs")
        chief.isOptional = false
        thing.relationships = [few, some, chief]
        var part = EntityDraft(name: "Part")
        part.attributes = [Clinic.attribute("name", .string)]
        part.relationships = [
            Clinic.toOne("thing", "Thing", inverse: "few"), Clinic.toOne("other", "Thing", inverse: "some"),
            Clinic.toMany("chiefs", "Thing", inverse: "chief", rule: .nullify),
        ]
        return SchemaDraft(thing, part)
    }

    private struct Shop {
        let stack: Stack
        let thing: NSManagedObject
        let part: NSManagedObject
        var context: NSManagedObjectContext { stack.context }

        /// A thing that breaks no rule.
        init(_ type: String = NSInMemoryStoreType, _ change: (NSManagedObjectModel) -> Void = { _ in }) throws {
            let model = NSManagedObjectModel(draft: ValidationTests.draft())
            change(model)
            stack = try Stack(type, model: model, undo: false)
            part = stack.context.make("Part", ["name": "p"])
            thing = stack.context.make("Thing", ["name": "t", "chief": part, "some": NSSet(array: [part])])
        }

        func save() -> CocoaError? { caught { try context.save() } }
    }

    private func details(_ error: CocoaError?) -> [CocoaError] {
        error?.userInfo[NSDetailedErrorsKey] as? [CocoaError] ?? []
    }

    static let refused: [(key: String, value: any Sendable, code: Int)] = [
        ("size", 11, 1610), ("size", 0, 1620), ("big", 9_007_199_254_740_992 as Int64, 1620), ("weight", 1.6, 1610),
        ("weight", 0.4, 1620), ("price", Decimal(3), 1610), ("price", Decimal(0), 1620),
        ("born", Date(timeIntervalSinceReferenceDate: 1001), 1630),
        ("born", Date(timeIntervalSinceReferenceDate: -1), 1640),
        ("word", "abcde", 1660), ("word", "a", 1670), ("code", "ab1", 1680), ("code", "ab\n", 1680), ("code", "", 1680),
    ]

    @Test(
        "4.9 Each broken rule is its code with object, key, value and predicate, at the save and by validateValue",
        arguments: refused)
    func rules(_ key: String, _ value: any Sendable, _ code: Int) throws {
        for type in ValidationTests.stores {
            let shop = try Shop(type)
            try shop.context.save()
            shop.thing.set(key, value)
            let error = try #require(shop.save())
            #expect(error.code.rawValue == code)
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === shop.thing)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == key)
            let shown = try #require(error.userInfo[NSValidationValueErrorKey])
            #expect((shown as AnyObject as? NSObject)?.isEqual(shop.thing.value(forKey: key)) ?? false)
            let predicate = try #require(error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate)
            #expect(predicate.evaluate(with: shown) == false)
            #expect(error.localizedDescription.contains("Thing.\(key)"))
            var given: AnyObject? = value as AnyObject
            let early = try #require(caught { try shop.thing.validateValue(&given, forKey: key) })
            #expect(early.code.rawValue == code && early.validationKey == key && early.validationPredicate != nil)
            shop.thing.set(key, nil)
            try shop.context.save()
        }
    }

    @Test("4.9 Values at the bounds pass, at the save and by validateValue")
    func bounds() throws {
        let shop = try Shop(NSSQLiteStoreType)
        let allowed: [(String, [Any])] = [
            ("size", [1, 10]), ("big", [9_007_199_254_740_993 as Int64]), ("weight", [0.5, 1.5]),
            ("price", [Decimal(1), Decimal(2)]),
            ("born", [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1000)]),
            ("word", ["ab", "abcd", "🙂"]), ("code", ["abc", "12"]), ("small", [Int(Int16.max), Int(Int16.min)]),
        ]
        for (key, values) in allowed {
            for value in values {
                shop.thing.set(key, value)
                var given: AnyObject? = value as AnyObject
                try shop.thing.validateValue(&given, forKey: key)
                try shop.context.save()
            }
        }
    }

    @Test("4.9 Dates that are none are 1650, texts that are no URI 1690, numbers that are none 1550")
    func unreal() throws {
        let shop = try Shop()
        shop.thing.set("born", Date(timeIntervalSinceReferenceDate: .nan))
        #expect(shop.save()?.code.rawValue == 1650)
        shop.thing.set("born", nil)
        shop.thing.set("weight", Double.nan)
        #expect(shop.save()?.code.rawValue == 1550)
        shop.thing.set("weight", nil)
        var given: AnyObject? = NSString(string: "")
        let error = try #require(caught { try shop.thing.validateValue(&given, forKey: "link") })
        #expect(error.code.rawValue == 1690 && error.validationKey == "link" && error.validationValue as? String == "")
        try shop.context.save()
    }

    @Test("4.9 Counts of to-manys: 1580 and 1590 with the members", arguments: stores)
    func counts(_ type: String) throws {
        let shop = try Shop(type)
        let parts = (0..<4).map { shop.context.make("Part", ["name": "\($0)"]) }
        for (count, code) in [(1, 1580), (2, nil), (3, nil), (4, 1590), (0, nil)] {
            shop.thing.set("few", NSSet(array: Array(parts[..<count])))
            var given: AnyObject? = NSSet(array: Array(parts[..<count]))
            #expect(caught { try shop.thing.validateValue(&given, forKey: "few") }?.code.rawValue == code)
            let error = shop.save()
            #expect(error?.code.rawValue == code)
            guard code != nil else { continue }
            #expect(error?.validationKey == "few")
            #expect((error?.validationValue as? NSSet)?.count == count)
            #expect(error?.validationPredicate?.evaluate(with: try #require(error?.validationValue)) == false)
        }
    }

    @Test("4.13 A required to-many without a minimum may be empty", arguments: stores)
    func emptyToMany(_ type: String) throws {
        let shop = try Shop(type)
        shop.thing.set("some", NSSet())
        var given: AnyObject? = NSSet()
        try shop.thing.validateValue(&given, forKey: "some")
        #expect(shop.save() == nil)
    }

    @Test(
        "4.8 validateValue converts, checks, and calls the class's own check; nil is refused where a value is required")
    func conversion() throws {
        let shop = try Shop()
        var value: AnyObject? = NSNumber(value: 3.0)
        try shop.thing.validateValue(&value, forKey: "size")
        #expect(value as? Int == 3)
        value = NSString(string: "http://a.example/b")
        try shop.thing.validateValue(&value, forKey: "link")
        #expect(value as? URL == URL(string: "http://a.example/b"))
        shop.thing.setValue(value, forKey: "link")
        value = nil
        #expect(caught { try shop.thing.validateValue(&value, forKey: "name") }?.code.rawValue == 1570)
        value = NSNull()
        #expect(caught { try shop.thing.validateValue(&value, forKey: "chief") }?.code.rawValue == 1570)
        try shop.thing.validateValue(&value, forKey: "word")
        #expect(value == nil)
        let wrong: [(String, AnyObject, Int)] = [
            ("size", NSString(string: "3"), 1550), ("size", NSNumber(value: 3.5), 1550),
            ("small", NSNumber(value: 40000), 1610),
            ("small", NSNumber(value: -40000), 1620), ("word", NSNumber(value: 3), 1550), ("chief", shop.thing, 1550),
            ("few", NSSet(array: [shop.thing]), 1550), ("few", NSString(string: "x"), 1550),
        ]
        for (key, given, code) in wrong {
            value = given
            let error = caught { try shop.thing.validateValue(&value, forKey: key) }
            #expect(error?.code.rawValue == code && error?.validationKey == key, "\(key) \(given)")
        }
    }

    @Test(
        "4.8 All failures of an object are collected: one is thrown as it is, several as 1560 with all",
        arguments: stores)
    func collected(_ type: String) throws {
        let shop = try Shop(type)
        shop.thing.set("size", 11)
        #expect(shop.save()?.code.rawValue == 1610)
        shop.thing.set("word", "a")
        shop.thing.set("code", "?")
        shop.thing.set("name", nil)
        let error = try #require(shop.save())
        #expect(error.code.rawValue == 1560)
        #expect(Set(details(error).map(\.code.rawValue)) == [1610, 1670, 1680, 1570])
        #expect(details(error).allSatisfy { $0.validationObject as? NSManagedObject === shop.thing })
        #expect(Set(details(error).compactMap(\.validationKey)) == ["size", "word", "code", "name"])
        let direct = caught { try shop.thing.validateForInsert() }
        #expect(details(direct).count == 4)
    }

    @Test(
        "4.8 Failures of several objects are one 1560 with all errors in one list, and no sentence twice",
        arguments: stores)
    func severalObjects(_ type: String) throws {
        let shop = try Shop(type)
        var things = [shop.thing]
        for _ in 0..<4 {
            things.append(shop.context.make("Thing", ["name": "u", "chief": shop.part, "size": 12]))
        }
        things.dropFirst().forEach { $0.set("some", NSSet(array: [shop.context.make("Part")])) }
        things[0].set("word", "a")
        things[0].set("size", 12)
        let error = try #require(shop.save())
        #expect(error.code.rawValue == 1560)
        #expect(details(error).count == 6)
        #expect(
            Set(details(error).compactMap { ($0.validationObject as? NSManagedObject).map(ObjectIdentifier.init) })
                .count == 5)
        let text = error.localizedDescription
        #expect(text.components(separatedBy: "Thing.size").count == 2, "\(text)")
        #expect(text.components(separatedBy: "Thing.word").count == 2)
    }

    @Test(
        "4.4 Deny is refused at the save by validateForDelete, not at delete(); an empty relationship passes",
        arguments: stores)
    func deny(_ type: String) throws {
        let stack = try Stack(type)
        let doctor = stack.context.make("Doctor", ["name": "Bo"])
        let badge = stack.context.make("Badge", ["doctor": doctor])
        let free = stack.context.make("Doctor", ["name": "Eve"])
        try stack.context.save()
        stack.context.delete(doctor)
        stack.context.delete(free)
        stack.context.processPendingChanges()
        #expect(caught { try doctor.validateForDelete() }?.code.rawValue == 1600)
        #expect(caught { try free.validateForDelete() } == nil)
        let error = try #require(caught { try stack.context.save() })
        #expect(error.code.rawValue == 1600 && error.validationKey == "badges")
        #expect((error.validationValue as? NSSet)?.contains(badge) == true)
        #expect(error.validationObject as? NSManagedObject === doctor)
        #expect(doctor.isDeleted && free.isDeleted)
        badge.set("doctor", nil)
        try stack.context.save()
        #expect(try stack.another().all("Doctor").isEmpty)
    }

    @Test("4.6 Nullifying a required inverse fails the save with 1570 on the other object", arguments: stores)
    func requiredInverse(_ type: String) throws {
        let shop = try Shop(type)
        try shop.context.save()
        let other = shop.context.make("Part", ["name": "q"])
        shop.thing.set("some", NSSet(array: [other]))
        try shop.context.save()
        shop.context.delete(shop.part)
        let error = try #require(shop.save())
        #expect(error.code.rawValue == 1570 && error.validationKey == "chief")
        #expect(error.validationObject as? NSManagedObject === shop.thing)
        #expect(shop.part.isDeleted)
        shop.thing.set("chief", other)
        try shop.context.save()
    }

    @Test(
        "4.9 Validation predicates of the program: a text is the error's sentence, a number its code", arguments: stores
    )
    func predicates(_ type: String) throws {
        let shop = try Shop(type) { model in
            let thing = model.entitiesByName["Thing"]
            let length = NSPredicate(format: "length > 3")
            let vowel = NSPredicate(format: "SELF CONTAINS 'a'")
            thing?.attributesByName["word"]?.setValidationPredicates(
                [length, vowel], withValidationWarnings: ["1670", "A vowel is missing"])
            thing?.attributesByName["size"]?.setValidationPredicates(
                [NSPredicate(format: "SELF > %d", 100)], withValidationWarnings: nil)
            thing?.relationshipsByName["few"]?.setValidationPredicates(
                [NSPredicate(format: "SELF.@count < 3")], withValidationWarnings: ["Too many"])
        }
        shop.thing.set("word", "xyz")
        let error = try #require(shop.save())
        #expect(details(error).map(\.code.rawValue) == [1670, 1550])
        let vowel = try #require(details(error).last)
        #expect(vowel.localizedDescription.contains("A vowel is missing"))
        #expect("\(try #require(vowel.validationPredicate))".contains("CONTAINS"))
        #expect(vowel.validationKey == "word" && vowel.validationValue as? String == "xyz")
        var value: AnyObject? = NSString(string: "xyz")
        #expect(details(caught { try shop.thing.validateValue(&value, forKey: "word") }).count == 2)
        shop.thing.set("word", "banana")
        try shop.context.save()
        // The bounds of the model went with the predicates.
        shop.thing.set("size", 50)
        #expect(shop.save()?.code.rawValue == 1550)
        shop.thing.set("size", 5000)
        try shop.context.save()
        shop.thing.set("few", NSSet(array: (0..<3).map { _ in shop.context.make("Part") }))
        #expect(shop.save()?.validationKey == "few")
    }

    @Test("4.8 A class's own checks run at the save for every property, after the model's")
    func ownChecks() throws {
        var draft = Clinic.draft()
        draft.entities[0].className = "ConflictTests.Checked"
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        let patient = try #require(stack.context.make("Patient", ["name": "  Ada", "age": 3]) as? Checked)
        #expect(throws: Checked.Odd.self) { try stack.context.save() }
        #expect(Set(patient.validated).isSuperset(of: ["name", "age", "weight", "ward", "doctors", "visits"]))
        patient.set("age", 4)
        patient.set("weight", Double.nan)
        #expect(caught { try stack.context.save() }?.validationKey == "weight")
        patient.set("weight", 1.0)
        try stack.context.save()
        #expect(patient.text("name") == "Ada")
        #expect(try stack.another().all("Patient").first?.text("name") == "Ada")
        patient.set("age", 5)
        patient.set("name", nil)
        var found: [any Error] = []
        do { try stack.context.save() } catch let error as CocoaError {
            found = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        }
        #expect(found.contains { $0 is Checked.Odd } && found.contains { ($0 as? CocoaError)?.code.rawValue == 1570 })
    }

    @Test("4.8 validateForInsert, validateForUpdate and validateForDelete can be overridden", arguments: stores)
    func overridden(_ type: String) throws {
        var draft = Clinic.draft()
        draft.entities[0].className = "ConflictTests.Consistent"
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft))
        let patient = stack.context.make("Patient", ["name": "Bad"])
        #expect(caught { try stack.context.save() }?.localizedDescription == "A bad name.")
        patient.set("name", "Good")
        try stack.context.save()
        patient.set("name", "Bad")
        #expect(caught { try stack.context.save() }?.validationObject as? NSManagedObject === patient)
        patient.set("name", "Good")
        patient.set("code", 7)
        try stack.context.save()
        stack.context.delete(patient)
        #expect(caught { try stack.context.save() }?.code.rawValue == 1550)
        #expect(try stack.another().all("Patient").count == 1)
    }
}
