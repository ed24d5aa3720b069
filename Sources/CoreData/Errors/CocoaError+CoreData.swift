// Errors of the lower layers as the errors that programs catch, and what they carry.

import CoreDataModelFile
import CoreDataSQLite
import CoreDataValues
import Foundation

/// The statement that failed, in the userInfo of an error of an SQL store.
public let NSSQLStatementErrorKey: String = "NSSQLStatement"
/// SQLite's own message, in the userInfo of an error of a SQLite store.
public let NSSQLiteMessageErrorKey: String = "NSSQLiteErrorMessage"
/// The name of the entity that an error is about.
public let NSEntityNameErrorKey: String = "NSEntityName"
/// The line of the model file that an error is about, counted from 1.
public let NSModelLineErrorKey: String = "NSModelLine"
/// The column of the model file that an error is about, counted from 1.
public let NSModelColumnErrorKey: String = "NSModelColumn"

extension CocoaError {
    /// What a store said, with its code, sentence, file, statement, and SQLite's code and message.
    package init(_ error: StoreError) {
        var info = CocoaError.saying(error.sentence)
        info[NSFilePathErrorKey] = error.path
        info[NSEntityNameErrorKey] = error.entity
        info[NSValidationKeyErrorKey] = error.property
        if let code = error.sqliteCode {
            info[NSSQLiteErrorDomain] = NSNumber(value: code)
            info[NSSQLiteMessageErrorKey] = error.engine?.message
        }
        info[NSSQLStatementErrorKey] = error.sql
        info.merge(CocoaError.naming(error.objects, error.code)) { $1 }
        self.init(CocoaError.Code(rawValue: error.code), userInfo: info)
    }

    /// Objects as an error carries them: one by its URI, several as errors of their own.
    private static func naming(_ objects: [FailedObject], _ code: Int) -> [String: Any] {
        func affected(_ object: FailedObject) -> [String: Any] {
            object.uri.flatMap { NSURL(string: $0) }.map { [NSAffectedObjectsErrorKey: [$0]] } ?? [:]
        }
        if objects.count == 1 { return affected(objects[0]) }
        guard !objects.isEmpty else { return [:] }
        let errors = objects.map { object in
            var info = affected(object)
            info[NSEntityNameErrorKey] = object.entity
            info[NSValidationKeyErrorKey] = object.property
            return CocoaError.coreData(object.code ?? code, object.sentence, info)
        }
        return [NSDetailedErrorsKey: errors]
    }

    /// A contradiction in a model: 134020, with the place of the declaration.
    package init(_ error: SchemaError) {
        var info = CocoaError.saying(error.description)
        info[NSEntityNameErrorKey] = error.entity
        info[NSValidationKeyErrorKey] = error.property
        info[NSFilePathErrorKey] = error.location?.path
        info[NSModelLineErrorKey] = error.location.map { NSNumber(value: $0.line) }
        info[NSModelColumnErrorKey] = error.location.map { NSNumber(value: $0.column) }
        self.init(.persistentStoreIncompatibleSchema, userInfo: info)
    }

    /// A model that cannot be read: 260 (`fileReadNoSuchFile`) where no file is, else 259
    /// (`fileReadCorruptFile`).
    package init(_ error: ModelFileError) {
        var info = CocoaError.saying(error.description)
        info[NSFilePathErrorKey] = error.path
        info[NSModelLineErrorKey] = error.line.map { NSNumber(value: $0) }
        info[NSModelColumnErrorKey] = error.column.map { NSNumber(value: $0) }
        let isThere = FileManager.default.fileExists(atPath: error.path)
        self.init(isThere ? .fileReadCorruptFile : .fileReadNoSuchFile, userInfo: info)
    }

    /// The code that programs see of an error; nil for one of another domain. Costs no words.
    static func cocoaCode(of error: any Error) -> Int? {
        (error as? StoreError)?.code ?? (presenting(error) as? CocoaError)?.code.rawValue
    }

    /// Any error of the layers below as the one that programs catch; foreign errors pass unchanged.
    package static func presenting(_ error: any Error) -> any Error {
        switch error {
        case let error as StoreError: CocoaError(error)
        case let error as SchemaError: CocoaError(error)
        case let error as ModelFileError: CocoaError(error)
        case let error as CoreDataValues.PredicateError: CocoaError.coreData(134060, error.sentence)
        default: error
        }
    }
}

extension CocoaError {
    /// The object that failed validation.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The name of the property that failed validation.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value did not satisfy.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that was refused.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores that the error concerns.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The objects that the error concerns.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
