// Every kind of store there is, and what some of them leave out.

import Foundation

import CoreData

/// A way to make an empty store of one type.
package struct StoreMaker: Sendable, CustomStringConvertible {
    package let type: String
    /// The class that answers as the store's rows.
    package let rowsClass: String
    package var description: String { type }

    /// Every store of the project; `StoreSpecificationTests.complete` fails when one is missing.
    ///
    /// The store specification tests the rows of each; predicates, fetch options, prefetching, validation, failed saves, merge policies,
    /// delete rules, derived and transient attributes are tested through contexts on each.
    package static let all = [
        StoreMaker(type: NSInMemoryStoreType, rowsClass: "MemoryStore"),
        StoreMaker(type: NSSQLiteStoreType, rowsClass: "SQLiteStore"),
        StoreMaker(type: NSBinaryStoreType, rowsClass: "AtomicRows"),
        StoreMaker(type: NSXMLStoreType, rowsClass: "AtomicRows"),
        StoreMaker(type: NSPropertyListStoreType, rowsClass: "AtomicRows"),
        StoreMaker(type: BoxStore.type, rowsClass: "AtomicRows"),
        StoreMaker(type: ShelfStore.type, rowsClass: "IncrementalRows"),
    ]

    /// The types of all stores.
    package static var types: [String] { all.map(\.type) }

    /// The types of the stores that take part in a case.
    package static func types(for name: SpecificationCase) -> [String] { all(for: name).map(\.type) }

    /// The stores that take part in a case.
    package static func all(for name: SpecificationCase) -> [StoreMaker] {
        all.filter { maker in !SpecificationCase.leftOut.contains { $0.type == maker.type && $0.name == name } }
    }

    /// Whether the model may ask the store for unique values.
    package var keepsConstraints: Bool {
        !SpecificationCase.leftOut.contains { $0.type == type && $0.name == .constraints }
    }

    /// Makes the types of the sample stores known.
    package static func registerSamples() {
        NSPersistentStoreCoordinator.registerStoreClass(BoxStore.self, forStoreType: BoxStore.type)
        NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    }

    package func open(
        _ model: NSManagedObjectModel, _ folder: Folder
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        StoreMaker.registerSamples()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("store"), options: nil)
        return (coordinator, store)
    }
}

/// Cases that not every store takes part in.
package enum SpecificationCase: String, CaseIterable {
    case constraints, reopening, writeFailures, uriTexts, derivation

    package struct LeftOut: Sendable {
        package let type: String
        package let name: SpecificationCase
        package let reason: String
    }

    package static let leftOut =
        [NSBinaryStoreType, NSXMLStoreType, ShelfStore.type].map {
            LeftOut(
                type: $0, name: .constraints,
                reason: "6.6: a store that cannot keep constraints refuses a model that has them")
        } + [
            LeftOut(type: NSInMemoryStoreType, name: .reopening, reason: "a store in memory ends when it is closed"),
            LeftOut(
                type: NSInMemoryStoreType, name: .writeFailures,
                reason: "a store in memory writes to no place that could refuse"),
            LeftOut(type: ShelfStore.type, name: .derivation, reason: "a program's own store computes what it likes"),
            LeftOut(
                type: ShelfStore.type, name: .uriTexts,
                reason: "programs give and take URLs, which spell URIs their way"),
        ]
}
