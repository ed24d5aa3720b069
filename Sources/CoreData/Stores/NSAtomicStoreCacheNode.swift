// One row of an atomic store, as the store's class sees it.

import CoreDataFoundation
import Foundation

/// The values of one object of an atomic store: attributes as values, a to-one as a node, a to-many as a set of nodes.
open class NSAtomicStoreCacheNode: NSObject {
    public final let objectID: NSManagedObjectID
    /// The values by property name; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    public required init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// A value; nil for `NSNull`.
    open func value(forKey key: String) -> Any? {
        let value = propertyCache?.object(forKey: key)
        return value is NSNull ? nil : value
    }

    open func setValue(_ value: Any?, forKey key: String) {
        let cache = propertyCache ?? NSMutableDictionary()
        propertyCache = cache
        if let value {
            cache.setObject(value, forKey: key as NSString)
        } else {
            cache.removeObject(forKey: key)
        }
    }
}
