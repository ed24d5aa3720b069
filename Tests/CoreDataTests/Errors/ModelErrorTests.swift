// The error codes, keys and conversions.

import CoreData
import CoreDataValues
import Foundation
import Testing

@Suite struct ModelErrorTests {
    /// The table of the specification; codes without a name on `CocoaError` have a constant only.
    private static let table: [(code: CocoaError.Code?, constant: Int, number: Int)] = [
        (.managedObjectValidation, NSManagedObjectValidationError, 1550),
        (nil, NSManagedObjectConstraintValidationError, 1551),
        (.validationMultipleErrors, NSValidationMultipleErrorsError, 1560),
        (.validationMissingMandatoryProperty, NSValidationMissingMandatoryPropertyError, 1570),
        (.validationRelationshipLacksMinimumCount, NSValidationRelationshipLacksMinimumCountError, 1580),
        (.validationRelationshipExceedsMaximumCount, NSValidationRelationshipExceedsMaximumCountError, 1590),
        (.validationRelationshipDeniedDelete, NSValidationRelationshipDeniedDeleteError, 1600),
        (.validationNumberTooLarge, NSValidationNumberTooLargeError, 1610),
        (.validationNumberTooSmall, NSValidationNumberTooSmallError, 1620),
        (.validationDateTooLate, NSValidationDateTooLateError, 1630),
        (.validationDateTooSoon, NSValidationDateTooSoonError, 1640),
        (.validationInvalidDate, NSValidationInvalidDateError, 1650),
        (.validationStringTooLong, NSValidationStringTooLongError, 1660),
        (.validationStringTooShort, NSValidationStringTooShortError, 1670),
        (.validationStringPatternMatching, NSValidationStringPatternMatchingError, 1680),
        (nil, NSValidationInvalidURIError, 1690),
        (.managedObjectContextLocking, NSManagedObjectContextLockingError, 132000),
        (.persistentStoreCoordinatorLocking, NSPersistentStoreCoordinatorLockingError, 132010),
        (.managedObjectReferentialIntegrity, NSManagedObjectReferentialIntegrityError, 133000),
        (.managedObjectExternalRelationship, NSManagedObjectExternalRelationshipError, 133010),
        (.managedObjectMerge, NSManagedObjectMergeError, 133020),
        (.managedObjectConstraintMerge, NSManagedObjectConstraintMergeError, 133021),
        (.persistentStoreInvalidType, NSPersistentStoreInvalidTypeError, 134000),
        (.persistentStoreTypeMismatch, NSPersistentStoreTypeMismatchError, 134010),
        (.persistentStoreIncompatibleSchema, NSPersistentStoreIncompatibleSchemaError, 134020),
        (.persistentStoreSave, NSPersistentStoreSaveError, 134030),
        (.persistentStoreIncompleteSave, NSPersistentStoreIncompleteSaveError, 134040),
        (.persistentStoreSaveConflicts, NSPersistentStoreSaveConflictsError, 134050),
        (.coreData, NSCoreDataError, 134060),
        (.persistentStoreOperation, NSPersistentStoreOperationError, 134070),
        (.persistentStoreOpen, NSPersistentStoreOpenError, 134080),
        (.persistentStoreTimeout, NSPersistentStoreTimeoutError, 134090),
        (.persistentStoreUnsupportedRequestType, NSPersistentStoreUnsupportedRequestTypeError, 134091),
        (.persistentStoreIncompatibleVersionHash, NSPersistentStoreIncompatibleVersionHashError, 134100),
        (.migration, NSMigrationError, 134110),
        (nil, NSMigrationConstraintViolationError, 134111),
        (.migrationCancelled, NSMigrationCancelledError, 134120),
        (.migrationMissingSourceModel, NSMigrationMissingSourceModelError, 134130),
        (.migrationMissingMappingModel, NSMigrationMissingMappingModelError, 134140),
        (.migrationManagerSourceStore, NSMigrationManagerSourceStoreError, 134150),
        (.migrationManagerDestinationStore, NSMigrationManagerDestinationStoreError, 134160),
        (.entityMigrationPolicy, NSEntityMigrationPolicyError, 134170),
        (.sqlite, NSSQLiteError, 134180),
        (.inferredMappingModel, NSInferredMappingModelError, 134190),
        (.externalRecordImport, NSExternalRecordImportError, 134200),
        (nil, NSPersistentHistoryTokenExpiredError, 134301),
        (nil, NSManagedObjectModelReferenceNotFoundError, 134504),
        (nil, NSStagedMigrationFrameworkVersionMismatchError, 134505),
        (nil, NSStagedMigrationBackwardMigrationError, 134506),
    ]

    @Test("Every code has Core Data's number, on CocoaError.Code and as a constant")
    func codes() {
        #expect(Self.table.count == 49 && Set(Self.table.map(\.number)).count == 49)
        for (code, constant, number) in Self.table {
            if let code { #expect(code.rawValue == number) }
            #expect(constant == number)
        }
        #expect(CocoaError.sqlite == CocoaError.Code.sqlite)
    }

    @Test("A store's error keeps its sentence, file, statement and SQLite code")
    func storeError() {
        let error = CocoaError(
            StoreError(
                134180, "The disk is full.", path: "/a/b.sqlite", entity: "Book",
                engine: EngineError(name: "SQLite", code: "13", message: "database or disk is full"), sql: "INSERT"))
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

    @Test("Another engine's code is not told as SQLite's")
    func otherEngine() {
        let engine = EngineError(name: "PostgreSQL", code: "53100", message: "could not extend file")
        let bridged = CocoaError(StoreError(134180, "The disk is full.", engine: engine, sql: "INSERT")) as NSError
        #expect(bridged.userInfo[NSSQLiteErrorDomain] == nil)
        #expect(bridged.userInfo[NSSQLiteMessageErrorKey] == nil)
        #expect(bridged.userInfo[NSSQLStatementErrorKey] as? String == "INSERT")
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
