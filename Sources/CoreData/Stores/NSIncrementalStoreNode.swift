// One row of an incremental store.

import CoreDataFoundation
import Foundation

/// The values of one object as an incremental store has them, with their version.
open class NSIncrementalStoreNode: NSObject {
    public final let objectID: NSManagedObjectID
    private var values: [String: Any]
    /// Rises with each change; two versions that differ are a conflict.
    public final private(set) var version: UInt64

    /// - Parameters:
    ///   - objectID: whose row this is.
    ///   - values: attributes by name; a to-one by name as an `NSManagedObjectID` or `NSNull`, or left out.
    ///   - version: rises with each change.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { _, new in new }
        self.version = version
    }

    /// The value of an attribute or to-one; nil when the node has none.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }

    /// The same by name: a subclass is asked for what the entity has a description of.
    final func value(named name: String, _ properties: [String: NSPropertyDescription]) -> Any? {
        guard let property = properties[name] else { return values[name] }
        return value(for: property)
    }
}
