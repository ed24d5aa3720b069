// The numbers and userInfo keys of Core Data's errors, under their global names.

// Keys of an error's userInfo.

/// The single errors, when an error stands for several (`validationMultipleErrors`).
public let NSDetailedErrorsKey: String = "NSDetailedErrors"
/// The object that failed validation.
public let NSValidationObjectErrorKey: String = "NSValidationErrorObject"
/// The name of the property that failed validation.
public let NSValidationKeyErrorKey: String = "NSValidationErrorKey"
/// The predicate that the value did not satisfy.
public let NSValidationPredicateErrorKey: String = "NSValidationErrorPredicate"
/// The value that was refused.
public let NSValidationValueErrorKey: String = "NSValidationErrorValue"
/// The stores that the error concerns.
public let NSAffectedStoresErrorKey: String = "NSAffectedStoresErrorKey"
/// The objects that the error concerns.
public let NSAffectedObjectsErrorKey: String = "NSAffectedObjectsErrorKey"
/// The merge conflicts of a save.
public let NSPersistentStoreSaveConflictsErrorKey: String = "conflictList"
/// The domain of SQLite's result codes, and the key under which an error carries one.
public let NSSQLiteErrorDomain: String = "NSSQLiteErrorDomain"

// Codes in NSCocoaErrorDomain.

public var NSManagedObjectValidationError: Int { 1550 }
public var NSManagedObjectConstraintValidationError: Int { 1551 }
public var NSValidationMultipleErrorsError: Int { 1560 }
public var NSValidationMissingMandatoryPropertyError: Int { 1570 }
public var NSValidationRelationshipLacksMinimumCountError: Int { 1580 }
public var NSValidationRelationshipExceedsMaximumCountError: Int { 1590 }
public var NSValidationRelationshipDeniedDeleteError: Int { 1600 }
public var NSValidationNumberTooLargeError: Int { 1610 }
public var NSValidationNumberTooSmallError: Int { 1620 }
public var NSValidationDateTooLateError: Int { 1630 }
public var NSValidationDateTooSoonError: Int { 1640 }
public var NSValidationInvalidDateError: Int { 1650 }
public var NSValidationStringTooLongError: Int { 1660 }
public var NSValidationStringTooShortError: Int { 1670 }
public var NSValidationStringPatternMatchingError: Int { 1680 }
public var NSValidationInvalidURIError: Int { 1690 }
public var NSManagedObjectContextLockingError: Int { 132000 }
public var NSPersistentStoreCoordinatorLockingError: Int { 132010 }
public var NSManagedObjectReferentialIntegrityError: Int { 133000 }
public var NSManagedObjectExternalRelationshipError: Int { 133010 }
public var NSManagedObjectMergeError: Int { 133020 }
public var NSManagedObjectConstraintMergeError: Int { 133021 }
public var NSPersistentStoreInvalidTypeError: Int { 134000 }
public var NSPersistentStoreTypeMismatchError: Int { 134010 }
public var NSPersistentStoreIncompatibleSchemaError: Int { 134020 }
public var NSPersistentStoreSaveError: Int { 134030 }
public var NSPersistentStoreIncompleteSaveError: Int { 134040 }
public var NSPersistentStoreSaveConflictsError: Int { 134050 }
public var NSCoreDataError: Int { 134060 }
public var NSPersistentStoreOperationError: Int { 134070 }
public var NSPersistentStoreOpenError: Int { 134080 }
public var NSPersistentStoreTimeoutError: Int { 134090 }
public var NSPersistentStoreUnsupportedRequestTypeError: Int { 134091 }
public var NSPersistentStoreIncompatibleVersionHashError: Int { 134100 }
public var NSMigrationError: Int { 134110 }
public var NSMigrationConstraintViolationError: Int { 134111 }
public var NSMigrationCancelledError: Int { 134120 }
public var NSMigrationMissingSourceModelError: Int { 134130 }
public var NSMigrationMissingMappingModelError: Int { 134140 }
public var NSMigrationManagerSourceStoreError: Int { 134150 }
public var NSMigrationManagerDestinationStoreError: Int { 134160 }
public var NSEntityMigrationPolicyError: Int { 134170 }
public var NSSQLiteError: Int { 134180 }
public var NSInferredMappingModelError: Int { 134190 }
public var NSExternalRecordImportError: Int { 134200 }
public var NSPersistentHistoryTokenExpiredError: Int { 134301 }
public var NSManagedObjectModelReferenceNotFoundError: Int { 134504 }
public var NSStagedMigrationFrameworkVersionMismatchError: Int { 134505 }
public var NSStagedMigrationBackwardMigrationError: Int { 134506 }
