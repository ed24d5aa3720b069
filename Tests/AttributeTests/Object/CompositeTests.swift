// Attributes made of attributes.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Composite attributes") struct CompositeTests {
    private func place(_ object: NSManagedObject, _ key: String = "location") -> NSDictionary? {
        (object.value(forKey: key) as? [String: Any]).map { NSDictionary(dictionary: $0) }
    }

    @Test(
        "A composite is read and written as a dictionary, nested ones too, and comes back from the store",
        arguments: Lab.types)
    func roundTrip(_ type: String) throws {
        let stack = try Lab.stack(type)
        let value: [String: Any] = [
            "latitude": 52.5, "longitude": 13.25, "area": ["country": "Chile", "code": 56] as [String: Any],
            "label": "x",
        ]
        let site = stack.context.make("Site", ["location": value, "label": "own"])
        let plain = stack.context.make("Site", ["origin": ["longitude": 1.0]])
        #expect(place(site) == NSDictionary(dictionary: value))
        #expect(place(site, "origin") == ["latitude": 1.5])
        #expect(place(plain, "origin") == ["longitude": 1.0])
        try stack.context.save()
        let other = stack.another()
        let read = try other.existingObject(with: site.objectID)
        #expect(place(read) == NSDictionary(dictionary: value))
        #expect(read.text("label") == "own")
        #expect(place(read, "location.area") == ["country": "Chile", "code": 56])
        #expect(read.value(forKeyPath: "location.latitude") as? Double == 52.5)
        #expect(read.value(forKeyPath: "location.area.country") as? String == "Chile")
        #expect(read.value(forKey: "location.area.code") as? Int == 56)
        read.setValue(nil, forKey: "location")
        #expect(read.value(forKey: "location") == nil && read.value(forKeyPath: "location.latitude") == nil)
        try other.save()
        stack.context.refresh(site, mergeChanges: false)
        #expect(try stack.another().existingObject(with: site.objectID).value(forKey: "location") == nil)
    }

    @Test("An element is written by its key path, through relationships too, and only it changes", arguments: Lab.types)
    func keyPaths(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["location": ["latitude": 1.0, "longitude": 2.0]])
        let probe = stack.context.make("Probe", ["site": site])
        try stack.context.save()
        site.setValue(9.0, forKeyPath: "location.latitude")
        #expect(place(site) == ["latitude": 9.0, "longitude": 2.0])
        #expect(site.changedValues().keys.sorted() == ["location"])
        #expect((site.changedValues()["location"] as? [String: Double]) == ["latitude": 9, "longitude": 2])
        #expect(
            (site.committedValues(forKeys: ["location"])["location"] as? [String: Double]) == [
                "latitude": 1, "longitude": 2,
            ])
        #expect(
            (site.committedValues(forKeys: nil)["location"] as? [String: Double]) == ["latitude": 1, "longitude": 2])
        #expect(site.committedValues(forKeys: nil)["location.latitude"] == nil)
        probe.setValue("Peru", forKeyPath: "site.location.area.country")
        probe.setValue(51, forKeyPath: "site.location.area.code")
        #expect(site.value(forKeyPath: "location.area.country") as? String == "Peru")
        #expect(probe.value(forKeyPath: "site.location.longitude") as? Double == 2)
        try stack.context.save()
        #expect(
            try stack.another().existingObject(with: site.objectID).value(forKeyPath: "location.area.code") as? Int
                == 51)
        stack.context.undo()
        #expect(site.value(forKeyPath: "location.area.country") == nil)
    }

    @Test("Predicates and sort orders reach elements, in the store and among pending changes", arguments: Lab.types)
    func fetching(_ type: String) throws {
        let stack = try Lab.stack(type)
        for (index, country) in ["A", "B", "C"].enumerated() {
            let site = stack.context.make(
                index == 1 ? "SpecialSite" : "Site",
                [
                    "name": country,
                    "location": [
                        "latitude": Double(index), "area": ["country": country, "code": index] as [String: Any],
                    ] as [String: Any],
                ])
            _ = stack.context.make("Probe", ["name": country, "site": site])
        }
        func names(_ request: NSFetchRequest<NSManagedObject>) throws -> [String?] {
            try stack.context.fetch(request).map { $0.text("name") }
        }
        func check() throws {
            #expect(try names(Lab.request("Site", "location.latitude > 0.5", sort: ["name"])) == ["B", "C"])
            #expect(try names(Lab.request("Site", "location.area.country == 'B'")) == ["B"])
            #expect(try names(Lab.request("Site", "location.area.code IN {0, 2}", sort: ["name"])) == ["A", "C"])
            #expect(
                try names(Lab.request("Site", "origin.longitude == nil", sort: ["location.latitude"])) == [
                    "A", "B", "C",
                ])
            #expect(try names(Lab.request("Probe", "site.location.latitude == 2")) == ["C"])
            #expect(try names(Lab.request("Probe", "", sort: ["site.location.area.country"])) == ["A", "B", "C"])
            #expect(try names(Lab.request("Site", "ANY probes.site.location.latitude == 1")) == ["B"])
            let descending = Lab.request("Site", "")
            descending.sortDescriptors = [NSSortDescriptor(key: "location.area.code", ascending: false)]
            #expect(try names(descending) == ["C", "B", "A"])
        }
        try check()
        try stack.context.save()
        try check()
        for format in ["location == nil", "location.area == nil", "location.nothing == 1", "location.area.code.x == 1"]
        {
            let error = #expect(throws: CocoaError.self, "\(format)") {
                try stack.context.fetch(Lab.request("Site", format))
            }
            #expect(error?.code.rawValue == 134060 && sentence(error).contains("location"), "\(sentence(error))")
        }
    }

    @Test(
        "Elements are validated: a required one where its composite has a value, a required composite for itself",
        arguments: Lab.types)
    func validation(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["location": ["area": ["country": "X"]]])
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code.rawValue == 1570 && error?.validationKey == "location.area.code")
        #expect(error?.validationObject as? NSManagedObject === site)
        site.setValue(1, forKeyPath: "location.area.code")
        try stack.context.save()

        var draft = Lab.draft()
        draft.entities[0].attributes.append(Clinic.composite("needed", "Place", optional: false))
        let strict = try Stack(type, model: NSManagedObjectModel(draft: draft))
        let other = strict.context.make("Site")
        try strict.context.save()
        other.setValue(nil, forKey: "needed")
        let missing = #expect(throws: CocoaError.self) { try strict.context.save() }
        #expect(missing?.code.rawValue == 1570 && missing?.validationKey == "needed")
        other.setValue(["label": "l"], forKey: "needed")
        try strict.context.save()
    }

    @Test("Columns bear the names of the elements, after those of all plain attributes; the hash knows the elements")
    func columns() throws {
        let stack = try Lab.stack()
        let site = stack.context.make(
            "SpecialSite", ["label": "own", "location": ["label": "there"], "second": ["code": 4]])
        try stack.context.save()
        let url = stack.folder.file("store.sqlite")
        let columns = try SQLiteFile(url).rows("SELECT name FROM pragma_table_info('ZSITE')")
        for name in ["ZLABEL", "ZLABEL1", "ZLABEL2", "ZLATITUDE", "ZLATITUDE1", "ZCODE", "ZCODE1", "ZCODE2"] {
            #expect(columns.contains(name), "\(name) in \(columns)")
        }
        #expect(!columns.contains("ZLOCATION") && !columns.contains("ZSPEED"))
        #expect(try SQLiteFile(url).rows("SELECT ZLABEL FROM ZSITE") == ["own"])
        #expect(try SQLiteFile(url).rows("SELECT ZLABEL1 FROM ZSITE") == ["there"])
        #expect(try SQLiteFile(url).rows("SELECT ZCODE2 FROM ZSITE") == ["4"])
        _ = site

        var changed = Lab.draft()
        changed.composites[1].attributes[1].type = .integer32
        let former = try Schema(checking: Lab.draft())
        let new = try Schema(checking: changed)
        #expect(former.entity(named: "Site")?.versionHash != new.entity(named: "Site")?.versionHash)
        #expect(former.entity(named: "Probe")?.versionHash == new.entity(named: "Probe")?.versionHash)
        let model = NSManagedObjectModel(draft: Lab.draft())
        let again = model.copy() as? NSManagedObjectModel
        #expect(again?.entityVersionHashesByName == model.entityVersionHashesByName)
        let location = model.entitiesByName["Site"]?.attributesByName["location"] as? NSCompositeAttributeDescription
        #expect(location?.elements.map(\.name) == ["latitude", "longitude", "area", "label"])
        #expect(location?.versionHash.count == 32)
    }

    @Test(
        "An index and a uniqueness constraint may name elements", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func constraints(_ type: String) throws {
        var draft = Lab.draft()
        draft.entities[0].uniquenessConstraints = [["location.latitude", "location.area.country"]]
        draft.entities[0].indexes = [
            FetchIndex(name: "byCode", elements: [FetchIndex.Element(property: "location.area.code")])
        ]
        let stack = try Stack(type, model: NSManagedObjectModel(draft: draft))
        let value: [String: Any] = ["latitude": 1.0, "area": ["country": "X", "code": 1] as [String: Any]]
        _ = stack.context.make("Site", ["location": value])
        try stack.context.save()
        _ = stack.context.make("Site", ["location": value])
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code.rawValue == 133021)
        for flawed in ["location", "location.area", "location.nothing"] {
            draft.entities[0].uniquenessConstraints = [[flawed]]
            #expect(throws: SchemaError.self, "\(flawed)") { try Schema(checking: draft) }
        }
    }

    @Test("Composites that multiply beyond measure are refused, not built")
    func explosion() throws {
        var draft = SchemaDraft()
        for level in 0..<40 {
            let inner = level == 0 ? Clinic.attribute("x", .double) : Clinic.composite("x", "C\(level - 1)")
            var second = inner
            second.name = "y"
            draft.composites.append(Composite(name: "C\(level)", attributes: [inner, second]))
        }
        let entity = EntityDraft("E", [Clinic.composite("big", "C39")])
        draft.entities = [entity]
        let error = #expect(throws: SchemaError.self) { try Schema(checking: draft) }
        #expect(error?.message.contains("columns") == true)
        draft.composites[0].attributes[0] = Clinic.composite("x", "C39")
        #expect(throws: SchemaError.self) { try Schema(checking: draft) }
        _ = VersionHash(draft: draft).entityHashes()
    }

    @Test("Elements of composites of a model made in code, by accessors and by primitive values")
    func inCode() throws {
        let latitude = NSAttributeDescription()
        latitude.name = "latitude"
        latitude.type = .double
        let words = NSAttributeDescription()
        words.name = "words"
        words.type = .transformable
        let location = NSCompositeAttributeDescription()
        location.name = "location"
        location.elements = [latitude, words]
        let entity = NSEntityDescription()
        entity.name = "Stop"
        entity.properties = [location]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try Stack(model: model)
        let stop = stack.context.make("Stop", ["location": ["latitude": 3.0, "words": ["a", "b"]] as [String: Any]])
        try stack.context.save()
        let read = try stack.another().existingObject(with: stop.objectID)
        #expect(read.value(forKeyPath: "location.words") as? [String] == ["a", "b"])
        read.setPrimitiveValue(["latitude": 4.0], forKey: "location")
        #expect(!read.hasChanges)
        #expect((read.primitiveValue(forKey: "location") as? [String: Double]) == ["latitude": 4])
    }

    @Test(
        "3.5 changedValuesForCurrentEvent names a composite, with all its elements as they were",
        arguments: [false, true])
    func currentEvent(_ hasUndo: Bool) throws {
        let stack = try Lab.stack(Lab.types[0])
        stack.context.undoManager = hasUndo ? UndoManager() : nil
        let site = stack.context.make(
            "Site", ["location": ["latitude": 1.0, "area": ["code": 1] as [String: Any]] as [String: Any]])
        try stack.context.save()
        site.setValue(2, forKeyPath: "location.area.code")
        site.setValue(3, forKeyPath: "location.area.code")
        site.setValue("Peru", forKeyPath: "location.area.country")
        let former = site.changedValuesForCurrentEvent()
        #expect(former.keys.sorted() == ["location"])
        #expect(
            (former["location"] as? [String: Any]).map { NSDictionary(dictionary: $0) } == [
                "latitude": 1.0, "area": ["code": 1],
            ])
        let bare = stack.context.make("Site")
        try stack.context.save()
        bare.setValue(2, forKeyPath: "location.area.code")
        #expect(bare.changedValuesForCurrentEvent().keys.sorted() == ["location"])
        #expect(bare.changedValuesForCurrentEvent()["location"] as? [String: Double] == ["latitude": 1.5])
    }
}
