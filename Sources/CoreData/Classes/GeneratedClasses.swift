// The classes that were made from models, as their code says: found once, so that none is searched for by its name.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// For generated code: a class made from a model.
public struct _GeneratedClass: Sendable {
    let type: NSManagedObject.Type
    let name: String
    let keys: @Sendable () -> [String]

    /// - Parameters:
    ///   - name: The name as the model has it.
    ///   - keys: The slots that the accessors take for granted, as `NSManagedObject._managedKeys` tells them.
    public init(_ type: NSManagedObject.Type, named name: String, keys: @escaping @Sendable () -> [String]) {
        self.type = type
        self.name = name
        self.keys = keys
    }
}

/// For generated code: names the classes of one model. A subclass that is called `_CoreDataGenerated`, inside a type of any name, is
/// found by itself, in every library and program that is loaded.
open class _GeneratedClasses {
    open class var classes: [_GeneratedClass] { [] }
}

/// What generated code says of classes.
enum GeneratedClasses {
    private struct State {
        var images = -1
        var byName: [String: [_GeneratedClass]] = [:]
        var byType: [ObjectIdentifier: _GeneratedClass] = [:]
    }
    private static let state = Mutex(State())

    /// The class that a model with an entity means by a name: the one that was made for such an entity. A class of
    /// another version of it is searched for as hand-written ones are, since the name alone may be another model's.
    static func type(named name: String, for entity: Entity?) -> NSManagedObject.Type? {
        let named = known { $0.byName[name] ?? [] }
        guard let entity, !named.isEmpty else { return nil }
        let fitting = named.filter { AccessorKeys($0.keys()).describe(entity) }
        if fitting.count == 1 { return fitting[0].type }
        // The same model in several modules, or another version of one: each module has it in its own resources.
        let path = entity.draft.location?.path ?? ""
        let near = (fitting.isEmpty ? named : fitting).filter { found in
            RecordedClass(found.type).map {
                path.contains("_\($0.module).resources/") || path.contains("_\($0.module).bundle/")
            } ?? false
        }
        return near.count == 1 ? near[0].type : nil
    }

    /// The slots of a class's accessors, inherited ones if it has none of its own.
    static func keys(of type: NSManagedObject.Type) -> [String]? {
        known { state in
            var next: AnyClass? = type
            while let place = next, place != NSManagedObject.self {
                if let found = state.byType[ObjectIdentifier(place)] { return found.keys() }
                next = _getSuperclass(place)
            }
            return nil
        }
    }

    private static func known<T>(_ body: (State) -> T) -> T {
        let images = coredata_images()
        return state.withLock { state in
            if state.images != images { read(&state, images) }
            return body(state)
        }
    }

    private static func read(_ state: inout State, _ images: Int) {
        state = State(images: images)
        for type in RecordedClass.allNamed("_CoreDataGenerated") {
            guard let type = type as? _GeneratedClasses.Type else { continue }
            for made in type.classes {
                state.byName[made.name, default: []].append(made)
                state.byType[ObjectIdentifier(made.type)] = made
            }
        }
    }
}
