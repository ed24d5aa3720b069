// Fetched properties and the fetch requests of a model.

import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@testable import CoreData

@Suite("Fetched properties") struct FetchedPropertyTests {
    private func names(_ object: NSManagedObject, _ key: String) -> [String?]? {
        (object.value(forKey: key) as? [NSManagedObject])?.map { $0.text("name") }
    }

    private func model() -> NSManagedObjectModel {
        let model = Lab.model()
        let ranked = NSFetchedPropertyDescription()
        ranked.name = "ranked"
        let request = NSFetchRequest<any NSFetchRequestResult>("Probe", "rank > 0")
        request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: false)]
        request.fetchLimit = 2
        ranked.fetchRequest = request
        model.entitiesByName["Site"]?.properties.append(ranked)
        return model
    }

    @Test(
        "15.3 a fetched property is evaluated when it is read first, in the order of its request", arguments: Lab.types)
    func lazily(_ type: String) throws {
        let log = StatementLog()
        let stack = try Stack(type, model: model(), options: log.options)
        for rank in [3, 1, 2, 0] { _ = stack.context.make("Probe", ["name": "\(rank)", "rank": rank]) }
        _ = stack.context.make("Site")
        try stack.context.save()
        let context = stack.another()
        let site = try #require(try context.all("Site").first)
        #expect(log.count { _ = site.text("name") } == 0)
        let found = try #require(site.value(forKey: "ranked") as? [NSManagedObject])
        #expect(log.take().count == (type == NSSQLiteStoreType ? 1 : 0))
        #expect(found.map { $0.text("name") } == ["3", "2"])
        #expect(names(site, "ranked") == ["3", "2"])
        #expect(site.value(forKey: "ranked") as? [NSManagedObject] == found)
        #expect(log.take().isEmpty)
    }

    @Test("15.3 a fetched property is cached until its object becomes a fault", arguments: Lab.types)
    func cached(_ type: String) throws {
        let stack = try Stack(type, model: model())
        let site = stack.context.make("Site", ["name": "a"])
        _ = stack.context.make("Probe", ["name": "a", "rank": 1])
        #expect(names(site, "namesakes") == ["a"])
        try stack.context.save()
        #expect(names(site, "namesakes") == ["a"])
        let late = stack.context.make("Probe", ["name": "a", "rank": 9])
        try stack.context.save()
        #expect(names(site, "namesakes")?.count == 1)
        site.setValue("b", forKey: "name")
        try stack.context.save()
        #expect(names(site, "namesakes")?.count == 1)
        site.setValue("a", forKey: "name")
        stack.context.refresh(site, mergeChanges: true)
        #expect(names(site, "namesakes")?.count == 1)
        try stack.context.save()
        stack.context.refresh(site, mergeChanges: false)
        #expect(names(site, "namesakes")?.count == 2)
        stack.context.delete(late)
        try stack.context.save()
        stack.context.refreshAllObjects()
        #expect(names(site, "namesakes")?.count == 1)
    }

    @Test(
        "15.3 $FETCH_SOURCE is the object, also in key paths, and $FETCHED_PROPERTY the property", arguments: Lab.types)
    func variables(_ type: String) throws {
        let stack = try Stack(type, model: model())
        let site = stack.context.make("Site", ["name": "a"])
        let other = stack.context.make("Site", ["name": "b"])
        for (name, owner) in [("a", site), ("b", site), ("b", other), ("m", nil)] {
            let probe = stack.context.make("Probe", ["name": name])
            probe.setValue(owner, forKey: "site")
        }
        func check() {
            #expect(names(site, "namesakes") == ["a"])
            #expect(names(other, "namesakes")?.count == 2)
            #expect(Set(names(site, "mine") ?? []) == ["a", "b"])
            #expect(names(other, "mine") == ["b"])
            #expect(names(site, "marked") == ["m"])
            #expect(site.value(forKeyPath: "mine.@count") as? Int == 2)
            #expect(NSPredicate(format: "ANY mine.name == 'b'").evaluate(with: site))
        }
        check()
        try stack.context.save()
        check()
        stack.context.refreshAllObjects()
        check()
        let nameless = stack.context.make("Site")
        #expect(names(nameless, "namesakes") == [])
    }

    @Test("15.3 fetched objects are held by nobody but their readers", arguments: Lab.types)
    func released(_ type: String) throws {
        let stack = try Stack(type, model: model(), undo: false)
        _ = stack.context.make("Site", ["name": "a"])
        _ = stack.context.make("Probe", ["name": "a"])
        try stack.context.save()
        let context = stack.another()
        let site = try #require(try context.all("Site").first)
        weak var probe: NSManagedObject?
        do {
            let found = try #require((site.value(forKey: "namesakes") as? [NSManagedObject])?.first)
            probe = found
            #expect(context.registeredObjects.count == 2)
        }
        #expect(probe == nil && context.registeredObjects.count == 1)
        #expect(names(site, "namesakes") == ["a"])
    }

    @Test("15.3 a fetched property whose fetch fails reads as empty, and the next save says why", arguments: Lab.types)
    func failing(_ type: String) throws {
        let stack = try Stack(type, model: model())
        let site = stack.context.make("Site")
        try stack.context.save()
        #expect(names(site, "broken") == [])
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "broken" && sentence(error).contains("nothing"))
        try stack.context.save()
    }

    @Test("15.3 a fetched property cannot be set, and its request in a model in use is a copy")
    func fixed() async throws {
        let description = try #require(
            try Stack(model: model()).coordinator.managedObjectModel.entitiesByName["Site"]?.propertiesByName["ranked"]
                as? NSFetchedPropertyDescription)
        description.fetchRequest?.fetchLimit = 99
        #expect(description.fetchRequest?.fetchLimit == 2)
        await #expect(processExitsWith: .failure) {
            let stack = try Lab.stack()
            stack.context.make("Site").setValue([NSManagedObject](), forKey: "mine")
        }
    }
}

