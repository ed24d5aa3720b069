// Attributes whose values are objects.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Transformable attributes") struct TransformableTests {
    @Test("Archived, Codable and own values come back from the store as they were", arguments: Lab.types)
    func roundTrip(_ type: String) throws {
        let stack = try Lab.stack(type)
        let tags = [Tag(name: "a", weight: 0.1), Tag(name: "ß\0", weight: -3)]
        let words: NSDictionary = [
            "list": ["x", 1, 2.5, Date(timeIntervalSinceReferenceDate: 9)] as [Any], "id": UUID(),
        ]
        let markers = NSArray(array: [Marker(4), "text", Marker(5)])
        let site = stack.context.make(
            "Site", ["words": words, "tags": tags, "reversed": "abc", "markers": markers])
        let single = stack.context.make("Site", ["words": ["one", "two"], "markers": Marker(8)])
        try stack.context.save()
        #expect(site.value(forKey: "words") as? NSDictionary === words)
        #expect(site.value(forKey: "markers") as? NSArray === markers)
        for context in [stack.another(), stack.context] {
            if context === stack.context { context.refreshAllObjects() }
            let read = try context.existingObject(with: site.objectID)
            #expect(read.value(forKey: "words") as? NSDictionary == words)
            #expect(read.value(forKey: "tags", as: [Tag].self) == tags)
            #expect(read.text("reversed") == "abc")
            #expect(read.value(forKey: "markers") as? NSArray == markers)
            let other = try context.existingObject(with: single.objectID)
            #expect(other.value(forKey: "words") as? [String] == ["one", "two"])
            #expect((other.value(forKey: "markers") as? Marker)?.number == 8)
            #expect(other.value(forKey: "tags") == nil)
        }
        site.setValue(nil, forKey: "words")
        single.setValue([Tag](), forKey: "tags")
        try stack.context.save()
        #expect(try stack.another().existingObject(with: site.objectID).value(forKey: "words") == nil)
        #expect(try stack.another().existingObject(with: single.objectID).value(forKey: "tags", as: [Tag].self) == [])
    }

    @Test("Decimal numbers are archived as they are, alone and inside others", arguments: Lab.types)
    func decimals(_ type: String) throws {
        let stack = try Lab.stack(type)
        let number = try #require(Decimal(string: "12345678901234567890.25"))
        for value in [number, NSDecimalNumber(decimal: number), [number], ["a": NSDecimalNumber(decimal: number)]]
            as [Any]
        {
            let site = stack.context.make("Site", ["words": value])
            try stack.context.save()
            let reader = stack.another()
            let read = try reader.existingObject(with: site.objectID).value(forKey: "words")
            let found = (read as? [Any])?.first ?? (read as? [String: Any])?["a"] ?? read
            #expect((found as? NSDecimalNumber)?.decimalValue == number)
        }
    }

    @Test("A value is made of its bytes once; reads answer the same object until a refresh", arguments: Lab.types)
    func identity(_ type: String) throws {
        let stack = try Lab.stack(type)
        _ = stack.context.make("Site", ["words": NSMutableArray(array: ["a"]), "tags": [Tag(name: "t", weight: 1)]])
        try stack.context.save()
        let context = stack.another()
        let site = try #require(try context.all("Site").first)
        let first = try #require(site.value(forKey: "words") as? NSMutableArray)
        _ = site.value(forKey: "tags")
        #expect(site.value(forKey: "words") as? NSMutableArray === first)
        first.add("b")
        #expect(!site.hasChanges)
        site.setValue(first, forKey: "words")
        #expect(site.hasPersistentChangedValues)
        try context.save()
        #expect(site.value(forKey: "words") as? NSMutableArray === first)
        #expect(
            try stack.another().existingObject(with: site.objectID).value(forKey: "words") as? [String] == ["a", "b"])
        first.add("c")
        context.refresh(site, mergeChanges: false)
        #expect(site.value(forKey: "words") as? NSMutableArray !== first)
        #expect(site.value(forKey: "words") as? [String] == ["a", "b"])
    }

    @Test("Setting an equal value changes nothing that is stored", arguments: Lab.types)
    func equal(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["words": ["a": 1, "b": 2], "tags": [Tag(name: "t", weight: 1)]])
        try stack.context.save()
        site.setValue(["b": 2, "a": 1], forKey: "words")
        site.setValue([Tag(name: "t", weight: 1)], forKey: "tags")
        #expect(site.hasChanges && site.changedValues().isEmpty)
        site.setValue([Tag(name: "t", weight: 2)], forKey: "tags")
        #expect(site.changedValues().keys.sorted() == ["tags"])
        #expect((site.committedValues(forKeys: ["tags"])["tags"] as? [Tag])?.first?.weight == 1)
        #expect(site.value(forKey: "tags", as: [Tag].self)?.first?.weight == 2)
    }

    @Test("Changes of transformable attributes can be undone, before and after a save", arguments: Lab.types)
    func undo(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["words": ["a"], "tags": [Tag(name: "t", weight: 1)]])
        try stack.context.save()
        stack.context.processPendingChanges()
        site.setValue(["b"], forKey: "words")
        site.setValue(nil, forKey: "tags")
        try stack.context.save()
        stack.context.undo()
        #expect(site.value(forKey: "words") as? [String] == ["a"])
        #expect(site.value(forKey: "tags", as: [Tag].self) == [Tag(name: "t", weight: 1)])
        try stack.context.save()
        let read = try stack.another().existingObject(with: site.objectID)
        #expect(read.value(forKey: "words") as? [String] == ["a"])
        stack.context.redo()
        #expect(site.value(forKey: "words") as? [String] == ["b"] && site.value(forKey: "tags") == nil)
        stack.context.rollback()
        #expect(site.value(forKey: "words") as? [String] == ["a"])
        stack.context.delete(site)
        try stack.context.save()
        stack.context.undo()
        try stack.context.save()
        #expect(
            try stack.another().all("Site").first?.value(forKey: "tags", as: [Tag].self) == [Tag(name: "t", weight: 1)])
    }

    @Test(
        "A value that its transformer refuses stops the save with object, key and cause; nothing is written",
        arguments: Lab.types)
    func refused(_ type: String) throws {
        let refused: [(String, Any, String)] = [
            ("reversed", "refused", "Backwards"), ("tags", [Tag(name: "n", weight: .infinity)], "CodableTransformer"),
            ("tags", "no tags", "not String"), ("words", Tag(name: "x", weight: 1), "Tag"),
            ("words", [NSObject()], "NSSecureCoding"), ("unknown", ["a"], "LabNobody"),
            ("words", [Marker(1), NSDecimalNumber(string: "1.5")] as [Any], "decimal"),
            ("words", NSError(domain: "x", code: 1), "NSError"), ("words", [NSError(domain: "x", code: 1)], "NSError"),
            // Classes that the reader does not allow.
            ("words", Marker(1), "Marker"), ("words", ["a": [Marker(1)]], "Marker"),
            ("words", NSOrderedSet(array: [1]), "NSOrderedSet"),
        ]
        let stack = try Lab.stack(type)
        let saved = stack.context.make("Site", ["name": "kept"])
        try stack.context.save()
        for (key, value, words) in refused {
            for isNew in [false, true] {
                let object = isNew ? stack.context.make("Site") : saved
                saved.setValue("lost", forKey: "name")
                object.setValue(value, forKey: key)
                let error = #expect(throws: CocoaError.self, "\(key)") { try stack.context.save() }
                #expect(error?.code.rawValue == 1550 && error?.validationKey == key, "\(sentence(error))")
                #expect(error?.validationObject as? NSManagedObject === object && error?.validationValue != nil)
                #expect(
                    sentence(error).contains(words) && sentence(error).contains("Site.\(key)"), "\(sentence(error))")
                stack.context.rollback()
            }
        }
        saved.setValue("refused", forKey: "reversed")
        saved.setValue(Tag(name: "x", weight: 1), forKey: "words")
        let several = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(several?.code.rawValue == 1560)
        saved.setValue("fine", forKey: "reversed")
        saved.setValue(["fine"], forKey: "words")
        try stack.context.save()
        let all = try stack.another().all("Site")
        #expect(all.count == 1 && all.first?.text("reversed") == "fine")
    }

    @Test("Bytes that a transformer makes nothing of read as nil, and the context's next save says so; the bytes stay")
    func unreadable() throws {
        let stack = try Lab.stack()
        let site = stack.context.make(
            "Site", ["words": ["a"], "tags": [Tag(name: "t", weight: 1)], "markers": Marker(1)])
        try stack.context.save()
        try SQLiteFile(stack.folder.file("store.sqlite")).run(
            "UPDATE ZSITE SET ZWORDS = x'0102', ZTAGS = '[', ZMARKERS = x'00'")
        for key in ["words", "tags", "markers"] {
            let context = stack.another()
            context.stalenessInterval = 0
            let read = try context.existingObject(with: site.objectID)
            #expect(read.value(forKey: key) == nil)
            read.setValue("new", forKey: "name")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == 134060 && error?.userInfo[NSValidationKeyErrorKey] as? String == key)
            #expect(sentence(error).contains("Site.\(key)"))
            try context.save()
        }
        #expect(try SQLiteFile(stack.folder.file("store.sqlite")).rows("SELECT hex(ZWORDS) FROM ZSITE") == ["0102"])
    }

    /// A program's incremental store sees the values, not their bytes.
    @Test(
        "A predicate may ask whether there is a value, and for the same bytes",
        arguments: Lab.types.filter { $0 != ShelfStore.type })
    func fetching(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["reversed": "abc"])
        _ = stack.context.make("Site", ["words": ["a"]])
        for _ in 0...1 {
            let found = try stack.context.fetch(Lab.request("Site", "reversed != nil"))
            #expect(found == [site])
            let request = NSFetchRequest<NSManagedObject>("Site", "reversed == %@", Data("cba".utf8))
            #expect(try stack.context.fetch(request) == [site])
            try stack.context.save()
        }
    }

    @Test("Generated accessors and defaults of transformable attributes", arguments: Lab.types)
    func accessors(_ type: String) throws {
        _ = Lab.registered
        var draft = Lab.draft()
        draft.entities[0].className = "AttributeTests.TypedSite"
        let model = NSManagedObjectModel(draft: draft)
        let attributes = try #require(model.entitiesByName["Site"]?.attributesByName)
        attributes["tags"]?.defaultValue = [Tag(name: "default", weight: 0)]
        attributes["anything"]?.defaultValue = 12
        let stack = try Stack(type, model: model)
        let site = TypedSite(context: stack.context)
        #expect(site.tags == [Tag(name: "default", weight: 0)] && site.int("anything") == 12)
        site.latitude = 8
        try stack.context.save()
        let request = NSFetchRequest<TypedSite>(entityName: "Site")
        let read = try #require(try stack.another().fetch(request).first)
        #expect(read.tags == [Tag(name: "default", weight: 0)])
        #expect(read.latitude == 8 && read.value(forKeyPath: "location.latitude") as? Double == 8)
        #expect(read.int("anything") == 12)
        let wrong = NSManagedObjectModel(draft: Lab.draft())
        wrong.entitiesByName["Site"]?.attributesByName["tags"]?.defaultValue = "none"
        let error = #expect(throws: SchemaError.self) { try wrong.freeze() }
        #expect(error?.property == "tags")
    }

    @Test("The class that the model names is allowed by the default transformer, no other is")
    func namedClass() throws {
        var draft = Lab.draft()
        for index in draft.entities[0].attributes.indices where draft.entities[0].attributes[index].name == "words" {
            draft.entities[0].attributes[index].customClassName = "AttributeTests.Marker"
        }
        let stack = try Stack(model: NSManagedObjectModel(draft: draft))
        let site = stack.context.make("Site", ["words": Marker(6)])
        try stack.context.save()
        #expect(
            (try stack.another().existingObject(with: site.objectID).value(forKey: "words") as? Marker)?.number == 6)
        let plain = try NSPersistentStoreCoordinator(
            NSManagedObjectModel(draft: Lab.draft()), at: stack.coordinator.persistentStores.first?.url)
        let context = plain.context()
        #expect(try context.all("Site").first?.value(forKey: "words") == nil)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(sentence(error).contains("Marker") && sentence(error).contains("allowed"))
    }
}

