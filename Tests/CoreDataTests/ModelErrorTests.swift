// The error codes, keys and conversions.

import CoreData
import CoreDataValues
import Foundation
import Testing

@Suite struct ModelErrorTests {
    @Test("Codes have Core Data's numbers, on CocoaError and on its Code, and as constants")
    func codes() {
        let table: [(CocoaError.Code, Int, Int)] = [
            (.managedObjectValidation, NSManagedObjectValidationError, 1550),
            (.validationMultipleErrors, NSValidationMultipleErrorsError, 1560),
            (.validationMissingMandatoryProperty, NSValidationMissingMandatoryPropertyError, 1570),
            (.validationRelationshipDeniedDelete, NSValidationRelationshipDeniedDeleteError, 1600),
            (.validationStringPatternMatching, NSValidationStringPatternMatchingError, 1680),
            (.managedObjectMerge, NSManagedObjectMergeError, 133020),
            (.persistentStoreIncompatibleSchema, NSPersistentStoreIncompatibleSchemaError, 134020),
            (.coreData, NSCoreDataError, 134060),
            (.persistentStoreOpen, NSPersistentStoreOpenError, 134080),
            (.persistentStoreIncompatibleVersionHash, NSPersistentStoreIncompatibleVersionHashError, 134100),
            (.sqlite, NSSQLiteError, 134180),
            (.externalRecordImport, NSExternalRecordImportError, 134200),
        ]
        for (code, constant, number) in table {
            #expect(code.rawValue == number)
            #expect(constant == number)
        }
        #expect(CocoaError.sqlite == CocoaError.Code.sqlite)
        #expect(NSManagedObjectConstraintValidationError == 1551)
        #expect(NSStagedMigrationBackwardMigrationError == 134506)
    }

    @Test("A store's error keeps its sentence, file, statement and SQLite code")
    func storeError() {
        let error = CocoaError(
            StoreError(
                134180, "The disk is full.", path: "/a/b.sqlite", entity: "Book", sqliteCode: 13,
                sqliteMessage: "database or disk is full", sql: "INSERT"))
        let bridged = error as NSError
        #expect(bridged.domain == NSCocoaErrorDomain)
        #expect(bridged.code == 134180)
        #expect(bridged.localizedDescription == "The disk is full.")
        #expect(bridged.userInfo[NSFilePathErrorKey] as? String == "/a/b.sqlite")
        #expect(bridged.userInfo[NSSQLiteErrorDomain] as? Int == 13)
        #expect(bridged.userInfo[NSSQLiteMessageErrorKey] as? String == "database or disk is full")
        #expect(bridged.userInfo[NSSQLStatementErrorKey] as? String == "INSERT")
        #expect(bridged.userInfo[NSEntityNameErrorKey] as? String == "Book")
    }

    @Test("A model's error says file, line and column")
    func schemaError() {
        let place = SourceLocation(path: "contents", line: 12, column: 3)
        let error = CocoaError.presenting(
            SchemaError("No such entity 'Autor'.", entity: "Book", property: "author", location: place))
        let bridged = error as NSError
        #expect(bridged.code == 134020)
        #expect(bridged.localizedDescription == "contents:12:3: error: No such entity 'Autor'.")
        #expect((error as? CocoaError)?.validationKey == "author")
        #expect(bridged.userInfo[NSModelLineErrorKey] as? Int == 12)
        #expect(bridged.userInfo[NSModelColumnErrorKey] as? Int == 3)
    }

    @Test("The accessors read the userInfo")
    func accessors() {
        let object = NSObject()
        let error = CocoaError(
            .managedObjectValidation,
            userInfo: [
                NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: "title",
                NSValidationValueErrorKey: "x", NSValidationPredicateErrorKey: NSPredicate(value: true),
                NSAffectedObjectsErrorKey: [object], NSAffectedStoresErrorKey: [object],
            ])
        #expect(error.validationObject as? NSObject === object)
        #expect(error.validationKey == "title")
        #expect(error.validationValue as? String == "x")
        #expect(error.validationPredicate != nil)
        #expect(error.affectedObjects?.first === object)
        #expect(error.affectedStores?.first === object)
    }

    @Test("A misuse says its sentence before it traps")
    func misuseSpeaks() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            misuse("Tea was asked of a coffee machine.")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("CoreData misuse: Tea was asked of a coffee machine."))
    }
}
