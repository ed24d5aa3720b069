// Packages of model versions, and stores that are opened with one after the other.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

/// A package of models as Xcode leaves it, and a store beside it.
struct Versions: @unchecked Sendable {
    let folder = Folder()
    var url: URL { folder.file("Shop.xcdatamodeld") }
    var store: URL { folder.file("shop.sqlite") }

    /// The entities of each version, as a model file has them.
    init(_ versions: [String]) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (place, entities) in versions.enumerated() {
            let folder = url.appendingPathComponent("Shop \(place + 1).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("<model>\n\(entities)\n</model>".utf8).write(to: folder.appendingPathComponent("contents"))
        }
        try Data(
            """
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>Shop \(versions.count).xcdatamodel</string></dict></plist>
            """.utf8
        ).write(to: url.appendingPathComponent(".xccurrentversion"))
    }

    init(_ versions: String...) throws { try self.init(versions) }

    func model(_ version: Int) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(loading: url.appendingPathComponent("Shop \(version).xcdatamodel"))
    }

    static var automatic: [String: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    /// The store opened with a version, for the time of a block.
    func open<Result>(
        _ version: Int, _ type: String = NSSQLiteStoreType, _ options: [String: Any] = Versions.automatic,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = try NSPersistentStoreCoordinator(model(version), type, at: store, options: options)
        let context = coordinator.context()
        defer { try? coordinator.close() }
        return try body(context)
    }

    /// What bringing the store to the last version does.
    func plan(_ type: String = NSSQLiteStoreType) throws -> StoreMigrationPlan {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).migrationPlan(
            at: store, toVersionsOf: url, type: NSPersistentStore.StoreType(rawValue: type))
    }

    /// Runs a statement for its effect.
    func write(_ statement: String) throws { try SQLiteFile(store).run(statement) }

    /// What a statement answers, a line a row, with a bar between columns.
    func sql(_ statement: String) throws -> [String] { try SQLiteFile(store, for: .reading).rows(statement, null: "") }
}

extension Versions {
    static func entity(_ name: String, _ more: String = "", _ properties: String...) -> String {
        "<entity name=\"\(name)\" \(more)>\n\(properties.joined(separator: "\n"))\n</entity>"
    }

    /// Optional unless more is said.
    static func attribute(_ name: String, _ type: String = "String", _ more: String = "optional=\"YES\"") -> String {
        "<attribute name=\"\(name)\" attributeType=\"\(type)\" \(more)/>"
    }

    static func toOne(_ name: String, _ entity: String, _ inverse: String? = nil, _ more: String = "optional=\"YES\"")
        -> String
    {
        relationship(name, entity, inverse, "maxCount=\"1\" \(more)")
    }

    static func toMany(_ name: String, _ entity: String, _ inverse: String? = nil, _ more: String = "") -> String {
        relationship(name, entity, inverse, "optional=\"YES\" toMany=\"YES\" \(more)")
    }

    private static func relationship(_ name: String, _ entity: String, _ inverse: String?, _ more: String) -> String {
        let back = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(entity)\"" } ?? ""
        return
            "<relationship name=\"\(name)\" destinationEntity=\"\(entity)\"\(back) deletionRule=\"Nullify\" \(more)/>"
    }
}

extension NSManagedObjectContext {
    /// All objects of an entity in the order of their row numbers.
    func all(_ entity: String) throws -> [NSManagedObject] {
        try fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).sorted {
            $0.objectID.key.number < $1.objectID.key.number
        }
    }

    func values(_ entity: String, _ key: String) throws -> [String] {
        try all(entity).map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }
    }
}
