// Fetched properties: fetched at the first read and kept until the object becomes a fault.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// What a fetched property found. It holds keys, not objects, so that it forms no cycle (I-4).
final class FetchedObjects {
    private enum Member {
        case saved(ObjectKey)
        case unsaved(Weak)
    }
    private struct Weak { weak var object: NSManagedObject? }
    private var members: [Member]

    init(_ objects: [NSManagedObject]) {
        members = objects.map { $0._state.has(.persistent) ? .saved($0._state.key) : .unsaved(Weak(object: $0)) }
    }

    /// The objects in the order of the fetch; nil if an unsaved one is gone.
    func objects(in context: NSManagedObjectContext) -> [NSManagedObject]? {
        var objects: [NSManagedObject] = []
        for (place, member) in members.enumerated() {
            switch member {
            case .saved(let key): objects.append(context.object(for: key))
            case .unsaved(let weak):
                guard let object = weak.object, !object._state.has(.detached) else { return nil }
                if object._state.has(.persistent) { members[place] = .saved(object._state.key) }
                objects.append(object)
            }
        }
        return objects
    }
}

extension NSManagedObject {
    /// The objects of a fetched property, given by its index in the entity. The first read fetches them.
    ///
    /// If the fetch fails there are none, and the context keeps the error (`pendingReadError`).
    final func fetchedObjects(at index: Int) -> [NSManagedObject] {
        guard let context = managedObjectContext else { return [] }
        if let known = fetchedState(index)?.objects(in: context) { return known }
        let former = context.faulting.readError
        context.faulting.readError = nil
        defer { if let former { context.faulting.readError = former } }
        do {
            let found = try context.fetch(fetchRequest(at: index))
            setFetchedState(FetchedObjects(found), at: index)
            return found
        } catch {
            let name = _state.info.entity.fetchedProperties[index].name
            context.faulting.readError = CocoaError.unread(objectID, key: name, cause: error)
            return []
        }
    }

    /// The property's request with this object for `$FETCH_SOURCE` and the property for `$FETCHED_PROPERTY`.
    private func fetchRequest(at index: Int) throws -> NSFetchRequest<NSManagedObject> {
        let property = _state.info.entity.fetchedProperties[index]
        let description = entity.propertiesByName[property.name] as? NSFetchedPropertyDescription
        guard let description, let template = try description.readRequest() else {
            throw CocoaError.coreData(134060, "\(entity.name ?? "").\(property.name) has no fetch request.")
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: property.request.entityName)
        request.copyProperties(of: template)
        request.resultType = .managedObjectResultType
        request.predicate = template.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": self, "FETCHED_PROPERTY": description,
        ])
        return request
    }

    private var fetchedBase: Int { _state.info.entity.toMany.count }

    private func fetchedState(_ index: Int) -> FetchedObjects? {
        guard let held = _state.pointee.toMany?[fetchedBase + index] else { return nil }
        return Unmanaged<FetchedObjects>.fromOpaque(held).takeUnretainedValue()
    }

    private func setFetchedState(_ found: FetchedObjects, at index: Int) {
        let state = _state
        if state.pointee.toMany == nil {
            let count = state.info.relationshipStateCount
            let memory = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: count)
            memory.initialize(repeating: nil, count: count)
            state.pointee.toMany = memory
        }
        let former = state.pointee.toMany?[fetchedBase + index]
        state.pointee.toMany?[fetchedBase + index] = UnsafeRawPointer(Unmanaged.passRetained(found).toOpaque())
        if let former { Unmanaged<FetchedObjects>.fromOpaque(former).release() }
    }
}
