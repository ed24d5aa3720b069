// From an entity description to objects.

import CoreDataValues
import Foundation

extension NSEntityDescription {
    /// The entity of a context's model.
    public class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.runtime.schema.entity(named: name).map { context.runtime.infos[$0.index.value].description }
    }

    /// Makes an object of the entity's class and inserts it. An entity that the model lacks is a misuse.
    @discardableResult
    public class func insertNewObject(
        forEntityName name: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = context.runtime.schema.entity(named: name) else {
            misuse("The model of this context has no entity \(name).")
        }
        let object = context.runtime.infos[entity.index.value].makeObject()
        context.insert(object)
        return object
    }

    /// The entity's runtime facts, kept by the model; puts it into use.
    @inline(__always)
    final var unretainedInfo: UnsafeRawPointer { facts ?? UnsafeRawPointer(Unmanaged.passUnretained(info).toOpaque()) }

    /// The entity's runtime facts; puts the model into use.
    final var info: EntityInfo {
        if let runtimeInfo { return runtimeInfo }
        do {
            _ = try managedObjectModel.runtime()
        } catch { misuse("The model of \(name ?? "an entity") cannot be used: \(error)") }
        guard let runtimeInfo else { misuse("\(name ?? "An entity") is not part of its model.") }
        return runtimeInfo
    }
}

extension NSManagedObjectModel {
    /// The model in use: freezes it the first time.
    final func runtime() throws -> ModelRuntime {
        let schema = try freeze()
        return runtimeLock.withLock {
            if let runtimeCache { return runtimeCache }
            let made = ModelRuntime(schema: schema, model: self)
            for info in made.infos { info.description.runtimeInfo = info }
            runtimeCache = made
            return made
        }
    }
}