@Suite("Fetch request templates") struct TemplateTests {
    private func model() -> NSManagedObjectModel {
        var draft = Lab.draft()
        var template = FetchTemplate(name: "named", entityName: "Site")
        template.predicate = "name == $NAME AND location.latitude > $LOW"
        template.fetchLimit = 5
        draft.fetchTemplates = [template]
        _ = Lab.registered
        return NSManagedObjectModel(draft: draft)
    }

    @Test("A template of the model is fetched with values for its variables", arguments: Lab.types)
    func substituted(_ type: String) throws {
        let model = model()
        let stack = try Stack(type, model: model)
        let site = stack.context.make("Site", ["name": "a", "location": ["latitude": 3.0]])
        _ = stack.context.make("Site", ["name": "a", "location": ["latitude": 1.0]])
        try stack.context.save()
        let request = try #require(
            model.fetchRequestFromTemplate(withName: "named", substitutionVariables: ["NAME": "a", "LOW": 2]))
        #expect(request.fetchLimit == 5 && request.entity === model.entitiesByName["Site"])
        #expect(try stack.context.fetch(request).compactMap { $0 as? NSManagedObject } == [site])
        #expect(model.fetchRequestFromTemplate(withName: "nobody", substitutionVariables: [:]) == nil)
        let open = try #require(model.fetchRequestTemplate(forName: "named"))
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(open) }
        #expect(error?.code.rawValue == 134060 && sentence(error).contains("$"))
        open.fetchLimit = 77
        #expect(model.fetchRequestTemplate(forName: "named")?.fetchLimit == 5)
    }

    @Test("Templates are set, replaced, removed and copied until the model is in use")
    func edited() throws {
        let model = model()
        let request = NSFetchRequest<any NSFetchRequestResult>("Probe", "rank == $RANK", by: "name")
        model.setFetchRequestTemplate(request, forName: "ranked")
        request.fetchLimit = 3
        for model in [
            model, try #require(model.copy() as? NSManagedObjectModel), NSManagedObjectModel(byMerging: [model]),
        ] {
            #expect(model?.fetchRequestTemplatesByName.keys.sorted() == ["named", "ranked"])
            let found = model?.fetchRequestFromTemplate(withName: "ranked", substitutionVariables: ["RANK": 4])
            #expect((found?.predicate as? NSComparisonPredicate)?.rightExpression.constantValue as? Int == 4)
            #expect(found?.sortDescriptors?.count == 1 && found?.fetchLimit == 0 && found?.entityName == "Probe")
        }
        model.setFetchRequestTemplate(nil, forName: "named")
        #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["ranked"])
        let stack = try Stack(model: model)
        let probe = stack.context.make("Probe", ["rank": 4])
        let found = try #require(model.fetchRequestFromTemplate(withName: "ranked", substitutionVariables: ["RANK": 4]))
        #expect(try stack.context.fetch(found).compactMap { $0 as? NSManagedObject } == [probe])
    }

    @Test("A variable's key path takes the value of the object given", arguments: Lab.types)
    func keyPaths(_ type: String) throws {
        let stack = try Lab.stack(type)
        let site = stack.context.make("Site", ["name": "a", "location": ["latitude": 4.0]])
        let probe = stack.context.make("Probe", ["name": "a"])
        _ = stack.context.make("Probe", ["name": "b"])
        try stack.context.save()
        let request = Lab.request("Probe", "name == $s.name AND $s.location.latitude == 4 AND $s.label == nil")
        request.predicate = request.predicate?.withSubstitutionVariables(["s": site])
        let found = NSPredicate(format: "name == $s.name").withSubstitutionVariables(["s": site])
        let simple = Lab.request("Probe", "")
        simple.predicate = found
        #expect(try stack.context.fetch(simple) == [probe])
        #expect(found.evaluate(with: probe))
    }

    @Test("A predicate text that cannot be read is an error of the model, with file, line and entity")
    func bad() throws {
        let folder = Folder()
        let package = folder.file("Model.xcdatamodel")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        for (line, text) in [
            (
                5,
                "<model>\n<entity name=\"E\"><attribute name=\"a\" attributeType=\"String\"/></entity>\n\n\n<fetchRequest name=\"t\" entity=\"E\" predicateString=\"a ==\"/></model>"
            ),
            (
                4,
                "<model>\n<entity name=\"E\">\n<fetchedProperty name=\"f\">\n<fetchRequest name=\"fetchedPropertyFetchRequest\" entity=\"E\" predicateString=\"a BEGINS 'x\"/></fetchedProperty></entity></model>"
            ),
        ] {
            try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
            let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel(loading: package) }
            #expect(error?.code.rawValue == 134020)
            #expect(error?.userInfo[NSModelLineErrorKey] as? Int == line)
            #expect(error?.userInfo[NSEntityNameErrorKey] as? String == "E")
            #expect((error?.userInfo[NSFilePathErrorKey] as? String)?.hasSuffix("contents") == true)
            #expect(sentence(error).contains("predicate"))
        }
    }
}
