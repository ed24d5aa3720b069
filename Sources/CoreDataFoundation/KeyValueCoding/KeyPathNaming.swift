// Names of Swift key paths, which Foundation on Linux does not know.

import CoreDataValues
import struct CoreDataValues.PredicateError
import Foundation

/// A class whose key paths have names. Managed object classes are such.
package protocol KeyPathNaming {
    /// - Throws: for a key path that key-value coding has no keys for, saying what it reads.
    static func keys(of keyPath: AnyKeyPath) throws(PredicateError) -> [String]
    /// The names of the entities whose objects are of the class.
    static func entityNames() throws(PredicateError) -> [String]
}

extension AnyKeyPath {
    /// The keys by which key-value coding and stores know what this reads.
    ///
    /// - Throws: for a path that begins at no managed object, and one that has no such keys.
    package func keys() throws(PredicateError) -> [String] {
        let root = type(of: self).rootType
        guard let naming = root as? any KeyPathNaming.Type else {
            throw PredicateError(
                "A key path that begins at \(root) has no name; only those of managed object classes have one. Give the key as a text."
            )
        }
        return try naming.keys(of: self)
    }

    /// The same as one text.
    package func dottedName() throws(PredicateError) -> String { try keys().joined(separator: ".") }
}

/// A constant that stands for the names of the entities of a class, which are looked for when they are needed.
final class EntitiesOfClass {
    let naming: any KeyPathNaming.Type
    init(_ naming: any KeyPathNaming.Type) { self.naming = naming }
}

/// A part of a path of which only the key paths are known, or a key that has no key path, such as `@count`.
enum KeyPathStep: Equatable {
    case path(AnyKeyPath)
    case key(String)
}

extension [KeyPathStep] {
    func keys() throws(PredicateError) -> [String] {
        var keys: [String] = []
        for step in self {
            switch step {
            case .path(let keyPath): keys += try keyPath.keys()
            case .key(let key): keys.append(key)
            }
        }
        return keys
    }
}
