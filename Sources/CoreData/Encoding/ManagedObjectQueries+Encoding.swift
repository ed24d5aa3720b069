// Managed objects for encoders: chosen properties, without dictionaries.

import CoreDataValues
import Foundation

extension ManagedObjectQueries {
    /// The values of some properties, for any encoder: `try JSONEncoder().encode(casualty.encoded(\.name, \.station?.name))`.
    ///
    /// Values are copied now, so that the answer may leave the context's block; it is encoded whenever and wherever that is wanted. What
    /// is nil is left out. Relationships on the way that are not read are, one statement each.
    /// - Throws: `EncodingError` with the path for a key path that names no value, an object that was deleted, or a value that is not
    ///   Encodable; what reading throws.
    public func encoded(_ properties: PartialKeyPath<Self>...) throws -> EncodedObject {
        try EncodedObject(rows: rows([self], paths: properties), place: 0)
    }

    /// The values that a form names.
    public func encoded(_ form: EncodingForm<Self>) throws -> EncodedObject {
        try EncodedObject(rows: rows([self], form.plan), place: 0)
    }
}

extension Sequence where Element: NSManagedObject {
    /// The values of some properties of each object, in one pass: faults and relationships are read for all at once, one statement each.
    ///
    /// - Throws: as for one object, for the first that fails.
    public func encoded(_ properties: PartialKeyPath<Element>...) throws -> EncodedObjects {
        try EncodedObjects(rows: rows(Array(self), paths: properties))
    }

    /// The values that a form names.
    public func encoded(_ form: EncodingForm<Element>) throws -> EncodedObjects {
        try EncodedObjects(rows: rows(Array(self), form.plan))
    }
}

private func rows<T: NSManagedObject>(_ objects: [T], paths: [PartialKeyPath<T>]) throws -> EncodedRows {
    try rows(objects) { info, runtime in
        try EncodingForms.plans(of: paths).plan(for: info) {
            try EncodingForm<T>(paths: paths).plan(for: info, runtime)
        }
    }
}

/// Reads what is missing for all objects, then their values.
private func rows(
    _ objects: [NSManagedObject], _ plan: (EntityInfo, ModelRuntime) throws -> EncodingPlan
) throws -> EncodedRows {
    guard let first = objects.first else { return EncodedRows(.empty, [], count: 0) }
    first.checkQueue()
    let context = first.managedObjectContext
    let runtime = try context?.runtime ?? first.entity.managedObjectModel.runtime()
    let plan = try plan(commonInfo(of: objects, runtime), runtime)
    guard let context else { return try EncodingReader.rows(objects, plan) }
    try context.fulfill(objects)
    if !plan.prefetch.isEmpty { try Prefetch(context: context, isEverything: false).run(plan.prefetch, objects) }
    let rows = try EncodingReader.rows(objects, plan)
    try context.faulting.throwReadError()
    return rows
}

/// The entity that all objects are of, or one above all of theirs.
private func commonInfo(of objects: [NSManagedObject], _ runtime: ModelRuntime) throws -> EntityInfo {
    var entity = objects[0]._state.info.entity
    for object in objects {
        while !object._state.info.entity.isKind(of: entity) {
            guard let parent = entity.parent else {
                throw EncodingError.invalidValue(
                    object,
                    .init(
                        codingPath: [],
                        debugDescription:
                            "Objects of \(entity.name) and of \(object.entity.name ?? "") have no entity in common; encode them apart."
                    ))
            }
            entity = runtime.schema[parent]
        }
    }
    return runtime.infos[entity.index.value]
}