@Suite("Value transformers") struct ValueTransformerTests {
    @Test("Transformers are found by name, and the supplied ones work")
    func identityMap() throws {
        _ = Lab.registered
        let name = NSValueTransformerName("Once")
        #expect(ValueTransformer(forName: name) == nil)
        let mine = Backwards()
        ValueTransformer.setValueTransformer(mine, forName: name)
        #expect(ValueTransformer(forName: name) === mine)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        #expect(Backwards(forName: name) === mine && MarkerTransformer(forName: name) == nil)
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
        let negate = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
        #expect(negate.transformedValue(true) as? Bool == false && negate.reverseTransformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue("") as? Bool == true)
        #expect(
            ValueTransformer(forName: .secureUnarchiveFromDataTransformerName) is NSSecureUnarchiveFromDataTransformer)
        #expect(Backwards.transformedValueClass() == NSData.self && ValueTransformer.allowsReverseTransformation())
    }

    private static var values: [Any] {
        [
            "", "text ü 😀", 0, -1, Int64.min, UInt64.max, 2.5, -0.0, true, Date(timeIntervalSinceReferenceDate: 5.5),
            Data(), Data([1, 2]),
            UUID(), URL(string: "https://a.example/b?c#d")!, [NSNull(), true] as [Any], [Any](),
            ["a", ["b", [1, 2]] as [Any]] as [Any],
            ["k": ["a", 1] as [Any], "l": [String: Any]()] as [String: Any], Set(["x", "y"]),
            NSMutableArray(array: [1]),
            NSMutableDictionary(dictionary: ["a": 1]), [1: "a", 2: "b"] as [Int: String],
            Array(repeating: "same", count: 300),
            NSDecimalNumber(string: "-12345678901234567890.0625"), NSDecimalNumber(string: "0"),
            ["d": NSDecimalNumber(string: "1e30")],
        ]
    }

    @Test(
        "Archives of property list classes are read back equal, and Foundation reads them too",
        arguments: values.indices)
    func archives(_ index: Int) throws {
        let value = Self.values[index]
        let transformer = NSSecureUnarchiveFromDataTransformer()
        let data = try #require(transformer.reverseTransformedValue(value) as? Data)
        let back = try #require(transformer.transformedValue(data))
        #expect(transformer.reverseTransformedValue(back) as? Data == data || value is Set<String>)
        if let number = value as? NSDecimalNumber {
            return #expect((back as? NSDecimalNumber)?.decimalValue == number.decimalValue)
        }
        if "\(value)".contains("000000000000000000") { return }
        let expected = value as AnyObject as? NSObject
        #expect((back as AnyObject as? NSObject) == expected, "\(back) \(value)")
        let foundation = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses, from: data)
        #expect((foundation as AnyObject as? NSObject) == expected, "\(String(describing: foundation))")
    }

    @Test("What Foundation archived is read")
    func foreign() throws {
        let value: [String: Any] = [
            "a": [Date(timeIntervalSinceReferenceDate: 1), UUID(), URL(string: "x:y")!, Data([9]), 1.5, true, NSNull()]
                as [Any],
            "s": Set(["q"]), "n": "ü",
        ]
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        let back = NSSecureUnarchiveFromDataTransformer().transformedValue(data) as? NSDictionary
        #expect(back == NSDictionary(dictionary: value))
    }

    @Test("No damaged archive ends the process: each is read as something or refused")
    func damage() throws {
        let value: [String: Any] = [
            "a": ["x", 1, Date(), UUID(), ["n": Data([1])]] as [Any], "url": URL(string: "a:b")!,
        ]
        let transformer = MarkerTransformer()
        let sound = try #require(transformer.reverseTransformedValue(value) as? Data)
        var refused = 0
        for place in sound.indices {
            for change in [UInt8(1), 0x10, 0x80, 0xff] {
                var data = sound
                data[place] ^= change
                if transformer.transformedValue(data) == nil { refused += 1 }
            }
            if transformer.transformedValue(sound.prefix(place)) == nil { refused += 1 }
        }
        #expect(refused > sound.count)
        let marker = try #require(transformer.reverseTransformedValue([Marker(2)]) as? Data)
        #expect(transformer.transformedValue(marker) != nil)
        #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(marker) == nil)
        for data in [Data(), Data([1]), Data("bplist00".utf8), Data(repeating: 0xff, count: 400)] {
            #expect(transformer.transformedValue(data) == nil)
        }
        #expect(transformer.transformedValue("no data") == nil && transformer.transformedValue(nil) == nil)
    }

    @Test("3.5 changedValuesForCurrentEvent has values that are kept as objects, not what they are kept in")
    func currentEvent() throws {
        let stack = try Lab.stack(Lab.types[0])
        let site = stack.context.make("Site", ["words": ["one"], "anything": "loose"])
        try stack.context.save()
        for former in ["one", "two"] {
            site.setValue(["two"], forKey: "words")
            #expect(site.changedValuesForCurrentEvent()["words"] as? [String] == [former])
            stack.context.processPendingChanges()
        }
        site.setValue("else", forKey: "anything")
        #expect(site.changedValuesForCurrentEvent()["anything"] as? String == "loose")
    }

    @Test("A value that lies too deep is refused")
    func deep() throws {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        func nested(_ depth: Int) -> Any { depth == 0 ? "x" : [nested(depth - 1)] }
        #expect(transformer.reverseTransformedValue(nested(600)) == nil)
        let data = transformer.reverseTransformedValue(nested(400))
        #expect(transformer.transformedValue(data) != nil)
    }
}
