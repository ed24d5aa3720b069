// Values that are kept as objects in memory: those of transformable attributes, and transient ones of any type.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// One such value, in an overlay or beside a row.
final class LiveValue {
    /// nil until it was made of `data`.
    private var value: Any?
    /// What the value is made of; it does not follow a value that changes.
    private let data: Data?
    /// The bytes that the running save writes.
    var packed: Data?

    init(_ value: Any) {
        self.value = value
        data = nil
    }

    init(data: Data) { self.data = data }

    /// The same before it was made: the defaults of an entity are shared by all contexts.
    var fresh: LiveValue { data.map { LiveValue(data: $0) } ?? self }

    /// The same value in a box of its own, for another context: boxes are confined as contexts are.
    var copied: LiveValue { value.map { LiveValue($0) } ?? data.map { LiveValue(data: $0) } ?? self }

    /// - Throws: when the transformer fails.
    func value(_ transformation: Transformation) throws -> Any? {
        if let value { return value }
        guard let data else { return nil }
        let made = try transformation.value(of: data)
        value = made
        return made
    }

    /// The bytes of the value as it is now: a mutable one may have changed since it was set.
    ///
    /// - Throws: when the transformer fails.
    func bytes(_ transformation: Transformation) throws -> Data? {
        if let packed { return packed }
        return try value.map { try transformation.data(of: $0) } ?? data
    }
}
