// Computed properties that a class declares for key-value coding.

import CoreDataFoundation
import CoreDataValues
import Foundation
import Synchronization

/// The additional keys of each class, asked for once.
enum AdditionalKeys {
    private struct KeyPaths: @unchecked Sendable { let byName: [String: AnyKeyPath] }
    private static let known = Mutex<[ObjectIdentifier: KeyPaths]>([:])

    static func of(_ type: NSManagedObject.Type) -> [String: AnyKeyPath] {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known.byName }
        // Outside the lock, since it is the program's code.
        let asked = KeyPaths(byName: type.additionalKeys)
        known.withLock { $0[ObjectIdentifier(type)] = asked }
        return asked.byName
    }

    /// The name under which a class lists a key path.
    static func name(of keyPath: AnyKeyPath, on type: NSManagedObject.Type) -> String? {
        of(type).filter { $0.value == keyPath }.keys.min()
    }
}

extension NSManagedObject {
    /// What the property gives, as key-value coding hands values out: numbers as `NSNumber`, an enumeration by its raw value.
    final func additionalValue(_ keyPath: AnyKeyPath) -> Any? {
        guard let found = self[keyPath: keyPath].flatMap({ KeyValue.unwrapped($0) }) else { return nil }
        let value = KeyValue.rawValue(found)
        return Value(any: value)?.object ?? value
    }
}
