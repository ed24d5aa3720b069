// Requests that are executed without naming a context, and what they carry with them.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("Executed requests") struct ExecutedRequestTests {
    private func request(_ entity: String = "Doctor") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entity, by: "name")
        return request
    }

    private func names(_ objects: [NSManagedObject]) -> [String] {
        objects.map { $0.value(forKey: "name") as? String ?? "-" }
    }

    @Test(
        "8.16 A request is executed in the context whose block runs, the innermost one",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func contexts(_ type: String) throws {
        let stack = try Stack(type, undo: false)
        let (outer, inner) = (stack.context, stack.another())
        try outer.performAndWait {
            _ = outer.make("Doctor", ["name": "a"])
            try outer.save()
            _ = outer.make("Doctor", ["name": "b"])
        }
        let child = outer.child()
        try outer.performAndWait {
            let mine = try request().execute()
            #expect(names(mine) == ["a", "b"] && mine.allSatisfy { $0.managedObjectContext === outer })
            try inner.performAndWait {
                let others = try request().execute()
                #expect(names(others) == ["a"] && others.allSatisfy { $0.managedObjectContext === inner })
                let nested = try outer.performAndWait { try request().execute().count }
                #expect(nested == 2)
            }
            try child.performAndWait {
                let found = try request().execute()
                #expect(names(found) == ["a", "b"] && found.allSatisfy { $0.managedObjectContext === child })
            }
            let again = try request().execute()
            #expect(again == mine)
            let counts = NSFetchRequest<NSNumber>(entityName: "Doctor")
            counts.resultType = .countResultType
            let counted = try counts.execute()
            #expect(counted == [2])
            #expect(throws: CocoaError.self) { try request("Nowhere").execute() }
        }
    }

    @Test("8.16 Outside the blocks of all contexts executing a request is a misuse")
    func outside() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try Stack(NSInMemoryStoreType)
            try stack.context.performAndWait { _ = try NSFetchRequest<NSManagedObject>(entityName: "Doctor").execute() }
            try withExtendedLifetime(stack) { _ = try NSFetchRequest<NSManagedObject>(entityName: "Doctor").execute() }
        }
        let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(told.contains("outside the block of any context") && told.contains("Doctor"))
    }

    @Test("8.15 An asynchronous fetch asks the stores that both it and its fetch request allow")
    func affectedStores() async throws {
        let stack = try Stack(undo: false)
        let a = stack.coordinator.persistentStores[0]
        let b = try stack.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = stack.context
        try await context.perform {
            for (name, store) in [("a", a), ("b", b)] {
                context.assign(context.make("Doctor", ["name": name]), to: store)
            }
            try context.save()
        }
        let cases: [(outer: [NSPersistentStore]?, inner: [NSPersistentStore]?, names: [String])] = [
            (nil, nil, ["a", "b"]), ([b], nil, ["b"]), (nil, [a], ["a"]), ([a, b], [b], ["b"]), ([a], [b], []),
            ([], nil, []),
        ]
        for (outer, inner, expected) in cases {
            let fetch = request()
            fetch.affectedStores = inner
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: fetch)
            asynchronous.affectedStores = outer
            let found = try await context.results(of: asynchronous)
            nonisolated(unsafe) let objects = found
            #expect(await context.perform { self.names(objects) } == expected)
            #expect(fetch.affectedStores?.count == inner?.count)
        }
    }

    @Test("Fetch requests of a model file are templates with everything that the file says")
    func templates() throws {
        let folder = Folder()
        let package = folder.file("Model.xcdatamodel")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        let text = """
            <model><entity name="E"><attribute name="a" attributeType="String" optional="YES"/></entity>
            <fetchRequest name="t" entity="E" predicateString="a == $a" resultType="2" fetchLimit="50" fetchBatchSize="20" includeSubentities="NO"
            includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <fetchRequest name="plain" entity="E"/></model>
            """
        try Data(text.utf8).write(to: package.appendingPathComponent("contents"))
        let model = try NSManagedObjectModel(loading: package)
        let request = try #require(model.fetchRequestTemplate(forName: "t"))
        #expect(
            request.predicate.map(\.description) == "a == $a" && request.resultType == .dictionaryResultType
                && request.fetchLimit == 50)
        #expect(request.fetchBatchSize == 20 && request.returnsDistinctResults && !request.includesSubentities)
        #expect(!request.includesPropertyValues && !request.includesPendingChanges && !request.returnsObjectsAsFaults)
        let plain = try #require(model.fetchRequestTemplate(forName: "plain"))
        #expect(
            plain.fetchBatchSize == 0 && !plain.returnsDistinctResults && plain.includesSubentities
                && plain.returnsObjectsAsFaults)
    }

    @Test("A template that a program made is archived with its batch size and whether its results are distinct")
    func archived() throws {
        let model = NSManagedObjectModel(draft: Clinic.draft())
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Doctor")
        (template.fetchBatchSize, template.fetchOffset, template.fetchLimit, template.returnsDistinctResults) = (
            20, 3, 50, true
        )
        model.setFetchRequestTemplate(template, forName: "t")
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
        let again = try #require(read.fetchRequestTemplate(forName: "t"))
        #expect(
            again.fetchBatchSize == 20 && again.fetchOffset == 3 && again.fetchLimit == 50
                && again.returnsDistinctResults)
    }
}
