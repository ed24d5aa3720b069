// Finds the classes generated from models by the lists in their code, so that none is searched for by name.

import CCoreDataRuntime
import CoreDataValues
import Foundation
import Synchronization

/// For generated code: a class generated from a model.
public struct _GeneratedClass: Sendable {
    let type: NSManagedObject.Type
    let name: String
    let keys: @Sendable () -> [String]

    /// - Parameters:
    ///   - name: The name as the model has it.
    ///   - keys: The slots that the accessors assume, in the form of `NSManagedObject._managedKeys`.
    public init(_ type: NSManagedObject.Type, named name: String, keys: @escaping @Sendable () -> [String]) {
        self.type = type
        self.name = name
        self.keys = keys
    }
}

/// For generated code: lists the classes of one model. Subclasses named `_CoreDataGenerated`, nested in a type of any
/// name, are found automatically in every loaded library and program.
open class _GeneratedClasses {
    open class var classes: [_GeneratedClass] { [] }
}

/// The classes that generated code lists.
enum GeneratedClasses {
    private struct State {
        var images = -1
        var byName: [String: [_GeneratedClass]] = [:]
        var byType: [ObjectIdentifier: _GeneratedClass] = [:]
    }
    private static let state = Mutex(State())

    /// Returns the class of a name that was generated for such an entity. A class generated for another version counts
    /// only if its module's resources have the model, since the name alone may be another model's.
    static func type(named name: String, for entity: Entity?) -> NSManagedObject.Type? {
        let named = known { $0.byName[name] ?? [] }
        guard let entity, !named.isEmpty else { return nil }
        let fitting = named.filter { AccessorKeys($0.keys()).describe(entity) }
        if fitting.count == 1 { return fitting[0].type }
        // The same model in several modules, or other versions: takes the module whose resources have this model.
        let path = entity.draft.location?.path ?? ""
        let near = (fitting.isEmpty ? named : fitting).filter { found in
            RecordedClass(found.type).map {
                path.contains("_\($0.module).resources/") || path.contains("_\($0.module).bundle/")
            } ?? false
        }
        return near.count == 1 ? near[0].type : nil
    }

    /// The slots of a class's accessors, or of its nearest superclass that was generated.
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
