// Which keys a Swift key path stands for: those that its class lists, or those that it asks for when it is read.

import CoreDataFoundation
import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation
import Synchronization

/// The keys of key paths, found when they are first asked for.
enum KeyPathNames {
    /// Its hash is made before the lock is taken: that of a key path takes longer than all else under it.
    private struct Question: Hashable, @unchecked Sendable {
        private let keyPath: AnyKeyPath
        private let type: ObjectIdentifier
        private let hash: Int

        init(_ keyPath: AnyKeyPath, _ type: NSManagedObject.Type) {
            (self.keyPath, self.type, hash) = (keyPath, ObjectIdentifier(type), keyPath.hashValue)
        }

        static func == (left: Question, right: Question) -> Bool {
            left.type == right.type && left.keyPath == right.keyPath
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    /// A program has few key paths, unless it makes them with subscripts: when there are too many all are let go.
    static let limit = 1024
    private static let known = Mutex<[Question: [String]]>([:])

    /// Of a key path of a request: its root may also be a class without an entity, or a protocol, that the fetched class fits.
    static func keys(of keyPath: AnyKeyPath, in info: EntityInfo, _ runtime: ModelRuntime) throws(PredicateError)
        -> [String]
    {
        if let root = type(of: keyPath).rootType as? NSManagedObject.Type, let own = runtime.info(for: root) {
            return try keys(of: keyPath, on: root, own, runtime)
        }
        return try keys(of: keyPath, on: info.classBinding.type, info, runtime)
    }

    static func keys(
        of keyPath: AnyKeyPath, on type: NSManagedObject.Type, _ info: EntityInfo, _ runtime: ModelRuntime
    ) throws(PredicateError) -> [String] {
        let question = Question(keyPath, type)
        if let known = known.withLock({ $0[question] }) { return known }
        // Outside the lock, since getters are the program's code.
        let found: [String]
        if let name = AdditionalKeys.name(of: keyPath, on: type) {
            found = [name]
        } else {
            found = try KeyPathReading.keys(of: keyPath, on: type, info, runtime)
        }
        known.withLock { known in
            if known.count >= limit { known = [:] }
            known[question] = found
        }
        return found
    }
}

extension KeyPathNames {
    /// What a getter makes of nil under its one key; nil for a key path of several, where any of them may be the nil one.
    ///
    /// Ends the process where the getter does.
    static func valueOfNil<Root: NSManagedObject, T>(
        _ keyPath: KeyPath<Root, T>, on type: Root.Type, _ context: NSManagedObjectContext
    ) -> T? {
        guard let info = context.runtime.info(for: type), let keys = try? keys(of: keyPath, in: info, context.runtime),
            keys.count == 1
        else { return nil }
        return KeyPathReading.valueOfNil(keyPath, on: type, info)
    }
}

extension NSManagedObject: KeyPathNaming {
    package static func keys(of keyPath: AnyKeyPath) throws(PredicateError) -> [String] {
        guard let (model, runtime, info) = ModelRuntime.inUse(for: self) else {
            if let name = AdditionalKeys.name(of: keyPath, on: self) { return [name] }
            throw PredicateError(
                "A key path of \(self) has no name yet: no model in use has an entity of that class. Load the model into a "
                    + "coordinator first, or give the key as a text.")
        }
        defer { withExtendedLifetime(model) {} }
        return try KeyPathNames.keys(of: keyPath, on: self, info, runtime)
    }

    package static func entityNames() throws(PredicateError) -> [String] {
        guard let (model, runtime, info) = ModelRuntime.inUse(for: self) else {
            throw PredicateError(
                "A predicate asks for objects of \(self), and no model in use has an entity of that class. Load the model into a "
                    + "coordinator first.")
        }
        defer { withExtendedLifetime(model) {} }
        return (info.entity.index.value...info.entity.last.value).map { runtime.infos[$0].entity.name }
    }
}
