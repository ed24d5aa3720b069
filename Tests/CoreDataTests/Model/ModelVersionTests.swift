// Version hashes as the model classes show them. The figures were published with Core Data's own tools.

import CoreData
import CoreDataValues
import Foundation
import Testing

private func userModel() -> NSManagedObjectModel {
    let name = NSAttributeDescription()
    name.name = "name"
    name.type = .string
    name.isOptional = false
    let petName = NSAttributeDescription()
    petName.name = "petName"
    petName.type = .string
    let user = NSEntityDescription()
    user.name = "User"
    user.properties = [name, petName]
    let model = NSManagedObjectModel()
    model.entities = [user]
    return model
}

private func hex(_ data: Data?) -> String { (data ?? Data()).map { String(format: "%02x", $0) }.joined() }

@Suite struct ModelVersionTests {
    @Test("A model in code has the hashes and the checksum that Core Data gives it, frozen or not")
    func vectors() throws {
        let model = userModel()
        for _ in 0..<2 {
            let user = try #require(model.entitiesByName["User"])
            #expect(
                hex(user.attributesByName["name"]?.versionHash)
                    == "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890")
            #expect(
                hex(user.attributesByName["petName"]?.versionHash)
                    == "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742")
            #expect(
                hex(user.versionHash) == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
            #expect(model.entityVersionHashesByName == ["User": user.versionHash])
            #expect(model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
            try model.freeze()
        }
    }

    @Test("A store fits a model when the hashes of the configuration's entities are the same")
    func compatibility() throws {
        let model = libraryModel()
        let hashes = model.entityVersionHashesByName
        #expect(hashes.count == 3)
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
        #expect(
            model.isConfiguration(
                withName: "Books",
                compatibleWithStoreMetadata: ["NSStoreModelVersionHashes": hashes.filter { $0.key == "Book" }]))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        model.entitiesByName["Book"]?.attributesByName["pages"]?.isOptional = false
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("The model that a store was written with is put together from the versions at hand")
    func mergingForMetadata() throws {
        let old = libraryModel()
        let new = libraryModel()
        new.entitiesByName["Author"]?.versionHashModifier = "2"
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": old.entityVersionHashesByName]
        let found = try #require(NSManagedObjectModel(byMerging: [new, old], forStoreMetadata: metadata))
        #expect(found.entityVersionHashesByName == old.entityVersionHashesByName)
        #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(NSManagedObjectModel(byMerging: [new], forStoreMetadata: metadata) == nil)
    }

    @Test("Models that declare an entity differently are not merged, and the error names it")
    func conflict() throws {
        let other = libraryModel()
        other.entitiesByName["Author"]?.versionHashModifier = "2"
        #expect(NSManagedObjectModel(byMerging: [libraryModel(), other]) == nil)
        let error = #expect(throws: CocoaError.self) {
            try NSManagedObjectModel(merging: [libraryModel(), other])
        }
        #expect(error?.userInfo[NSEntityNameErrorKey] as? String == "Author")
        #expect(NSManagedObjectModel(byMerging: [libraryModel(), libraryModel()])?.entities.count == 3)
    }
}
