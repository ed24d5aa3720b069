// What a frozen model refuses.

import CoreData
import CoreDataTestSupport
import CoreDataValues
import Foundation
import Testing

@Suite struct ModelFreezeTests {
    @Test("Changing an attribute of a frozen model traps and names the property and the cure")
    func attribute() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = libraryModel()
            try model.freeze()
            model.entitiesByName["Book"]?.attributesByName["title"]?.isOptional = true
        }
        #expect(said(result?.standardErrorContent, "isOptional of Book.title", "Copy the model first"))
    }

    @Test("Changing an entity of a frozen model traps")
    func entity() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = libraryModel()
            try model.freeze()
            model.entitiesByName["Book"]?.properties = []
        }
        #expect(said(result?.standardErrorContent, "properties of the entity 'Book'"))
    }

    @Test("Changing a frozen model's entities traps")
    func model() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = libraryModel()
            try model.freeze()
            model.entities = []
        }
        #expect(said(result?.standardErrorContent, "entities of the model", "Copy the model first"))
    }

    @Test("Giving a frozen model's entity to another model traps")
    func theft() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = libraryModel()
            try model.freeze()
            NSManagedObjectModel().entities = model.entities
        }
        #expect(said(result?.standardErrorContent, "the entity 'Author'"))
    }

    @Test("Changing an index or a relationship of a frozen model traps")
    func index() async {
        await #expect(processExitsWith: .failure) {
            let model = libraryModel()
            try model.freeze()
            model.entitiesByName["Book"]?.indexes[0].elements[0].isAscending = false
        }
        await #expect(processExitsWith: .failure) {
            let model = libraryModel()
            try model.freeze()
            model.entitiesByName["Book"]?.relationshipsByName["author"]?.deleteRule = .denyDeleteRule
        }
    }

    @Test("Freezing and reading a frozen model do not trap")
    func reading() async {
        await #expect(processExitsWith: .success) {
            let model = libraryModel()
            try model.freeze()
            _ = model.entitiesByName["Book"]?.renamingIdentifier
            exit(0)
        }
    }
}
