// Values kept as objects in memory: those of transformable attributes, and of transient ones without a type.

import CoreDataFoundation
import CoreDataValues
import Foundation

/// A value kept as an object, in an overlay or beside a row.
final class LiveValue {
    /// nil until it was made from `data`.
    private var value: Any?
    /// The bytes that the value is made from. They stay as they are when the value changes.
    private let data: Data?
    /// The bytes that the running save writes.
    var packed: Data?

    init(_ value: Any) {
        self.value = value
        data = nil
    }

    init(data: Data) { self.data = data }

    /// An undecoded copy, since an entity's defaults are shared by all contexts.
    var fresh: LiveValue { data.map { LiveValue(data: $0) } ?? self }

    /// A box of its own with the same value, for another context: a box is confined to its context.
    var copied: LiveValue { value.map { LiveValue($0) } ?? data.map { LiveValue(data: $0) } ?? self }

    /// - Throws: when the transformer fails.
    func value(_ transformation: Transformation) throws -> Any? {
        if let value { return value }
        guard let data else { return nil }
        let made = try transformation.value(of: data)
        value = made
        return made
    }

    /// The bytes of the present value, which may have been mutated since it was set.
    ///
    /// - Throws: when the transformer fails.
    func bytes(_ transformation: Transformation) throws -> Data? {
        if let packed { return packed }
        return try value.map { try transformation.data(of: $0) } ?? data
    }
}
